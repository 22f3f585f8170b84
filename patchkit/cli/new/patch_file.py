"""Write the text of the file that defines a new patch."""

from __future__ import annotations

from ...rewrite import Pattern
from . import code
from .choosing import Site
from .drafting import Draft

REWRITE = '''\
"""Say in one line what a user sees.

When it comes, and why: what the library does, and what it should do.
{where}

Fix: what is done instead.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, replace

SITE = Pattern({pattern}{literal})


def fixed(site: ast.AST) -> list[Edit]:
    """Return the edits of the site.

    SITE must match nothing in the result, or the patch drifts: neither f(SITE) nor SITE.float()
    will do. Let SITE be more of the statement there, or change what it matches.
    """
{holes}    raise NotImplementedError("write the replacement in fixed(), and delete this line")
    return [replace(site, {text})]


PATCH = Patch(
    id={id},
    title="Say in one line what holds once the patch is applied",
    affects={affects},
    changes=(
        Rewrite(
            {target},
            Rule(SITE, fixed, names={names}),{sites}
        ),
    ),
    upstream=(),
    symptom="a regular expression for the error that reproduce() raises",
)


{reproduce}'''

WRAP = '''\
"""Say in one line what a user sees.

When it comes, and why: what the library does, and what it should do.
{where}

Fix: what is done instead.
"""

from collections.abc import Callable
from typing import Any

from patchkit.authoring import Patch, Wrap


def around(
    wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call `wrapped`, which is bound to `instance` already."""
    return wrapped(*args, **kwargs)


raise NotImplementedError("write around(), and delete this line")

PATCH = Patch(
    id={id},
    title="Say in one line what holds once the patch is applied",
    affects={affects},
    changes=(
        Wrap(
            {target},
            around,
            parameters={parameters},
        ),
    ),
    upstream=(),
    symptom="a regular expression for the error that reproduce() raises",
)


{reproduce}'''

REPRODUCE = '''\
def reproduce() -> None:
    """Raise the error that `symptom` matches; return if the patch is applied."""
    raise NotImplementedError("write reproduce(): the shortest code that shows the bug")
'''


def patch_file(draft: Draft) -> str:
    """Return the text of the file."""
    values = {
        "id": code.string(draft.id),
        "affects": f"{{{code.string(draft.library)}: {code.string('>=' + draft.since)}}}",
        "target": code.string(str(draft.target), 12),
        "reproduce": REPRODUCE,
        "where": draft.where,
    }
    if draft.site is None:
        return WRAP.format(parameters=code.strings(draft.parameters), **values)
    return REWRITE.format(**_rewrite_values(draft.site), **values)


def _rewrite_values(site: Site) -> dict[str, str]:
    holes = Pattern(site.pattern, literal=site.literal).holes(site.node)
    return {
        "pattern": code.string(site.pattern, 15),
        "literal": f", literal={code.strings(site.literal)}" if site.literal else "",
        "names": code.strings(site.names),
        "sites": "" if site.sites == 1 else f"\n            sites={site.sites},",
        "holes": "    code = SITE.holes(site)\n" if holes else "",
        "text": code.template(site.pattern, holes, "code"),
    }
