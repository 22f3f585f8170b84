"""Check that some code of the model or of its trainer reads each part that is trained."""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Iterator
from functools import cache
from types import CodeType, FunctionType
from typing import Any

from ...text import short_list
from ..facts import TrainingFacts
from ..findings import Finding, found
from ..wording import plural

_WALKING = frozenset(
    ("getattr", "children", "named_children", "modules", "named_modules", "_modules", "parameters")
)
"""Names by which code reaches parts that it does not name."""


def trained_but_unused(facts: TrainingFacts) -> Finding | None:
    """Find trained parts whose names no code around them reads: their gradient stays None.

    A module is used by a method of a module that contains it, of the trainer, or of nobody. Code is
    read, and nothing is run; a training loop of the script's own may use what nothing here reads.
    """
    if facts.subject.trainer is None or facts.engine:
        return None
    trainer_class: type = type(facts.subject.trainer)
    elsewhere = _read_by(trainer_class)
    parts: dict[int, str] = {}
    used = set()
    modules = dict(facts.model.named_modules(remove_duplicate=False))
    read_in = cache(lambda place: _read_in(modules[place]))
    for name, tensor in facts.model.named_parameters(remove_duplicate=False):
        if part := _unread(modules, name, elsewhere, read_in) if tensor.requires_grad else "":
            parts.setdefault(id(tensor), part)
        else:
            used.add(id(tensor))
    unused = {part for tensor, part in parts.items() if tensor not in used}
    if not unused:
        return None
    return found(
        "trained-but-unused",
        parts=f"{plural(len(unused), 'trained part')} ({short_list(sorted(unused))})",
        change="\n".join(f"model.{part}.requires_grad_(False)" for part in sorted(unused)[:3]),
    )


def _unread(
    modules: dict[str, Any],
    name: str,
    elsewhere: frozenset[str],
    read_in: Callable[[str], frozenset[str] | None],
) -> str:
    """Return the part of a parameter's name that nothing reads; empty if all is read."""
    parts = name.split(".")
    reading = [elsewhere]
    for number, part in enumerate(parts):
        place = ".".join(parts[:number])
        names_read = read_in(place)
        if names_read is None:
            return ""
        reading.append(names_read)
        cls: type = type(modules[place])
        free = cls.__module__.startswith("torch.") or _walks(cls)
        if not free and not any(part in names for names in reading):
            return ".".join(parts[: number + 1])
    return ""


def _read_in(owner: Any) -> frozenset[str] | None:
    """Return the names that the code of a module reads; None if its own forward has no code."""
    found = frozenset[str]().union(*map(_read_by, (type(owner), *_helpers_of(owner))))
    forward = vars(owner).get("forward")
    if forward is None:
        return found
    codes = list(_codes(forward))
    return found.union(*map(_names_read, codes)) if codes else None


def _helpers_of(owner: Any) -> set[type]:
    """Return the classes of what computes for a module and is none, such as PEFT's variants."""
    values = list(vars(owner).values())
    values += [held for value in values if type(value) is dict for held in value.values()]
    return {type(value) for value in values if type(value).__module__.startswith("peft.")}


@cache
def _read_by(cls: type) -> frozenset[str]:
    """Return the names that methods of a class and its bases read, and functions beside them."""
    bases = [base for base in cls.__mro__ if base.__module__ != "torch.nn.modules.module"]
    beside = (
        value
        for name in {base.__module__ for base in bases} & sys.modules.keys()
        for value in list(vars(sys.modules[name]).values())
        if isinstance(value, FunctionType) and value.__module__ == name
    )
    methods = (value for base in bases for value in vars(base).values())
    codes = (code for value in (*methods, *beside) for code in _codes(value))
    return frozenset().union(*map(_names_read, codes))


@cache
def _walks(cls: type) -> bool:
    """Return whether a class goes through its parts without naming them, or is made at runtime."""
    codes = (code for value in vars(cls).values() for code in _codes(value))
    return "parametriz" in cls.__name__.lower() or any(
        not _WALKING.isdisjoint(_names_read(code)) for code in codes
    )


def _codes(value: Any, depth: int = 4) -> Iterator[CodeType]:
    """Yield the code of a function, and of what decorators have around it."""
    value = getattr(value, "fget", None) or getattr(value, "__func__", None) or value
    code = getattr(value, "__code__", None)
    if code is None or not depth:
        return
    yield code
    for cell in getattr(value, "__closure__", None) or ():
        try:
            yield from _codes(cell.cell_contents, depth - 1)
        except ValueError:  # It is empty still.
            continue
    yield from _codes(getattr(value, "__wrapped__", None), depth - 1)


@cache
def _names_read(code: CodeType) -> frozenset[str]:
    """Return the names that code reads, or has as text; not those that it only assigns."""
    names = {
        step.argval
        for step in dis.get_instructions(code)
        if step.opname.startswith("LOAD") and isinstance(step.argval, str)
    }
    inside = (_names_read(const) for const in code.co_consts if isinstance(const, CodeType))
    return frozenset(names).union(*inside)
