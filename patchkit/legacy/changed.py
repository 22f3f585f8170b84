"""Attributes that the layer has changed, and how they were."""

from __future__ import annotations

import weakref
from types import ModuleType
from typing import Any

_ABSENT = object()
_CLASS = "__class__"


class ChangedAttributes:
    """Attributes of classes and modules that are given back in the end.

    What is remembered is remembered before it is changed, so that an interruption leaves nothing
    behind. An attribute that somebody else has set since stays as it is.
    """

    def __init__(self) -> None:
        self._changes: list[tuple[weakref.ref[Any], str, object, object]] = []

    def change(self, owner: Any, name: str, value: object) -> None:
        """Set an attribute in the namespace of a class or module."""
        before = vars(owner).get(name, _ABSENT)
        self._changes.append((weakref.ref(owner), name, value, before))
        setattr(owner, name, value)

    def change_class(self, module: ModuleType, kind: type[ModuleType]) -> None:
        """Make a module one of another class."""
        self._changes.append((weakref.ref(module), _CLASS, kind, type(module)))
        module.__class__ = kind

    def restore(self) -> None:
        """Give back all attributes, the last first."""
        while self._changes:
            reference, name, value, before = self._changes[-1]
            owner = reference()
            if name == _CLASS:
                if type(owner) is value:
                    owner.__class__ = before
            elif owner is not None and vars(owner).get(name) is value:
                if before is _ABSENT:
                    delattr(owner, name)
                else:
                    setattr(owner, name, before)
            self._changes.pop()
