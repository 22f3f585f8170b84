"""Scripts and folders of them as arguments of commands."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click


class ScriptPath(click.Path):
    """A path; an empty text, as from a variable of the shell that is not set, is none."""

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
