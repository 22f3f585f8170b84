"""A group of commands, each imported when it is called or its help is shown."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Mapping
from typing import Any

import click

from .exit_statuses import short_errors
from .output import replace_unencodable


class LazyGroup(click.Group):
    """Commands in the modules of a package.

    Args:
        modules: command name to the module that has it under that name, or to `module:name`.
        sections: heading to the commands that the help lists below it; one heading by default.
        package: the package that has the modules; that of this module by default.
    """

    def __init__(
        self,
        *args: Any,
        modules: Mapping[str, str],
        sections: Mapping[str, tuple[str, ...]] | None = None,
        package: str = __package__,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self.modules = modules
        self.package = package
        self.sections = sections or {"Commands": tuple(modules)}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.modules:
            return None
        module, _, name = self.modules[cmd_name].partition(":")
        command = getattr(importlib.import_module(f".{module}", self.package), name or cmd_name)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        near = difflib.get_close_matches(args[0], self.modules, n=1)
        if near and args[0] not in self.modules:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {near[0]!r}?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, self.modules))
        room = formatter.width - widest - 6
        for heading, names in self.sections.items():
            with formatter.section(heading):
                rows = [(name.ljust(widest), self.get_command(ctx, name)) for name in names]
                formatter.write_dl(
                    [(name, command.get_short_help_str(room)) for name, command in rows if command]
                )

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        with short_errors():
            return super().make_context(*args, **options)

    def invoke(self, ctx: click.Context) -> Any:
        with short_errors():
            return super().invoke(ctx)

    def main(self, *args: Any, **options: Any) -> Any:
        replace_unencodable()
        return super().main(*args, **options)
