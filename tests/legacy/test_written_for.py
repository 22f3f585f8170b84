"""The releases that a script was written for."""

from __future__ import annotations

import pytest

from patchkit import UsageError
from patchkit.legacy.changes import Change, Default
from patchkit.legacy.converting.defaults import value_at, values_of
from patchkit.legacy.rows import all_rows
from patchkit.legacy.versions import due, written_for
from patchkit.legacy.versions.releases import releases
from patchkit.legacy.versions.written_for import parse

INSTALLED = {"trl": "1.16.0", "transformers": "5.23.0", "peft": "0.21.2", "accelerate": "1.15.0"}


@pytest.fixture(autouse=True)
def newest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(written_for, "known_release", INSTALLED.get)


def test_what_is_named_and_what_was_run_with_it() -> None:
    both = parse("trl==0.11.4, transformers==4.45.0")
    assert str(both.releases["trl"]) == "0.11.4"
    assert str(both.releases["transformers"]) == "4.45.0"
    assert str(both.releases["peft"]) == "0.12.0"
    assert str(parse("trl==0.12.2").releases["transformers"]) == "4.46.3"
    assert str(parse(" transformers == 4.44.2 ").releases["trl"]) == "0.11.4"


def test_before_a_release() -> None:
    script = parse("trl==0.11.4")
    assert script.precedes("trl 0.12.0")
    assert not script.precedes("trl 0.11.4")
    assert not script.precedes("unheard 1.0.0")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("trl=0.11", "names no versions in 'trl=0.11'; write them as 'trl==0.11.4, "),
        ("trl==0.11.4,", "names no versions in ''"),
        ("vllm==0.6", "names vllm, of which patchkit knows no changes; it knows those of trl, "),
        ("trl==latest", "'latest' is not a version of trl"),
        ("trl==0.11.4, trl==0.12.0", "names two versions of trl, 0.11.4 and 0.12.0"),
        ("trl==0.6.0", "TRL 0.6.0 is older than patchkit's table, which begins with 0.7.0"),
        ("transformers==4.35.2", "Transformers 4.35.2 is older than patchkit's table"),
        ("trl==2.0", "TRL 2.0 is newer than the installed 1.16.0"),
        ("trl==0.11.9", "there never was TRL 0.11.9; the release before is 0.11.4"),
    ],
)
def test_what_makes_no_sense(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_withdrawn_and_early_releases() -> None:
    assert "4.46.0" in releases()["transformers"]
    assert str(parse("transformers==5.0.0rc1").releases["transformers"]) == "5.0.0rc1"


def _row(owner: str, name: str) -> Default:
    return next(
        row
        for row in all_rows()
        if isinstance(row, Default) and row.name == name and f"trl.{owner}" in row.owners
    )


@pytest.mark.parametrize(
    ("owner", "name", "values"),
    [
        ("SFTConfig", "learning_rate", {"0.11.4": 5e-5, "0.12.0": 2e-5, "1.16.0": 2e-5}),
        ("DPOConfig", "max_length", {"0.9.6": 512, "0.13.0": None, "0.16.1": 1024}),
        ("DPOConfig", "truncation_mode", {"0.28.0": "keep_end", "0.29.0": "keep_start"}),
        ("GRPOConfig", "loss_type", {"0.15.2": "grpo", "0.17.0": "bnpo", "0.22.2": "dapo"}),
        ("GRPOConfig", "beta", {"0.7.0": 0.04, "0.18.2": 0.04, "0.19.0": 0.0}),
    ],
)
def test_defaults_of_a_release(owner: str, name: str, values: dict[str, object]) -> None:
    row = _row(owner, name)
    for number, value in values.items():
        version = parse(f"trl=={number}").releases["trl"]
        assert value_at(row, version) == value


def test_defaults_that_are_todays_are_left_alone() -> None:
    row = _row("SFTConfig", "learning_rate")
    assert values_of([row], parse("trl==0.11.4")) == {"learning_rate": 5e-5}
    assert values_of([row], parse("trl==0.12.0")) == {}


def test_each_history_goes_forward() -> None:
    from packaging.version import Version

    for row in all_rows():
        if isinstance(row, Default):
            since = [Version(number) for number, _ in row.values]
            assert since == sorted(set(since))
            assert row.gone == f"{row.library} {row.values[-1][0]}"
            assert all(a[1] != b[1] for a, b in zip(row.values, row.values[1:], strict=False))


def test_of_a_library_whose_version_does_not_parse_nothing_is_due(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(due, "installed_version", {"peft": "of-today"}.get)
    assert due.Due(all_rows()).of(Change) == []
    monkeypatch.setattr(due, "installed_version", {"peft": "0.21.2"}.get)
    assert due.Due(all_rows()).of(Change)
