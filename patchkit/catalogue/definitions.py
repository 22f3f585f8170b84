"""Where installed patch definitions are: shipped with patchkit, and in other distributions."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from types import ModuleType

from ..errors import PatchDefinitionError

ENTRY_POINT_GROUP = "patchkit.patches"
_SHIPPED = "patchkit.patches"


@dataclass(frozen=True)
class Definition:
    """A file that should define a patch.

    Args:
        name: what a message calls it.
        fetch: imports it.
        file: its path, if it was found by its place; empty for what is installed.
    """

    name: str
    fetch: Callable[[], ModuleType]
    file: str = ""

    def imported(self) -> Definition:
        """The same after its import: `fetch` gives the module, or raises what the import raised."""
        try:
            module = self.fetch()
        except (Exception, SystemExit) as error:
            problem = error

            def fail() -> ModuleType:
                raise problem

            return replace(self, fetch=fail)
        return replace(self, fetch=lambda: module)


def shipped() -> Iterator[Definition]:
    """The files of the catalogue that comes with patchkit."""
    package = shipped_package()
    for found in pkgutil.walk_packages(package.__path__, f"{_SHIPPED}."):
        if not found.ispkg and not found.name.rpartition(".")[2].startswith("_"):
            yield Definition(found.name, partial(importlib.import_module, found.name))


def of_other_distributions() -> Iterator[Definition]:
    """What the installed distributions name as entry points."""
    from importlib import metadata

    for entry_point in metadata.entry_points(group=ENTRY_POINT_GROUP):
        yield Definition(entry_point.value, entry_point.load)


def shipped_package() -> ModuleType:
    """The package `patchkit.patches`: inside a wheel, or beside the engine in a checkout.

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
