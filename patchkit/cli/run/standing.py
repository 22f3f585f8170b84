"""What is in force in a process, read off the live objects, and who replaced what."""

from __future__ import annotations

import json
import linecache
import os
import re
import sys
from collections.abc import Iterable, Iterator
from types import FunctionType, ModuleType

from ...engine.recording import broken_record, patch_record
from ...engine.session import SESSION
from ...environment import cached_lookups, distribution_of
from ...patch import Status
from ...reporting.record import PatchRecord
from ...reporting.status import TROUBLE
from ...rewrite import Drift, bind, chain
from ...text import short_list

_NAMED = 4


class Standing:
    """What is in force in one process, or in several.

    No dataclass: where Ctrl-C ends a process, to run a text makes Python forget its exit status,
    and this is imported at exit.

    Args:
        in_force: ids of patches that the live functions carry.
        waiting: ids of patches whose modules were not imported.
        wrong: ids of patches that are due and do not hold, or not everywhere.
        lines: a line for each thing that a reader should know, without its indentation.
    """

    def __init__(
        self,
        in_force: Iterable[str],
        waiting: Iterable[str],
        wrong: Iterable[str],
        lines: Iterable[str],
    ) -> None:
        self.in_force, self.waiting = frozenset(in_force), frozenset(waiting)
        self.wrong, self.lines = frozenset(wrong), tuple(lines)

    def __or__(self, other: Standing | None) -> Standing:
        """Return what is in force in both: something wrong in one of them is wrong."""
        if other is None:
            return self
        wrong = self.wrong | other.wrong
        in_force = (self.in_force | other.in_force) - wrong
        waiting = (self.waiting | other.waiting) - wrong - in_force
        lines = dict.fromkeys((*self.lines, *other.lines))
        return Standing(in_force, waiting, wrong, lines)

    def encode(self) -> str:
        """Return it as one line of JSON."""
        values = {name: sorted(getattr(self, name)) for name in ("in_force", "waiting", "wrong")}
        return json.dumps({**values, "lines": self.lines})

    @classmethod
    def decode(cls, text: str) -> Standing:
        """Read what `encode` wrote."""
        return cls(**json.loads(text))

    def __str__(self) -> str:
        number = len(self.in_force)
        heading = f"{number} patch{'' if number == 1 else 'es'} in force"
        if self.wrong:
            heading += f"; {len(self.wrong)} not, or not everywhere"
        elif self.waiting:
            heading += f"; {len(self.waiting)} more for modules that were not imported"
        return "\n  ".join([heading, *self.lines])


@cached_lookups()
def standing_here() -> Standing | None:
    """Return what stands in this process; None where no patch had anything to do."""
    records = [
        patch_record(patch.entry, patch, None)
        for patch in SESSION.armed()
        if patch.is_looked_up and patch.has_imported_package
    ]
    records = [record for record in records if record.status in _STANDS or _is_wrong(record)]
    broken = [broken_record(broken) for broken in SESSION.catalogue.broken]
    wrong = [record for record in (*records, *broken) if _is_wrong(record)]
    in_force = _ids(record for record in records if record.status is Status.APPLIED)
    if not in_force and not wrong:
        return None
    waiting = _ids(record for record in records if record.status is Status.PENDING)
    lines = (*_replaced(records), *_drifted_or_failed(wrong), *_remarks(records))
    return Standing(in_force, waiting, _ids(wrong), lines)


_STANDS = (Status.APPLIED, Status.PENDING)


def _is_wrong(record: PatchRecord) -> bool:
    return record.status in TROUBLE


def _ids(records: Iterable[PatchRecord]) -> frozenset[str]:
    return frozenset(record.id for record in records)


def _drifted_or_failed(records: Iterable[PatchRecord]) -> Iterator[str]:
    for record in records:
        if record.status is not Status.OVERRIDDEN:
            yield f"{record.id} {record.status}: {' '.join(record.reason.split())}"


def _remarks(records: Iterable[PatchRecord]) -> Iterator[str]:
    """Yield what the records say of places that are fixed."""
    for record in records:
        for target in record.targets:
            if target.status is Status.APPLIED and target.reason:
                name = target.target.partition(":")[2]
                yield f"{name}: {record.id} {target.status} {target.reason}"


def _replaced(records: Iterable[PatchRecord]) -> Iterator[str]:
    """Yield a line for each who replaced something after it was fixed."""
    patches: dict[str, list[str]] = {}
    for record in records:
        for target in record.targets:
            if target.status is Status.OVERRIDDEN:
                patches.setdefault(target.target, []).append(record.id)
    names: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for place, lost_there in patches.items():
        names.setdefault((_how(place), tuple(lost_there)), []).append(place.partition(":")[2])
    for (how, ids), places in names.items():
        lost = short_list(ids, _NAMED)
        yield f"{short_list(places, _NAMED)} {how} afterwards; not in force there: {lost}"


def _how(place: str) -> str:
    """Return the participle and its author: `replaced by swift.trainers (ms-swift 4.6.0)`."""
    module, _, qualname = place.partition(":")
    try:
        value = bind(sys.modules[module], qualname).value
    except (Drift, KeyError):
        author = _who_deletes(module, qualname)
        return f"deleted by {_whose(*author)}" if author else "deleted"
    for inner in chain(value):
        if isinstance(inner, FunctionType):
            return f"replaced by {_who_made(inner, module.partition('.')[0])}"
        if isinstance(inner, type):
            return f"replaced by {_whose(inner.__module__, '')}"
    return f"replaced by an object of type {type(value).__qualname__}"


def _who_made(function: FunctionType, package: str) -> str:
    """Return who made a function that stands in a package.

    One that was made with the globals of what it replaces may name a module of its own, and one
    that was given the name of what it replaces has other globals.
    """
    file = function.__code__.co_filename
    names = (str(function.__globals__.get("__name__", "?")), function.__module__ or "?")
    name = next((name for name in names if name.partition(".")[0] != package), names[0])
    is_copy = name.partition(".")[0] == package and not os.path.exists(file)
    return f"code of {file}" if is_copy else _whose(name, file)


def _whose(module: str, file: str) -> str:
    """Return a module with its distribution or, where it has none, the name of its file."""
    origin = distribution_of(module) or os.path.basename(file)
    return f"{module} ({origin})" if origin else module


def _who_deletes(module: str, qualname: str) -> tuple[str, str] | None:
    """Return the module of another package that says `del Class.name`, and its file."""
    path, _, name = qualname.rpartition(".")
    try:
        owner = bind(sys.modules[module], path).value
    except (Drift, KeyError):
        return None
    package = module.partition(".")[0]
    for other, loaded in list(sys.modules.items()):
        if not isinstance(loaded, ModuleType) or other.partition(".")[0] == package:
            continue
        for alias in [alias for alias, value in list(vars(loaded).items()) if value is owner]:
            file = getattr(loaded, "__file__", None) or ""
            text = "".join(linecache.getlines(file))
            if re.search(rf"""\bdel(attr\()?\s*{alias}(\.|,\s*['"]){name}\b""", text):
                return other, file
    return None
