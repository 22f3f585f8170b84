"""Defaults that changed while the names stayed: printed, or given back."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..call_sites import source_of
from ..changes import Default
from ..decisions import is_newer, is_relied_on
from ..uses import calling_frame, calling_module
from ..versions.written_for import WrittenFor
from ..wording import release
from .call import OldCall

if TYPE_CHECKING:
    from packaging.version import Version

_PARSERS = frozenset({"transformers.hf_argparser", "trl.scripts.utils"})
"""Modules that pass all fields, those that nobody gave with the current default."""

_ADVICE = "Write the values that are meant, or name the releases that the script was written for"


def complete(call: OldCall, rows: Iterable[Default], proceed: Callable[[], Any]) -> Any:
    """Call a constructor with the defaults of the release that the script was written for.

    If none is named, print which defaults have changed; `rows` has those of the class.
    """
    given = chosen(call)
    absent = [
        row
        for row in rows
        if row.name not in given
        and row.name not in call.kept
        and row.name not in call.comes_later
        and (row.kept or row.name in call.method.keywords)
    ]
    if call.written_for is not None:
        values = values_of(absent, call.written_for)
        kept = {row.name for row in absent if row.kept}
        call.kept.update({name: value for name, value in values.items() if name in kept})
        call.arguments.update({name: values[name] for name in values.keys() - kept})
        return proceed()
    result = proceed()
    value_of = functools.partial(_value, given, call.instance)
    relied_on = [row for row in absent if is_relied_on(row, (), value_of)]
    frame = calling_frame() if relied_on else None
    source = source_of(frame) if frame is not None else None
    if source is not None:
        relied_on = [row for row in relied_on if not is_newer(source.tree, row)]
    if relied_on:
        what = "; ".join(difference(row) for row in relied_on)
        message = f"{call.name}: {what}. {_ADVICE}"
        call.tell(relied_on[0], call.name, message)
    return result


def _value(given: Mapping[str, Any], instance: object, name: str) -> Any:
    return given[name] if name in given else getattr(instance, name, None)


def values_of(rows: Iterable[Default], written_for: WrittenFor) -> dict[str, Any]:
    """Return the defaults of the releases that a script was written for, where they differ."""
    return {
        row.name: value_at(row, version)
        for row in rows
        if (version := written_for.releases.get(row.library)) is not None
        and value_at(row, version) != row.values[-1][1]
    }


def value_at(row: Default, version: Version) -> Any:
    from packaging.version import Version

    values = [value for since, value in row.values if Version(since) <= version]
    return values[-1] if values else row.values[0][1]


def chosen(call: OldCall) -> Mapping[str, Any]:
    """Return the arguments of a constructor without defaults that a parser filled in."""
    if calling_module() not in _PARSERS:
        return call.arguments
    known = {field.name: field for field in dataclasses.fields(call.instance)}
    return {
        name: value
        for name, value in call.arguments.items()
        if name not in known or value != known[name].default
    }


def difference(row: Default) -> str:
    """Say what a default was and is: `beta was 0.04 until TRL 0.19.0 and is 0.0`."""
    was = ", ".join(
        f"{value!r} until {release(f'{row.library} {next_release}')}"
        for (_, value), (next_release, _) in zip(row.values, row.values[1:], strict=False)
    )
    return f"{row.name} was {was} and is {row.values[-1][1]!r}"
