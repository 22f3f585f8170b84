"""The report of what patchkit did in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ..errors import UnknownPatchError

TYPE_CHECKING = False  # this is imported where nothing else of patchkit is yet
if TYPE_CHECKING:
    from typing import Any, overload

    from ..patch import Status
    from .legacy import LegacyReport
    from .record import PatchRecord
    from .text import PrintedReport

    Writer = Callable[[], tuple[list[PatchRecord], tuple[str, ...]]]

SCHEMA = 1
"""Version of the JSON. Within one, keys may be added; none is removed or changes its meaning."""


class Report(Sequence["PatchRecord"]):
    """All patches of the catalogue, with the status of each.

    A sequence of records, and a mapping of them by id: `report["trl-adapter-bf16-cast"]`.

    Args:
        records: one for each patch.
        changed: the ids of the patches that the call which returned this report changed.
        legacy: what the legacy layer did; None if it is off.
        refusals: why the environment lets no call of `apply` succeed, one sentence each.
    """

    def __init__(
        self,
        records: Iterable[PatchRecord],
        changed: tuple[str, ...] = (),
        legacy: LegacyReport | None = None,
        refusals: tuple[str, ...] = (),
    ) -> None:
        self._by_id = {record.id: record for record in records}
        self._changed = changed
        self._write: Writer | None = None
        self.legacy = legacy
        self.refusals = refusals

    @classmethod
    def later(cls, write: Writer) -> Report:
        """Return a report that is written, by this function, when someone reads it."""
        report = cls(())
        report._write = write
        return report

    @property
    def is_written(self) -> bool:
        return self._write is None

    def write(self) -> None:
        """Fill in the records, if that was left for later."""
        write = self._write  # another thread may be writing it
        if write is not None:
            records, self._changed = write()
            self._by_id = {record.id: record for record in records}
            self._write = None

    @property
    def _records(self) -> dict[str, PatchRecord]:
        self.write()
        return self._by_id

    @property
    def changed(self) -> tuple[str, ...]:
        self.write()
        return self._changed

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, key: int | str) -> PatchRecord: ...
        @overload
        def __getitem__(self, key: slice) -> list[PatchRecord]: ...

    def __getitem__(self, key: int | str | slice) -> PatchRecord | list[PatchRecord]:
        if isinstance(key, str):
            try:
                return self._records[key]
            except KeyError:
                known = ", ".join(self._records)
                raise UnknownPatchError(
                    f"no patch {key!r} in this report; it has {known}"
                ) from None
        return list(self._records.values())[key]

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[PatchRecord]:
        return iter(self._records.values())

    def __contains__(self, key: object) -> bool:
        return any(key == record.id or key == record for record in self)

    def keys(self) -> list[str]:
        return list(self._records)

    def with_status(self, *statuses: Status | str) -> list[PatchRecord]:
        """Return the records that have one of these statuses."""
        from .record import with_status

        return with_status(self, *statuses)

    def summary(self) -> str:
        """Return the number of patches by status, in one line."""
        counts: dict[str, int] = {}
        for record in self:
            counts[record.status.value] = counts.get(record.status.value, 0) + 1
        return ", ".join(f"{number} {status}" for status, number in counts.items()) or "no patches"

    def diff(self) -> str:
        """Return the diffs of all patches that are applied."""
        return "".join(record.diff() for record in self.with_status("applied", "overridden"))

    def to_dict(self) -> dict[str, Any]:
        from ..environment import cached_lookups

        with cached_lookups():
            return {
                "schema": SCHEMA,
                "changed": list(self.changed),
                "patches": [record.to_dict() for record in self],
                "legacy": self.legacy.to_dict() if self.legacy else None,
                "refusals": list(self.refusals),
            }

    def to_json(self, *, indent: int | None = 2) -> str:
        import json

        return json.dumps(self.to_dict(), indent=indent)

    def __str__(self) -> str:
        from .text import as_text

        return as_text(self, self.legacy, self.refusals)

    def __rich__(self) -> PrintedReport:
        from .text import PrintedReport

        return PrintedReport(self, self.legacy, self.refusals)

    def __repr__(self) -> str:
        return f"<Report: {self.summary()}>"

    def _repr_html_(self) -> str:
        from .notebook import as_html

        return as_html(self, self.legacy, self.refusals)
