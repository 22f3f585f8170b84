"""Attributes that the layer has changed, and how they were."""

from __future__ import annotations

import weakref
from typing import Any

_ABSENT = object()


class ChangedAttributes:
    """Attributes of classes and modules that are given back in the end.

    What is remembered is remembered before it is changed, so that an interruption leaves nothing
    behind. An attribute that somebody else has set since stays as it is.
    """

    def __init__(self) -> None:
        self._changes: list[tuple[weakref.ref[Any], str, object, object]] = []

    def change(self, owner: Any, name: str, value: object) -> None:
        """Set an attribute in the namespace of a class or module, or the class of a module."""
        before = _held(owner, name)
        self._changes.append((weakref.ref(owner), name, value, before))
        setattr(owner, name, value)

    def restore(self) -> None:
        """Give back all attributes, the last first."""
        while self._changes:
            reference, name, value, before = self._changes[-1]
            owner = reference()
            if owner is not None and _held(owner, name) is value:
                if before is _ABSENT:
                    delattr(owner, name)
                else:
                    setattr(owner, name, before)
            self._changes.pop()


def _held(owner: Any, name: str) -> object:
    return type(owner) if name == "__class__" else vars(owner).get(name, _ABSENT)
