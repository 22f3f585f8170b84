"""A group of commands, each imported when it is called or its help is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

from ..errors import PatchError


class LazyGroup(click.Group):
    """Commands that lie in modules beside this one.

    Our own errors become one line and exit status 2, without a traceback.

    Args:
        commands_in: name of a command to the module that has it under that name.
    """

    def __init__(self, *args: Any, commands_in: Mapping[str, str], **options: Any) -> None:
        super().__init__(*args, **options)
        self.commands_in = commands_in

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands_in)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = self.commands_in.get(cmd_name)
        if module is None:
            return None
        command = getattr(importlib.import_module(f".{module}", __package__), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except PatchError as error:
            raise click.UsageError(str(error)) from error
