"""One patch compared with the matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..patch import Patch
from .contradictions import contradictions
from .evidence import sightings
from .ranges import derived
from .records import Matrix


@dataclass(frozen=True)
class Check:
    """What a patch claims, and what was measured of it.

    Args:
        id: the patch.
        claims: distribution to range, as the patch has it.
        derived: distribution to range, as measured; empty where no release looked at is affected.
        measured: whether anything was.
        contradictions: where the two differ, in sentences.
    """

    id: str
    claims: Mapping[str, str]
    derived: Mapping[str, str]
    measured: bool
    contradictions: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        return not self.contradictions

    def to_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "claims": dict(self.claims),
            "derived": dict(self.derived),
            "measured": self.measured,
            "contradictions": list(self.contradictions),
        }


def check(patch: Patch, matrix: Matrix) -> Check:
    """Compare a patch with what was measured of it."""
    return Check(
        patch.id,
        patch.affects,
        derived(patch, matrix),
        bool(sightings(patch, matrix)),
        tuple(contradictions(patch, matrix)),
    )
