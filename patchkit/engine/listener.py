"""Listen to imports for a session."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable
from types import ModuleType

from .armed import ArmedPatch


class ImportListener:
    """A listener of the hook for the modules that armed patches fix."""

    def __init__(
        self,
        armed: Callable[[], Iterable[ArmedPatch]],
        before_import: Callable[[str], None],
        after_import: Callable[[str, ModuleType], None],
    ) -> None:
        self._armed = armed
        self.before_import = before_import
        self.after_import = after_import
        self.refresh()

    def refresh(self) -> None:
        """Drop what was computed: patches were added, removed or looked up."""
        self._packages: frozenset[str] | None = None
        self._wanted: tuple[frozenset[str], re.Pattern[str]] | None = None

    def packages(self) -> frozenset[str]:
        if self._packages is None:
            self._packages = frozenset[str]().union(
                *(patch.packages for patch in list(self._armed()))
            )
        return self._packages

    def wants(self, name: str) -> bool:
        wanted = self._wanted
        if wanted is None:
            wanted = self._wanted = self._index()
        names, patterns = wanted
        return name in names or bool(patterns.match(name))

    def _index(self) -> tuple[frozenset[str], re.Pattern[str]]:
        """Return the modules that are wanted by their names, and by patterns.

        Each of thousands of imports asks, where a patch has dozens of targets.
        """
        patches = [patch for patch in list(self._armed()) if patch.is_looked_up]
        modules = [
            target.target.module
            for patch in patches
            if patch.is_due
            for target in patch.targets
            if not target.absent
        ]
        names = frozenset(name for name in modules if not re.search(r"[*?\[]", name))
        globs = sorted(fnmatch.translate(name) for name in {*modules} - names)
        return names, re.compile("|".join(globs) or r"(?!)")
