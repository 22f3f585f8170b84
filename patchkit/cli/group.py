"""A group of commands, each imported when it is called or its help is asked for."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import click

from .exit_statuses import in_one_line
from .output import never_fail_to_encode


class LazyGroup(click.Group):
    """Commands that lie in modules beside this one.

    Args:
        commands_in: name of a command to the module that has it under that name, or to
            `module:name` where its name there is another.
        gone: name of a command that there was to what does the same now.
        sections: heading to the commands that the help lists below it; one heading by default.
    """

    def __init__(
        self,
        *args: Any,
        commands_in: Mapping[str, str],
        gone: Mapping[str, str] = MappingProxyType({}),
        sections: Mapping[str, tuple[str, ...]] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self.commands_in = commands_in
        self.gone = gone
        self.sections = sections or {"Commands": tuple(commands_in)}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands_in)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.commands_in:
            return None
        module, _, name = self.commands_in[cmd_name].partition(":")
        command = getattr(importlib.import_module(f".{module}", __package__), name or cmd_name)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in self.gone:
            ctx.fail(f"No such command {args[0]!r} any more. {self.gone[args[0]]}")
        near = difflib.get_close_matches(args[0], self.commands_in, n=1)
        if near and args[0] not in self.commands_in:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {near[0]!r}?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, self.commands_in))
        room = formatter.width - widest - 6
        for heading, names in self.sections.items():
            with formatter.section(heading):
                found = [(name.ljust(widest), self.get_command(ctx, name)) for name in names]
                formatter.write_dl(
                    [(name, one.get_short_help_str(room)) for name, one in found if one]
                )

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        with in_one_line():
            return super().make_context(*args, **options)

    def invoke(self, ctx: click.Context) -> Any:
        with in_one_line():
            return super().invoke(ctx)

    def main(self, *args: Any, **options: Any) -> Any:
        never_fail_to_encode()
        return super().main(*args, **options)
