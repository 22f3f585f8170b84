"""Patch ids, globs and libraries as arguments of commands, with shell completion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Collection

    from click.shell_completion import CompletionItem

    from ..catalogue.entries import Catalogue


class PatchId(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.3 on
    """An id, a glob or a library; the command checks whether such a patch exists."""

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


def chosen_ids(catalogue: Catalogue, names: Collection[str]) -> set[str] | None:
    """Return the ids of the patches that a command names; None if it names none.

    Args:
        catalogue: all patches.
        names: ids, globs, and libraries, each for all of its patches.

    Raises:
        UnknownPatchError: one names no patch.
    """
    if not names:
        return None
    of_libraries = {entry.patch.id for entry in catalogue if entry.patch.library in names}
    libraries = {entry.patch.library for entry in catalogue}
    others = [name for name in names if name not in libraries]
    return of_libraries | catalogue.matching_ids(others, "IDS")
