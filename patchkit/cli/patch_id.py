"""Patch ids and globs as arguments of commands, with shell completion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class PatchId(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.3 on
    """An id or a glob; the command checks whether such a patch exists."""

    name = "patch"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        from ..engine.session import SESSION

        present = ctx.params.get(param.name or "") or ()
        return [
            CompletionItem(entry.patch.id, help=entry.patch.title)
            for entry in SESSION.catalogue
            if entry.patch.id.startswith(incomplete) and entry.patch.id not in present
        ]
