"""Installed patch definitions: those shipped with patchkit, and those of other distributions."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import NamedTuple

from ..errors import PatchDefinitionError

ENTRY_POINT_GROUP = "patchkit.patches"
_SHIPPED = "patchkit.patches"


class Definition(NamedTuple):
    """A file that should define a patch, and how to import it; installed ones name no file."""

    name: str
    fetch: Callable[[], ModuleType]
    file: str = ""

    @property
    def is_shipped(self) -> bool:
        """Tell whether it comes with patchkit."""
        return self.name.startswith(f"{_SHIPPED}.")

    def prefetch(self) -> Definition:
        """Import it now; the result's `fetch` gives the module, or raises the import's error."""
        try:
            module = self.fetch()
        except (Exception, SystemExit) as error:
            problem = error

            def fail() -> ModuleType:
                raise problem

            return self._replace(fetch=fail)
        return self._replace(fetch=lambda: module)


def shipped_definitions() -> Iterator[Definition]:
    """Yield the files of the catalogue that comes with patchkit."""
    package = shipped_package()
    for module in pkgutil.walk_packages(package.__path__, f"{_SHIPPED}."):
        if not module.ispkg and not module.name.rpartition(".")[2].startswith("_"):
            yield Definition(module.name, partial(importlib.import_module, module.name))


def entry_point_definitions() -> Iterator[Definition]:
    """Yield the entry points of installed distributions."""
    from importlib import metadata

    for entry_point in metadata.entry_points(group=ENTRY_POINT_GROUP):
        yield Definition(entry_point.value, entry_point.load)


def shipped_package() -> ModuleType:
    """Return the package `patchkit.patches`: inside a wheel, or beside the engine in a checkout.

    Raises:
        PatchDefinitionError: it is not there.
    """
    try:
        return importlib.import_module(_SHIPPED)
    except ModuleNotFoundError as error:
        if error.name != _SHIPPED:
            raise
        raise PatchDefinitionError(
            "this installation of patchkit lacks its patches; reinstall it"
        ) from None
