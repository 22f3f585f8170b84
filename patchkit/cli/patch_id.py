"""Patch ids and globs as arguments of commands, with shell completion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class PatchId(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.3 on
    """An id or a glob; whether there is such a patch is for the command to find out."""

    name = "patch"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        from ..engine.session import SESSION

        given = ctx.params.get(param.name or "") or ()
        return [
            CompletionItem(one.patch.id, help=one.patch.title)
            for one in SESSION.catalogue
            if one.patch.id.startswith(incomplete) and one.patch.id not in given
        ]
