"""The releases that scripts are written for."""

from __future__ import annotations

import pytest

from patchkit.errors import UsageError
from patchkit.legacy.changes import Moved
from patchkit.modernize import target
from patchkit.modernize.target import due_for


def moved(to: str | None) -> set[str]:
    return {row.name for row in due_for(to).of(Moved)}


def test_the_named_release_counts() -> None:
    assert "trl.ORPOTrainer" in moved("trl==0.29.0")
    assert "trl.ORPOTrainer" not in moved("trl==0.28.0")


def test_what_is_installed_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target, "readable_version", {"trl": "0.28.0"}.get)
    assert "trl.ORPOTrainer" not in moved(None)
    assert "trl.ORPOTrainer" not in moved("transformers==5.23.0")


def test_the_newest_counts_where_nothing_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target, "readable_version", lambda library: None)
    assert {"trl.ORPOTrainer", "transformers.AdamW"} <= moved(None)


def test_an_installed_version_that_does_not_parse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("patchkit.environment.installed_version", {"peft": "of-today"}.get)
    sentence = "'of-today' is not a version; reinstall peft, or name its release: --to peft==0"
    with pytest.raises(UsageError, match=sentence):
        due_for(None)
    assert due_for("peft==0.21.2")


@pytest.mark.parametrize(
    ("to", "message"),
    [
        ("trl", "--to 'trl' names no versions in 'trl'; write them as 'trl==0.11.4, "),
        ("vllm==0.6", "--to 'vllm==0.6' names vllm, of which patchkit knows no changes"),
        ("trl==new", "'new' is not a version of trl"),
        ("trl==1.2.9", "--to 'trl==1.2.9': there never was TRL 1.2.9; the release before is 1.2.0"),
        ("trl==99.0", "TRL 99.0 is newer than 1.16.0, the newest that patchkit's table knows"),
        ("trl==0.1.0", "TRL 0.1.0 is older than patchkit's table"),
        ("trl==1.0.0, trl==1.1.0", "names two versions of trl, 1.0.0 and 1.1.0; keep one"),
        ("", "names no versions in ''"),
    ],
)
def test_what_makes_no_sense(to: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        due_for(to)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
