"""Versions known not to work together: the list, and when a pair counts as installed."""

from __future__ import annotations

import re

import pytest

from patchkit.cli.doctor import pairs
from patchkit.cli.doctor.pairs import KNOWN, KnownPair
from patchkit.environment import in_range

PAIR = KnownPair(
    libraries={"trl": "<=0.28", "transformers": ">=5.2"},
    happens="it fails",
    do=("pip install x",),
    measured="trl 0.28.0",
)
WITHOUT = KnownPair(
    libraries={"trl": ">=1"}, without=("triton",), happens="it fails", do=("x",), measured="y"
)


@pytest.mark.parametrize("known", KNOWN, ids=lambda match: " ".join(match.libraries))
def test_the_list_is_well_formed(known: KnownPair) -> None:
    assert len(known.libraries) + len(known.without) >= 2
    for versions in known.libraries.values():
        assert re.search(r"[<>=]=?\d", versions)
        in_range("1.0", versions)
    for name in known.libraries:
        assert name == name.lower()
        assert re.search(rf"\b{re.escape(name)} \d", known.measured.lower()), name
    assert known.do
    for text in (known.happens, *known.do, known.measured):
        assert text
        assert text == text.strip()
        assert not text.endswith(".")
    assert all(len(match) <= 72 for match in known.do)


@pytest.mark.parametrize(
    ("pair", "versions", "met"),
    [
        (PAIR, {"trl": "0.28.0", "transformers": "5.23.0"}, True),
        (PAIR, {"trl": "0.28.0", "transformers": "5.1.0"}, False),
        (PAIR, {"trl": "0.29.0", "transformers": "5.23.0"}, False),
        (PAIR, {"trl": "0.28.0"}, False),
        (PAIR, {}, False),
        (WITHOUT, {"trl": "1.0"}, True),
        (WITHOUT, {"trl": "1.0", "triton": "3.9"}, False),
    ],
)
def test_when_a_pair_is_installed(
    installation, monkeypatch, pair: KnownPair, versions: dict[str, str], met: bool
) -> None:
    for name, version in versions.items():
        installation.add(name, version)
    assert [match.pair for match in pairs.installed_pairs([pair])] == [pair] * met
    monkeypatch.setattr(
        pairs, "installed_pairs", lambda: [pairs.InstalledPair(pair, versions)] * met
    )
    section = pairs.check()
    assert [step.wrong for step in section.steps] == [True] * met
    assert len(section.facts) == met
