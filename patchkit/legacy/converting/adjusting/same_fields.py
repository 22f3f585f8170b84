"""Fields of a script's own dataclasses that a library's has today as well."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ...changes import Behaviour
from ..call import Call

_LIBRARIES = frozenset({"transformers", "trl"})
_Field = dataclasses.Field[Any]


def scripts_own_first(call: Call, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Let a parser know a field of a library's dataclass no more than before it came.

    A flag that two dataclasses have is an error.

    Args:
        call: a call of the parser's constructor, or of a method that makes objects of dataclasses.
        row: the row of the table.
        proceed: carries it out.
    """
    is_constructor = call.method.name == "__init__"
    if is_constructor:
        kinds = call.arguments.get("dataclass_types")
        if kinds is None:
            return proceed()
        kinds = list(kinds) if isinstance(kinds, Iterable) else [kinds]
        call.arguments["dataclass_types"] = kinds
    else:
        kinds = call.instance.dataclass_types
    twice = list(_had_twice([kind for kind in kinds if dataclasses.is_dataclass(kind)]))
    if is_constructor:
        for field, library, own in twice:
            name = field.name
            call.tell(
                row,
                f"{own.__name__}.{name}",
                f"{own.__name__} and {library.__name__} both have {name}; --{name} stays that of "
                f"{own.__name__}, as when {library.__name__} had none; give it another name",
            )
    with _left_out([field for field, _, _ in twice]):
        return proceed()


def _had_twice(kinds: list[Any]) -> Iterator[tuple[_Field, type, type]]:
    """Return each field of a library's that a class of the script's has, too, and both classes."""
    for kind in kinds:
        for field in dataclasses.fields(kind):
            library = _definer(kind, field.name)
            own = next(
                (
                    other
                    for other in kinds
                    if other is not kind and field.name in other.__dataclass_fields__
                ),
                None,
            )
            if own is None or not _is_librarys(library):
                continue
            if not _is_librarys(_definer(own, field.name)):
                yield field, library, own


def _definer(kind: type, name: str) -> type:
    return next(known for known in kind.__mro__ if name in vars(known).get("__annotations__", ()))


def _is_librarys(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in _LIBRARIES


@contextmanager
def _left_out(fields: list[_Field]) -> Iterator[None]:
    """Leave fields out of what a parser looks at: what goes to constructors."""
    taken = [field for field in fields if field.init]
    for field in taken:
        field.init = False
    try:
        yield
    finally:
        for field in taken:
            field.init = True
