"""Which patches are due on the installed versions."""

from __future__ import annotations

import pytest

from patchkit import PatchError, PatchWarning
from patchkit.patch import Patch, Rewrite, Status

from ..madeup_bug import BUG, TARGET, patch


@pytest.mark.parametrize(
    ("affects", "status", "reason"),
    [
        (">=1,<2", Status.APPLIED, "fixed Trainer.__init__"),
        (">=1.3", Status.NOT_AFFECTED, "madeup 1.2.0 does not have this bug; >=1.3 has"),
        ("<1.2", Status.NOT_AFFECTED, "madeup 1.2.0 does not have this bug; <1.2 has"),
    ],
)
def test_ranges(trainer, session, apply, affects: str, status: Status, reason: str) -> None:
    code = trainer().__init__.__code__
    report = apply(session(patch(affects=affects)))
    assert report["madeup-bug"].status == status
    assert report["madeup-bug"].reason == reason
    assert (trainer().__init__.__code__ is code) is (status is not Status.APPLIED)


def test_not_installed(session, apply) -> None:
    absent = Patch(
        id="absent-bug",
        title="it is fixed",
        affects={"no-such-thing": ">=1"},
        changes=(Rewrite("no_such_thing:f", BUG),),
    )
    report = apply(session(absent))
    assert report["absent-bug"].status == Status.NOT_INSTALLED
    assert report["absent-bug"].version is None


def test_a_change_may_concern_fewer_releases_than_its_patch(trainer, session, apply) -> None:
    elsewhere = Rewrite("madeup.other:f", BUG, affects=">=2")
    report = apply(session(patch("madeup-bug", Rewrite(TARGET, BUG), elsewhere)))
    assert [target.target for target in report["madeup-bug"].targets] == [TARGET]
    only_elsewhere = apply(session(patch("madeup-bug", elsewhere)))
    assert only_elsewhere["madeup-bug"].status == Status.NOT_AFFECTED


def test_range_that_does_not_parse(trainer, session, apply) -> None:
    trainer()
    one = session(patch(affects="newer than 1"))
    with pytest.warns(PatchWarning, match="'newer than 1' is not a version range"):
        report = apply(one)
    assert report["madeup-bug"].status == Status.FAILED
    with pytest.raises(PatchError, match="madeup-bug failed"):
        apply(one, strict=True)


def test_installed_version_that_does_not_parse(library, trainer, session, apply) -> None:
    trainer()
    library.release("unknown")
    with pytest.warns(PatchWarning, match="'unknown' is not a version") as warned:
        report = apply(session(patch(), patch("other-one")))
    assert len(warned) == 1
    assert str(warned[0].message).endswith("nothing is known of its bugs")
    assert report["madeup-bug"].status == Status.FAILED


def test_a_version_that_does_not_parse_warns_once_for_patches_of_two_libraries(
    library, trainer, session, apply
) -> None:
    trainer()
    library.release("unknown")
    one = session(patch(), patch("other-one"))
    with pytest.warns(PatchWarning) as warned:
        apply(one, only="madeup-bug")
        apply(one)
    assert len(warned) == 1
    one.revert(None)
    with pytest.warns(PatchWarning, match="'unknown' is not a version"):
        apply(one)


@pytest.mark.parametrize(
    ("version", "affects", "due"),
    [("0.27.0rc1", ">=0.27", True), ("0.27.0rc1", "<0.27", False), ("2.0.0.dev0", ">=2", True)],
)
def test_a_pre_release_counts_as_its_release(
    library, trainer, session, apply, version: str, affects: str, due: bool
) -> None:
    library.release(version)
    record = apply(session(patch(affects=affects)))["madeup-bug"]
    assert (record.status is Status.PENDING) is due
