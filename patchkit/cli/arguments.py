"""Arguments and options that several commands share."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection

    from click.shell_completion import CompletionItem

    from ..catalogue.entries import Catalogue

_Command = TypeVar("_Command", bound=Callable[..., Any])


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
    """Return the ids that ids, globs and names of libraries select; None if there are no names.

    Raises:
        UnknownPatchError: a name matches no patch.
    """
    if not names:
        return None
    of_libraries = {entry.patch.id for entry in catalogue if entry.patch.library in names}
    libraries = {entry.patch.library for entry in catalogue}
    others = [name for name in names if name not in libraries]
    return of_libraries | catalogue.matching_ids(others, "IDS")


def patches_option(command: _Command) -> _Command:
    """Add `--patches FOLDER`, which sets `PATCHKIT_PATCHES` and is no argument of the command."""
    return click.option(
        "--patches",
        metavar="FOLDER",
        type=click.Path(),
        multiple=True,
        is_eager=True,
        expose_value=False,
        callback=_set_variable,
        help="Also load patches from this folder or .py file; may be repeated. "
        "PATCHKIT_PATCHES does the same.",
    )(command)


def _set_variable(
    context: click.Context, parameter: click.Parameter, paths: tuple[str, ...]
) -> None:
    from ..catalogue.folders import VARIABLE, resolve_paths, variable_for_children

    if paths and not context.resilient_parsing:
        os.environ[VARIABLE] = variable_for_children(resolve_paths(paths))


def form_options(*forms: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add `--format` (the default first, `json` among them) and `--json`; both set `form`."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def with_form(*args: Any, form: str | None, as_json: bool, **options: Any) -> Any:
            if as_json and form not in (None, "json"):
                raise click.UsageError(f"--json and --format {form} contradict each other")
            chosen = "json" if as_json else form or forms[0]
            return command(*args, form=chosen, **options)

        add_form = click.option(
            "--format",
            "form",
            type=click.Choice(forms),
            help=f"What is printed.  [default: {forms[0]}]",
        )
        add_json = click.option(
            "--json", "as_json", is_flag=True, help="The same as --format json."
        )
        return add_form(add_json(with_form))

    return decorate


class ScriptPath(click.Path):
    """A script or a folder; an empty text, as from an unset shell variable, is refused."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        if not os.fspath(value):
            self.fail("the name is empty; write `.` for this folder", param, ctx)
        return super().convert(value, param, ctx)


def check_writable(path: Path, option: str) -> None:
    """Refuse an output file that cannot be written, before any work is done.

    Raises:
        UsageError: it is a folder, its folder is missing, or either is not writable.
    """
    if path.is_dir():
        raise UsageError(f"{option} {path} is a folder; name a file in it")
    if not path.parent.is_dir():
        raise UsageError(f"{option} {path}: there is no folder {path.parent}; make it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"{option} {path}: it cannot be written to")
