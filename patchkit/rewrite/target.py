"""Names of things to fix, `package.module:Class.method`, and the live objects behind them."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from types import FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from .errors import Drift

_TARGET = r"[\w.*?\[\]!]+:[\w.*?\[\]!<>]+"


class Target(NamedTuple):
    """A callable named by its module and its qualified name.

    Args:
        module: dotted module name; may hold shell wildcards, and `*` crosses dots.
        qualname: qualified name inside the module, such as `SFTTrainer.__init__`;
            may hold shell wildcards, which do not cross dots.
    """

    module: str
    qualname: str

    @classmethod
    def parse(cls, text: str) -> Target:
        """Read `module:qualname`.

        Raises:
            ValueError: the text is not of that form.
        """
        target = _parsed(text) if isinstance(text, str) else None
        if target is None:
            raise ValueError(f"a target reads 'package.module:Class.method', not {text!r}")
        return target

    def __str__(self) -> str:
        return f"{self.module}:{self.qualname}"

    @property
    def package(self) -> str:
        """The top-level package, such as `trl`."""
        return self.module.partition(".")[0]

    @property
    def package_is_glob(self) -> bool:
        return is_glob(self.package)

    @property
    def module_is_glob(self) -> bool:
        return is_glob(self.module)

    @property
    def qualname_is_glob(self) -> bool:
        return is_glob(self.qualname)

    @property
    def is_glob(self) -> bool:
        return self.module_is_glob or self.qualname_is_glob

    def in_module(self, module: str) -> Target:
        return Target(module, self.qualname)

    def matches_qualname(self, qualname: str) -> bool:
        """Tell whether this target means a qualified name; wildcards stay within a part."""
        parts, names = self.qualname.split("."), qualname.split(".")
        return len(parts) == len(names) and all(
            matcher(part)(name) for part, name in zip(parts, names, strict=True)
        )


@cache
def _parsed(text: str) -> Target | None:
    """Read a target, which is asked for where it is defined, armed and fixed."""
    module, _, qualname = text.partition(":")
    return Target(module, qualname) if re.fullmatch(_TARGET, text) else None


def is_glob(pattern: str) -> bool:
    """Tell whether a name has shell wildcards."""
    return "*" in pattern or "?" in pattern or "[" in pattern


@cache
def matcher(pattern: str) -> Callable[[str], object]:
    """Return a function that tells whether a name matches a shell pattern as a whole.

    Stars need no regular expression, which takes longer to compile than thousands of names to
    compare.
    """
    if not is_glob(pattern):
        return pattern.__eq__
    if "?" in pattern or "[" in pattern:
        return re.compile(fnmatch.translate(pattern)).match
    first, *middle, last = pattern.split("*")
    shortest = len(pattern) - pattern.count("*")

    def matches(name: str) -> bool:
        if len(name) < shortest or not (name.startswith(first) and name.endswith(last)):
            return False
        place, end = len(first), len(name) - len(last)
        for part in middle:
            found = name.find(part, place, end)
            if found < 0:
                return False
            place = found + len(part)
        return True

    return matches


class Binding(NamedTuple):
    """The place of a live callable.

    Args:
        owner: the module or class whose namespace holds it.
        name: its attribute there.
        value: the attribute's value, exactly as in the owner's `__dict__` (a staticmethod object,
            a property, a decorated function).
    """

    owner: ModuleType | type
    name: str
    value: Any

    def function(self) -> FunctionType:
        """Return the plain function at the bottom of decorators and descriptors.

        Raises:
            Drift: no Python function is found there.
        """
        function = _innermost_function(self.value, self.name)
        if function is None:
            raise Drift(f"{self.name} is {type(self.value).__name__}, not a Python function")
        return function


def bind(module: ModuleType, qualname: str) -> Binding:
    """Find a live callable in its module.

    No code of the module runs: no descriptor, no `__getattr__`.

    Raises:
        Drift: a part of the name does not exist there, or is inherited from a base class.
    """
    owner: Any = module
    namespace = vars(module)
    *path, name = qualname.split(".")
    for part in path:
        if part not in namespace:
            raise Drift(f"{module.__name__} has no {qualname}: {part} is missing")
        owner = namespace[part]
        # Not isinstance: a mock with a `spec` claims another class.
        if not issubclass(type(owner), (type, ModuleType)):
            raise Drift(f"{module.__name__}:{part} is not a class")
        namespace = _namespace(owner)
    if name not in namespace:
        bases = type.mro(owner) if isinstance(owner, type) else ()
        inherited = any(name in _namespace(base) for base in bases)
        detail = f"{owner.__name__} inherits {name}" if inherited else f"{name} is missing"
        raise Drift(f"{module.__name__} has no {qualname}: {detail}")
    return Binding(owner, name, namespace[name])


def functions_in(module: ModuleType, qualname: str) -> list[tuple[str, FunctionType]]:
    """Return the functions that a qualified name with wildcards stands for, with their names.

    A wildcard finds only what the module itself defines: a class imported from elsewhere is fixed
    where it lives.
    """
    first, *rest = qualname.split(".")
    name_of_module = module.__name__
    own = [
        (name, value)
        for name, value in _matching(vars(module), first)
        if getattr(value, "__module__", None) == name_of_module
    ]
    if rest:
        own = [
            (f"{name}.{attribute}", value)
            for name, cls in own
            if isinstance(cls, type) and len(rest) == 1
            for attribute, value in _matching(_namespace(cls), rest[0])
        ]
    found = []
    for name, value in own:
        cls = type(value)
        if cls in _COMMON or cls.__module__ != "builtins":  # most of the others are plain data
            function = _innermost_function(value, name.rpartition(".")[2])
            if function is not None:
                found.append((name, function))
    return found


def _matching(namespace: Mapping[str, Any], pattern: str) -> Iterable[tuple[str, Any]]:
    """Return what a pattern stands for in a namespace; few patterns ask about each name in it."""
    if not is_glob(pattern):
        return [(pattern, namespace[pattern])] if pattern in namespace else []
    items = list(namespace.items())
    if pattern == "*":
        return items
    matches = matcher(pattern)
    return [item for item in items if matches(item[0])]


def _namespace(owner: Any) -> Any:
    return type.__dict__["__dict__"].__get__(owner) if isinstance(owner, type) else vars(owner)


_INNER = ("__wrapped__", "__func__", "fget", "func")
"""Attributes under which decorators and descriptors keep what they wrap."""
_DEEPEST = 32
"""Decorators to look through at most: an object may make up ever more of them."""


def chain(value: Any) -> Iterator[Any]:
    """Walk from a callable inwards, along decorators and descriptors.

    Only attributes that an object or its type has are followed: an object that answers to any name,
    as mocks do, is the end.
    """
    seen: list[Any] = []
    while value is not None and len(seen) < _DEEPEST:
        if any(value is known for known in seen):
            return
        seen.append(value)
        yield value
        inside = (_inside(value, name) for name in _INNER)
        value = next((inner for inner in inside if inner is not None), None)


_COMMON: tuple[type, ...] = (FunctionType, MethodType, staticmethod, classmethod, property)
_ANSWERED = {
    cls: {name for name in _INNER if any(name in vars(base) for base in cls.__mro__)}
    for cls in _COMMON
}
"""Of those, the names that all objects of a type have; it is what most decorators return."""


def _inside(value: Any, name: str) -> Any:
    cls = type(value)
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        own = {}
    if not (type(own) is dict and name in own):
        answered = _ANSWERED.get(cls)
        if answered is None:
            answered = {name for base in cls.__mro__ if name in _namespace(base)}
        if name not in answered:
            return None
    try:
        return getattr(value, name, None)
    except Exception:
        return None


def _innermost_function(value: Any, name: str) -> FunctionType | None:
    if type(value) is FunctionType and not value.__dict__ and value.__code__.co_name == name:
        return value  # what most are, without the look along decorators
    *_, innermost = None, *chain(value)
    if not issubclass(type(innermost), FunctionType):
        return None
    if innermost.__code__.co_name == name:
        return innermost  # type: ignore[no-any-return]
    return _find_in_closure(innermost, name) or innermost


def _find_in_closure(function: FunctionType, name: str) -> FunctionType | None:
    """Find the function that a decorator without `functools.wraps` keeps in a closure cell."""
    for cell in function.__closure__ or ():
        try:
            content = cell.cell_contents
        except ValueError:  # an empty cell
            continue
        if issubclass(type(content), FunctionType) and content.__code__.co_name == name:
            return content  # type: ignore[no-any-return]
    return None
