"""What converters of the table get in place of a call: its text, not its values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from ...legacy.changes import Keyword
from ...legacy.decisions import UNKNOWN, Decision, decide, undecided
from ..reading.expressions import literal
from ..reading.script import Given
from ..reading.values import Constant


class UndecidedError(Exception):
    """A converter asks for a value that is known only when the script runs."""


class Expression:
    """A value that is known only when the script runs."""

    __slots__ = ("source",)

    def __init__(self, source: str) -> None:
        self.source = source

    def _undecided(self, *args: Any) -> NoReturn:
        raise UndecidedError(self.source)

    __bool__ = __iter__ = __lt__ = __le__ = __gt__ = __ge__ = __len__ = _undecided
    __floordiv__ = __rfloordiv__ = __getitem__ = __str__ = __fspath__ = _undecided


@dataclass(frozen=True)
class Construction:
    """An object that the script is to make."""

    name: str
    settings: Mapping[str, Any]

    @property
    def class_name(self) -> str:
        return self.name.rpartition(".")[2]

    def __getattr__(self, name: str) -> Any:
        if name in self.settings:
            return self.settings[name]
        raise AttributeError(name)

    def __repr__(self) -> str:
        return rendered(self, lambda name: name.rpartition(".")[2])


class Standin:
    """A call as converters see it.

    Args:
        values: the arguments by keyword.
        old: those of the keywords that what is called does not name.
        configuration: the name of the configuration that a trainer takes.
    """

    def __init__(
        self, values: Mapping[str, Any], old: Collection[str], configuration: str = ""
    ) -> None:
        self.arguments = {name: value for name, value in values.items() if name not in old}
        self.unknown = {name: value for name, value in values.items() if name in old}
        self.configuration = configuration

    @staticmethod
    def make(name: str, given: Any, **settings: Any) -> Construction:
        """Return an object that the script is to make."""
        if given is None:
            return Construction(name, settings)
        if isinstance(given, Construction):
            return Construction(name, {**given.settings, **settings})
        raise UndecidedError(name)


def known_value(given: Given) -> Any:
    """Return the value of an argument, if it is a literal or a variable that is surely one."""
    if given.value is not UNKNOWN:
        return given.value
    (constant,) = given.values if len(given.values) == 1 else (None,)
    if isinstance(constant, Constant) and constant.surely:
        return literal(constant.node)
    return UNKNOWN


def decided(row: Keyword, value: Any, call: Standin) -> tuple[Decision, frozenset[str]]:
    """Return what to do about an old keyword, as far as the text of a script shows.

    Args:
        row: the row of the table.
        value: the value; `UNKNOWN` if it is known only when the script runs.
        call: the other arguments; it loses those that the decision takes along.

    Returns:
        the decision, and the names of the arguments that go with it.
    """
    arguments, unknown = dict(call.arguments), dict(call.unknown)
    try:
        decision = decide(row, value, call)
    except (UndecidedError, TypeError, ValueError, AttributeError, OSError):
        call.arguments, call.unknown = arguments, unknown
        return undecided(row), frozenset()
    taken = arguments.keys() | unknown.keys()
    return decision, frozenset(taken - call.arguments.keys() - call.unknown.keys())


def argument_list(sources: Mapping[str, str]) -> str:
    """Return sources as arguments: `beta=0.1, max_length=512`."""
    return ", ".join(f"{name}={source}" for name, source in sources.items())


def rendered(value: Any, spell: Callable[[str], str] = str) -> str:
    """Return the source of a value.

    Args:
        value: a literal, an expression, something to make, or a collection of these.
        spell: returns how the script can write a library's name.
    """
    if isinstance(value, Expression):
        return value.source
    if isinstance(value, Construction):
        given = {name: rendered(each, spell) for name, each in value.settings.items()}
        return f"{spell(value.name)}({argument_list(given)})"
    if isinstance(value, list):
        return f"[{', '.join(rendered(each, spell) for each in value)}]"
    if isinstance(value, dict):
        pairs = (f"{key!r}: {rendered(each, spell)}" for key, each in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, str) and '"' not in value and "\\" not in value and value.isprintable():
        return f'"{value}"'
    return repr(value)
