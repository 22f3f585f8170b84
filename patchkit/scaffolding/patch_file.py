"""The text of the file that defines a new patch."""

from __future__ import annotations

from ..rewrite import Pattern
from . import code
from .drafting import Draft, Site

REWRITE = '''\
"""Say in a line what a user sees.

When it comes, and why: what the library does, and what it should do.
{where}

Mend: what is done instead.
"""

import ast

from patchkit.patch import Patch, Rewrite
from patchkit.rewrite import Edit, Pattern, Rule, replace

SITE = Pattern({pattern})


def mended(site: ast.AST) -> list[Edit]:
    """What stands in the place of the site, where SITE must match nothing any more."""
{holes}    raise NotImplementedError("say in mended() what is to stand there, and delete this line")
    return [replace(site, {text})]


PATCH = Patch(
    id={id},
    title="Say in a line what is so once the patch is applied",
    affects={affects},
    changes=(
        Rewrite(
            {target},
            Rule(SITE, mended, names={names}),{sites}
        ),
    ),
    upstream=(),
    symptom="a regular expression for what reproduce() raises",
)


{reproduce}'''

WRAP = '''\
"""Say in a line what a user sees.

When it comes, and why: what the library does, and what it should do.
{where}

Mend: what is done instead.
"""

from collections.abc import Callable
from typing import Any

from patchkit.patch import Patch, Wrap


def around(
    wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Called in the place of `wrapped`, which is bound to `instance` already."""
    return wrapped(*args, **kwargs)


raise NotImplementedError("say in around() what is to be done, and delete this line")

PATCH = Patch(
    id={id},
    title="Say in a line what is so once the patch is applied",
    affects={affects},
    changes=(
        Wrap(
            {target},
            around,
            parameters={parameters},
        ),
    ),
    upstream=(),
    symptom="a regular expression for what reproduce() raises",
)


{reproduce}'''

REPRODUCE = '''\
def reproduce() -> None:
    """Raise what `symptom` finds; return where the patch is applied."""
    raise NotImplementedError("write reproduce(): the shortest code that shows the bug")
'''


def patch_file(draft: Draft) -> str:
    """The text of the file."""
    given = {
        "id": code.string(draft.id),
        "affects": f"{{{code.string(draft.library)}: {code.string('>=' + draft.since)}}}",
        "target": code.string(str(draft.target), 12),
        "reproduce": REPRODUCE,
        "where": draft.where,
    }
    if draft.site is None:
        return WRAP.format(parameters=code.strings(draft.parameters), **given)
    return REWRITE.format(**_of_rewrite(draft.site), **given)


def _of_rewrite(site: Site) -> dict[str, str]:
    holes = Pattern(site.pattern).holes(site.node)
    return {
        "pattern": code.string(site.pattern, 15),
        "names": code.strings(site.names),
        "sites": "" if site.sites == 1 else f"\n            sites={site.sites},",
        "holes": "    code = SITE.holes(site)\n" if holes else "",
        "text": code.filled_in(site.pattern, holes, "code"),
    }
