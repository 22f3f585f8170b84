"""Attributes that objects no longer have, or had under other names: be asked for them."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..outline import Former
from .changed import ChangedAttributes

Read = Callable[[Any, str], Any]
"""Takes an object or class, and the old name; returns the value, or raises."""
Assign = Callable[[Any, str, Any], Any]
"""Takes an object, the name and an old value; returns the value of today."""


def answer_for(
    cls: type, names: Mapping[str, Former], read: Read, changed: ChangedAttributes
) -> None:
    """Answer for attributes that the objects of a class do not have.

    Args:
        cls: a class.
        names: the old names, and what is known of each.
        read: gives the values.
        changed: remembers the attributes that are set in the class.
    """
    if not names:
        return
    answers = vars(cls).get("__getattr__")
    if answers is not None:
        # It may look into the namespace of the class as well.
        changed.change(cls, "__getattr__", _getter(answers, names, read))
        return
    changed.change(cls, "__dir__", _listing(cls.__dir__))
    for name, (differs, of_class, is_refused) in names.items():
        present = vars(cls).get(name)
        if differs and isinstance(present, property) and present.fget is not None:
            changed.change(cls, name, present.getter(_differing(present.fget, name, read)))
        elif differs and present is None and hasattr(cls, name):
            changed.change(cls, name, _differing_method(getattr(cls, name), name, read))
        elif not hasattr(cls, name):
            changed.change(cls, name, _FormerAttribute(name, of_class, is_refused, read))


def take_for(cls: type, names: Iterable[str], assign: Assign, changed: ChangedAttributes) -> None:
    """Let properties of a class take old values; the arguments are as those of `answer_for`."""
    for name in names:
        present = vars(cls).get(name)
        if isinstance(present, property) and present.fset is not None:
            changed.change(cls, name, present.setter(_setter(present.fset, name, assign)))


def _setter(
    put: Callable[[Any, Any], None], name: str, assign: Assign
) -> Callable[[Any, Any], None]:
    @functools.wraps(put)
    def set_attribute(self: Any, value: Any) -> None:
        put(self, assign(self, name, value) if _needs_answer(name) else value)

    return set_attribute


def _getter(
    answers: Callable[[Any, str], Any], names: Mapping[str, object], read: Read
) -> Callable[[Any, str], Any]:
    @functools.wraps(answers)
    def get_attribute(self: Any, name: str) -> Any:
        try:
            value = answers(self, name)
        except AttributeError:
            if name not in names or not _needs_answer(name):
                raise
            return read(self, name)
        # A tokenizer's looks into the namespaces of its classes by itself.
        return value.__get__(self, type(self)) if isinstance(value, _FormerAttribute) else value

    return get_attribute


def _differing(get: Callable[[Any], Any], name: str, read: Read) -> Callable[[Any], Any]:
    @functools.wraps(get)
    def get_attribute(self: Any) -> Any:
        return read(self, name) if _needs_answer(name) else get(self)

    return get_attribute


def _differing_method(method: Callable[..., Any], name: str, read: Read) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: Any, *args: Any) -> Any:
        return read(self, name)(*args) if _needs_answer(name) else method(self, *args)

    return call


def _listing(names: Callable[..., Iterable[str]]) -> Callable[[Any], list[str]]:
    """Return a `__dir__` that lists what an object has without the layer."""

    @functools.wraps(names)
    def list_names(self: Any) -> list[str]:
        held = {name: vars(cls)[name] for cls in type(self).__mro__[::-1] for name in vars(cls)}
        held |= getattr(self, "__dict__", {})
        return [name for name in names(self) if not isinstance(held.get(name), _FormerAttribute)]

    return list_names


class _FormerAttribute:
    """An attribute in the namespace of a class whose objects do not have it.

    An object that sets it has its own.
    """

    def __init__(self, name: str, of_class: bool, is_refused: bool, read: Read) -> None:
        self._name = name
        self._of_class = of_class
        self._is_refused = is_refused
        self._read = read

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        asked = owner if self._of_class else instance
        name = self._name
        if asked is None and self._is_refused and _needs_answer(name):
            return self._read(owner, name)  # `Trainer.f(…)`
        if asked is None and _calls_getattr():
            return self  # `dir` of a class has its name, and what it names can be read
        if asked is None or not _needs_answer(name):
            asked = owner if instance is None else instance
            is_class = f"type object {getattr(asked, '__name__', '')!r}"
            what = is_class if isinstance(asked, type) else f"{type(asked).__name__!r} object"
            raise AttributeError(f"{what} has no attribute {name!r}", name=name, obj=asked)
        return self._read(asked, name)


def _needs_answer(name: str) -> bool:
    from .reading import needs_answer  # few processes ask

    return needs_answer(name, sys._getframe(1))


def _calls_getattr() -> bool:
    from .reading import calls_getattr

    return calls_getattr(sys._getframe(1))
