"""What is observable of a value, as JSON: types, shapes, keys, ids, and no digits that were computed."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

MOST = 24
"""Elements of a sequence that are kept one by one."""


def of(value: Any) -> Any:
    """Return the facts of a value.

    A Python float is kept as it is: it is a setting. What is computed is a tensor, or is given to
    `kind` first.
    """
    if value is None or isinstance(value, bool | int | str):
        return value.value if isinstance(value, enum.Enum) else value
    if isinstance(value, enum.Enum):
        return of(value.value)
    if isinstance(value, float):
        return value if value == value and abs(value) < 1e300 else repr(value)
    if isinstance(value, PurePath):
        return value.name
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return _array(value)
    if isinstance(value, Mapping) or hasattr(value, "keys"):
        return {
            "(type)": type(value).__name__,
            **{str(key): of(value[key]) for key in value.keys()},  # noqa: SIM118,
        }
    if isinstance(value, list | tuple):
        return [type(value).__name__, len(value), *(of(part) for part in value[:MOST])]
    if isinstance(value, set | frozenset):
        return [type(value).__name__, *sorted(map(str, value))]
    return f"<{type(value).__name__}>"


def kind(value: Any) -> Any:
    """Return a value with the names of types in place of its numbers."""
    if isinstance(value, Mapping):
        return {key: kind(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [kind(part) for part in value]
    return value if value is None or isinstance(value, str) else type(value).__name__


def _array(value: Any) -> Any:
    dtype, shape = str(value.dtype).rpartition(".")[2], list(value.shape)
    found = {"(type)": type(value).__name__, "dtype": dtype, "shape": shape}
    size = 1
    for length in shape:
        size *= length
    if size <= 4 * MOST and ("int" in dtype or "bool" in dtype):
        found["values"] = value.tolist()
    return found


def flat(record: Any, path: str) -> dict[str, Any]:
    """Return the facts of a record by their paths; a list is one fact."""
    if not isinstance(record, Mapping):
        return {path: record}
    found: dict[str, Any] = {}
    for name, part in record.items():
        found.update(flat(part, f"{path}.{name}"))
    return found
