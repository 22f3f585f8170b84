"""What goes into the matrix beside results."""

from __future__ import annotations

from patchkit.matrix.records import Environment, Matrix, Result, Unmeasured
from workbench.record.recording import unmeasured_sets
from workbench.record.sets import VersionSet

VERSIONS = {"trl": "1.16.0", "torch": "2.13.0"}
RAN = Environment({**VERSIONS, "torch": "2.13.0+cpu"}, "3.11.7", "linux", "cpu", "2026-02-03")
RESULT = Result("a-a", "fixed", RAN)
SETS = [VersionSet("1.16", VERSIONS), VersionSet("1.17", {**VERSIONS, "trl": "1.17.0"})]


def test_version_sets_without_a_result_are_named() -> None:
    assert [version_set.name for version_set in unmeasured_sets(Matrix(), SETS).unmeasured] == [
        "1.16",
        "1.17",
    ]
    (left,) = unmeasured_sets(Matrix((RESULT,)), SETS).unmeasured
    assert (left.name, left.versions["trl"]) == ("1.17", "1.17.0")
    assert left.problem == "there is no result of it"


def test_a_reason_that_is_known_stays() -> None:
    known = Unmeasured("1.17", {"trl": "1.17.0"}, "2026-02-03", "it does not install")
    assert unmeasured_sets(Matrix((RESULT,), unmeasured=(known,)), SETS) == Matrix()
