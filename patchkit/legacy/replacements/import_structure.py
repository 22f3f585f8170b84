"""Which names each module of Transformers has, also by the modules of before 4.52."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class ImportStructure(dict[str, Any]):
    """Today's modules and their names; that of a folder has the names of all modules in it.

    Attributes:
        told: is called when a folder is asked for.
    """

    told: Callable[[], None] | None = None

    def __missing__(self, module: str) -> list[str]:
        names = [
            name
            for inner, names in self.items()
            if inner.startswith(f"{module}.")
            for name in names
        ]
        if not names:
            raise KeyError(module)
        if self.told is not None:
            self.told()
        return names


def __getattr__(name: str) -> ImportStructure:
    if name != "import_structure":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import transformers

    return ImportStructure(transformers._import_structure)
