"""What the wheel holds beside the package `patchkit`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MATRIX = "compat_matrix.yaml"


class MatrixHook(BuildHookInterface[Any]):
    """Puts the compatibility matrix into the wheel, where there is one.

    It is measured with a built wheel: without it there must be one, too.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        matrix = Path(self.root, MATRIX)
        if version == "standard" and matrix.exists():
            build_data["force_include"][str(matrix)] = f"patchkit/{MATRIX}"
