"""Compare a patch with the matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from patchkit.matrix.evidence import sightings
from patchkit.matrix.records import Matrix
from patchkit.patch import Patch

from .contradictions import contradictions
from .ranges import measured_ranges


@dataclass(frozen=True)
class Check:
    """The claims of a patch beside the measurements.

    Args:
        id: of the patch.
        claims: distribution to the range in the patch.
        derived: distribution to the measured range; empty if no measured release is affected.
        measured: whether there is a measurement that tells.
        contradictions: how the two differ, in sentences.
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
    """Compare the claims of a patch with the measurements."""
    return Check(
        patch.id,
        patch.affects,
        measured_ranges(patch, matrix),
        bool(sightings(patch, matrix)),
        tuple(contradictions(patch, matrix)),
    )
