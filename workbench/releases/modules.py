"""Read which modules a release has, and which names can be imported from each."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .exports import exported
from .sources import Sources

Modules = dict[str, list[str]]
"""Module to the public names in it; without the library, whose own module is the empty text."""

_MODELS = "transformers.models."
_AUTO = f"{_MODELS}auto."
_ALIASES = "_LEGACY_MODULE_ALIASES"
"""What Transformers 5 calls its table of old names of modules."""
_WITHOUT_NAMES = ("transformers.models",)
"""Modules that import everything from thousands of others."""
_DECLARED = re.compile(r"^__all__ *= *[\[(]([^\])]*)[\])]", re.MULTILINE)
_NAME = re.compile(r"[\"'](\w+)[\"']")


def modules(sources: Sources, library: str) -> Modules:
    """Read the modules of a release; of the models in Transformers, their packages only.

    Args:
        sources: its modules.
        library: its name, which is that of its package.
    """
    found: Modules = {}
    top = set(exported(sources, library))
    for module in sources:
        if module in _WITHOUT_NAMES:
            found[_below(module, library)] = []
        elif module.startswith(_MODELS) and not f"{module}.".startswith(_AUTO):
            found.setdefault(_below(".".join(module.split(".")[:3]), library), [])
            top.update(declared(sources.text(module)))
        elif module != library:
            names = names_in(sources, library, module, frozenset())
            found[_below(module, library)] = sorted(set(names))
            if module.startswith(_AUTO):
                top.update(declared(sources.text(module)))
    found.update({alias: [] for alias in _aliases(sources, library) if alias not in found})
    found[""] = sorted(name for name in top if not name.startswith("_"))
    return found


def _below(module: str, library: str) -> str:
    return module.removeprefix(f"{library}.")


def names_in(sources: Sources, library: str, module: str, seen: frozenset[str]) -> Iterator[str]:
    """Yield the public names that a module defines, or imports from its own library."""
    for name, statements in sources.bound(module).items():
        if name == "*":
            for statement in statements:
                origin = _origin(sources, library, module, statement)
                if origin in sources and origin not in seen:
                    yield from names_in(sources, library, origin, seen | {module})
        elif not name.startswith("_") and any(
            not isinstance(statement, ast.Import | ast.ImportFrom)
            or _origin(sources, library, module, statement)
            for statement in statements
        ):
            yield name


def _origin(sources: Sources, library: str, module: str, statement: ast.stmt) -> str:
    """Return the module of the library that a statement imports from; empty if it is another's."""
    if not isinstance(statement, ast.ImportFrom):
        return ""
    origin = sources.origin(module, statement)
    return origin if f"{origin}.".startswith(f"{library}.") else ""


def _aliases(sources: Sources, library: str) -> Iterator[str]:
    """Yield the old names by which modules can still be imported."""
    for statement in sources.bound(library).get(_ALIASES, ()):
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Dict):
            keys = statement.value.keys
            yield from (str(key.value) for key in keys if isinstance(key, ast.Constant))


def declared(text: str) -> Iterator[str]:
    """Yield the names in the `__all__` of a module, without parsing it: there are thousands."""
    for names in _DECLARED.findall(text):
        yield from _NAME.findall(names)
