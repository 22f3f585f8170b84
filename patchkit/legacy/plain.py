"""Plain data with named fields, as `dataclasses` makes it, without code compiled for each class.

The layer has forty such classes, and each import of it would compile a constructor for each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform():
        return lambda cls: cls


NOTHING: Mapping[str, Any] = {}
"""A default that nobody changes."""
_Data = TypeVar("_Data", bound="PlainData")


@dataclass_transform()
class PlainData:
    """Data whose fields are the annotated names of its class, and of those that it derives from.

    A value in the class is a default. Two objects are never equal.

    Args:
        kw_only: whether the fields of the class are given by name only.
    """

    field_types: ClassVar[dict[str, str]] = {}
    """The fields, each with its type as it is written."""
    __match_args__: ClassVar[tuple[str, ...]] = ()
    _defaults: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls, *, kw_only: bool = False) -> None:
        own = {
            name: str(type_)
            for name, type_ in cls.__annotations__.items()
            if not str(type_).startswith("ClassVar")
        }
        cls.field_types = {**cls.field_types, **own}
        if not kw_only:
            cls.__match_args__ = (*cls.__match_args__, *own)  # type: ignore[misc]
        namespace = vars(cls)
        own_defaults = {name: namespace[name] for name in own if name in namespace}
        cls._defaults = {**cls._defaults, **own_defaults}

    def __init__(self, *args: Any, **given: Any) -> None:
        name, fields = type(self).__name__, self.field_types
        if len(args) > len(self.__match_args__):
            raise TypeError(f"{name} takes {len(self.__match_args__)} values by position")
        values = dict(zip(self.__match_args__, args, strict=False))
        if wrong := given.keys() - (fields.keys() - values.keys()):
            raise TypeError(f"{name} takes no {', '.join(sorted(wrong))}, or has it already")
        values = {**self._defaults, **values, **given}
        if missing := fields.keys() - values.keys():
            raise TypeError(f"{name} needs {', '.join(sorted(missing))}")
        vars(self).update(values)

    def replaced(self: _Data, **changed: Any) -> _Data:
        """Return a copy in which some fields have other values."""
        return type(self)(**{**vars(self), **changed})
