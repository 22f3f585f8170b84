"""A made-up library with a bug, and patches of it."""

from __future__ import annotations

from typing import Any

from patchkit.patch import Patch, Rewrite
from patchkit.rewrite import Pattern, Rule, replace

BUG = Rule(Pattern("bug()"), lambda node: [replace(node, "'fixed'")], names=("bug",))
SOURCE = """\
class Trainer:
    def __init__(self):
        self.before = 1
        self.value = bug()
        self.after = 2

    def step(self, size=1):
        return size


def bug():
    return "bug"
"""
TARGET = "madeup.trainer:Trainer.__init__"
_FILE = """\
from patchkit.patch import Patch, Rewrite
from patchkit.rewrite import Pattern, Rule, replace

PATCH = Patch(
    id="{id}",
    title="it is fixed",
    affects={{"madeup": "{affects}"}},
    changes=(Rewrite("{target}", Rule(
        Pattern("{pattern}"), lambda node: [replace(node, {fixed!r})]
    )),),
    {more}
)

{reproduce}
"""


def patch(name: str = "madeup-bug", *changes: Any, affects: str = ">=1", **options: Any) -> Patch:
    """Return a patch of the library above."""
    return Patch(
        **{
            "id": name,
            "title": "it is fixed",
            "affects": {"madeup": affects},
            "changes": changes or (Rewrite(TARGET, BUG),),
            "upstream": ("https://example.org/1",),
            **options,
        }
    )


def patch_file(
    name: str,
    *,
    target: str = "madeup.trainer:f",
    pattern: str = "bug()",
    fixed: str = "'fixed'",
    affects: str = ">=1",
    more: str = "",
    reproduce: str = "",
) -> str:
    """Return the text of a file that defines a patch.

    Args:
        name: its id.
        target: what it fixes.
        pattern: the code that it replaces.
        fixed: what stands there then.
        affects: releases of the made-up library.
        more: further arguments of `Patch`, as source.
        reproduce: further lines of the file.
    """
    return _FILE.format(
        id=name,
        target=target,
        pattern=pattern,
        fixed=fixed,
        affects=affects,
        more=more,
        reproduce=reproduce,
    )
