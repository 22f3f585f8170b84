"""What an import gives for a gone name: it may stand in annotations, and refuses to be used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, Union

from ..errors import GoneError

_USES = (
    *("call", "instancecheck", "subclasscheck", "setattr", "delattr"),
    *("getitem", "setitem", "delitem", "contains", "iter", "enter", "index", "fspath"),
    *("lt", "le", "gt", "ge", "add", "radd", "sub", "mul", "rmul", "truediv", "and", "mod"),
)
"""The special methods that Python calls where a program uses an object."""


class GoneName:
    """Stand for a gone name, which may be in annotations and is refused where it is used.

    Args:
        name: the name, with dots.
        refuse: returns the error that each use raises.
    """

    def __init__(self, name: str, refuse: Callable[[], GoneError]) -> None:
        module, _, last = name.rpartition(".")
        named = {"__module__": module, "__name__": last, "__qualname__": last}
        vars(self).update(named, _name=name, _refuse=refuse)

    @property
    def __bases__(self) -> NoReturn:
        # issubclass reads it
        raise vars(self)["_refuse"]()

    @property
    def __mro_entries__(self) -> NoReturn:
        # A class statement reads it, and so does type(…, (…,), …).
        raise vars(self)["_refuse"]()

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(f"{self!r} has no attribute {name!r}", name=name)
        raise vars(self)["_refuse"]()

    def __or__(self, other: Any) -> Any:
        return Union[self, other]  # noqa: UP007

    def __ror__(self, other: Any) -> Any:
        return Union[other, self]  # noqa: UP007

    def __reduce__(self) -> str:
        return str(vars(self)["__name__"])  # as that of a class: a copy is the same object

    def __repr__(self) -> str:
        return f"<{vars(self)['_name']}, which is gone>"


def _refuse_use(self: GoneName, *args: Any, **kwargs: Any) -> NoReturn:
    raise vars(self)["_refuse"]()


for _use in _USES:
    setattr(GoneName, f"__{_use}__", _refuse_use)
