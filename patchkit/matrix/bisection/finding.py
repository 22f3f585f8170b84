"""What a bisection of a patch over version sets found out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...environment import in_range
from ...patch import Patch
from ...wording import listed
from ..ranges import range_of
from ..sets import VersionSet
from .search import Borders, borders

if TYPE_CHECKING:
    from packaging.version import Version


@dataclass(frozen=True)
class Measurement:
    """What came of one version set.

    Args:
        version_set: the set.
        release: version of the patch's library in it.
        outcome: one of `patchkit.matrix.OUTCOMES`; `not measured` where there is none.
        note: what happened, in a line.
        shows: whether the bug is there; None where that cannot be told.
        seconds: that it took.
    """

    version_set: str
    release: str
    outcome: str
    note: str
    shows: bool | None
    seconds: float


@dataclass(frozen=True)
class Bisected:
    """What a bisection found out.

    Args:
        patch: the patch.
        releases: its library's releases that version sets pin, in their order.
        states: place of each release that was measured to whether it is affected; None where that
            cannot be told.
        measurements: in the order in which they were made.
        left_out: sets that were not asked, since another library is not as the patch claims.
    """

    patch: Patch
    releases: Sequence[str]
    states: dict[int, bool | None]
    measurements: Sequence[Measurement]
    left_out: Sequence[VersionSet] = field(default=())

    @property
    def borders(self) -> Borders:
        return borders(self.states)

    @property
    def range(self) -> str:
        """The range that was measured; empty where no release is affected."""
        return range_of(self._known())

    @property
    def agrees(self) -> bool:
        """Whether the patch claims what was measured, and nothing that was measured otherwise."""
        claim = self.patch.affects[self.patch.library]
        known = self._known()
        return any(known.values()) and all(
            in_range(str(version), claim) is shows for version, shows in known.items()
        )

    def _known(self) -> dict[Version, bool]:
        from packaging.version import Version

        return {
            Version(self.releases[place]): shows
            for place, shows in self.states.items()
            if shows is not None
        }

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": 1,
            "patch": self.patch.id,
            "library": self.patch.library,
            "claims": self.patch.affects[self.patch.library],
            "agrees": self.agrees,
            "range": self.range,
            **{
                name: None if place is None else self.releases[place]
                for name, place in vars(self.borders).items()
            },
            "measured": [vars(one) for one in self.measurements],
            "left_out": [one.name for one in self.left_out],
        }

    def __str__(self) -> str:
        library, at = self.patch.library, self.borders
        if at.first is None or at.last is None:
            found = f"no {library} that could be measured is affected"
        else:
            older = "the oldest measured" if at.before is None else self._is_not(at.before)
            newer = "the newest measured" if at.after is None else self._is_not(at.after)
            found = (
                f"the first affected {library} is {self.releases[at.first]} ({older}), "
                f"the last {self.releases[at.last]} ({newer})"
            )
        return "\n".join([f"{found[0].upper()}{found[1:]}.", f"{self._verdict()}.", *self._gaps()])

    def _verdict(self) -> str:
        library = self.patch.library
        claim = f"{self.patch.id} claims {library} {self.patch.affects[library]}".strip()
        if self.agrees:
            return f"{claim}, which agrees"
        if self.range:
            return f"{claim}; what was measured backs {library} {self.range}"
        if self._known():
            return f"{claim}: retire the patch, or mend its reproducer"
        return f"{claim}: nothing could be measured"

    def _is_not(self, place: int) -> str:
        return f"{self.releases[place]} is not"

    def _gaps(self) -> list[str]:
        """What is not known, line by line."""
        library = self.patch.library
        holes = self._holes()
        silent = [self.releases[place] for place, shows in self.states.items() if shows is None]
        lines = []
        if holes:
            lines.append(f"Between them are not affected: {library} {listed(holes, shown=9)}.")
        if silent:
            lines.append(f"Could not be told: {library} {listed(silent, shown=9)}.")
        if self.left_out:
            names = listed((one.name for one in self.left_out), shown=9)
            lines.append(f"Left out, for another library is not as the patch claims: {names}.")
        return lines

    def _holes(self) -> list[str]:
        at = self.borders
        return [
            self.releases[place]
            for place, shows in self.states.items()
            if shows is False and at.first is not None and at.last is not None
            if at.first < place < at.last
        ]
