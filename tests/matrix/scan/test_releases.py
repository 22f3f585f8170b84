"""Which releases are scanned, and what is said of those that cannot be had; pip itself is asked."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from patchkit.errors import UsageError
from patchkit.matrix.records import ScanError
from patchkit.matrix.scan import releases
from patchkit.matrix.scan.run import scan
from patchkit.matrix.scan.wheels import Wheel
from patchkit.patch import Rewrite

from .conftest import RULE, catalogue_of, patch, write_wheel

needs_pip = pytest.mark.skipif(importlib.util.find_spec("pip") is None, reason="there is no pip")
RELEASED = ["0.9", "1.0", "1.1", "2.0rc1", "2.0", "2.1", "3.0.dev1"]
TRAINER = {"trainer": "class Trainer:\n    def run(self):\n        return bug()\n"}


@pytest.mark.parametrize(
    ("affects", "wanted", "expected"),
    [
        ([">=1"], "", ["1.0", "1.1", "2.0", "2.1"]),
        ([">=1.1"], "", ["1.1", "2.0", "2.1"]),
        ([">=1,<2"], "", ["1.0", "1.1", "2.0"]),
        (["<1"], "", ["0.9", "1.0"]),
        (["<1", ">=2.1"], "", ["0.9", "1.0", "1.1", "2.0", "2.1"]),
        ([">=4"], "", []),
        ([">=4"], ">=2", ["2.0", "2.1"]),
        ([">=4"], ">=2.0rc1", ["2.0rc1", "2.0", "2.1", "3.0.dev1"]),
        ([">=4"], "==2.0rc1", ["2.0rc1"]),
        ([">=4"], ">=9", []),
    ],
)
def test_releases_in_question(affects: list[str], wanted: str, expected: list[str]) -> None:
    patches = [patch(id=f"madeup-{n}", affects=claims) for n, claims in enumerate(affects)]
    assert releases.selected_releases(RELEASED, patches, wanted) == expected
    assert releases.selected_releases(RELEASED, patches, wanted, newest=True) == expected[-1:]


def test_a_range_that_is_none() -> None:
    with pytest.raises(UsageError, match="'newest' is not a version range"):
        releases.selected_releases(RELEASED, [patch()], "newest")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package index in a folder, the only one that pip knows."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_INDEX_URL", folder.as_uri())
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    return folder


def publish(index: Path, *files: Path, yanked: str = "") -> None:
    page = index / "madeup" / "index.html"
    page.parent.mkdir(exist_ok=True)
    links = page.read_text() if page.exists() else "<!DOCTYPE html><html><body>"
    for file in files:
        mark = f' data-yanked="{yanked}"' if yanked else ""
        links += f'<a href="{file.as_uri()}"{mark}>{file.name}</a>'
    page.write_text(links)


def states(found) -> dict[str, str]:
    return {scan.version: scan.states.get("madeup-bug", scan.problem) for scan in found.scans}


@needs_pip
def test_from_the_index(index: Path, tmp_path: Path) -> None:
    wheels = [write_wheel(tmp_path, TRAINER, version) for version in ("0.9", "1.0", "1.1")]
    publish(index, *wheels)
    publish(index, write_wheel(tmp_path, TRAINER, "1.2"), yanked="wrong file")
    publish(index, tmp_path / "madeup-1.3.tar.gz")
    bad = tmp_path / "madeup-1.4-py3-none-any.whl"
    bad.write_bytes(b"PK no wheel at all")
    publish(index, bad)
    cache = tmp_path / "cache"
    found = scan(catalogue=catalogue_of(patch()), cache=cache)
    said = states(found)
    assert list(said) == ["1.0", "1.1", "1.2", "1.3", "1.4"]
    assert set(list(said.values())[:3]) == {"matches"}
    assert said["1.3"] == "the package index has no wheel of madeup 1.3 for this platform"
    assert "1.4" in said["1.4"] or "not be downloaded" in said["1.4"]
    assert [scan.notes for scan in found.scans if scan.notes] == [{"*": "yanked"}]
    assert found.gaps == {}
    kept = sorted(file.name for file in (cache / "sources").iterdir())
    assert kept == [f"madeup-{version}.sources.zip" for version in ("1.0", "1.1", "1.2")]
    # Nothing is fetched again.
    for wheel in wheels:
        wheel.unlink()
    assert states(scan(catalogue=catalogue_of(patch()), cache=cache, versions="<1.2,>=1")) == {
        "1.0": "matches",
        "1.1": "matches",
    }


@needs_pip
def test_a_library_that_the_index_does_not_know(index: Path, tmp_path: Path) -> None:
    with pytest.raises(ScanError, match="the package index has no madeup"):
        scan(catalogue=catalogue_of(patch()), cache=tmp_path / "cache")
    publish(index, write_wheel(tmp_path, TRAINER))
    other = patch(Rewrite("other:f", RULE), id="other-bug", affects={"other": ""})
    found = scan(catalogue=catalogue_of(patch(), other), cache=tmp_path / "cache")
    assert states(found) == {"1.0": "matches"}
    assert found.gaps == {"other": "the package index has no other, or no release of it"}


@needs_pip
def test_no_release_in_the_range(index: Path, tmp_path: Path) -> None:
    publish(index, write_wheel(tmp_path, TRAINER))
    with pytest.raises(ScanError, match="no release of madeup lies in '>=9'"):
        scan(catalogue=catalogue_of(patch()), versions=">=9", cache=tmp_path / "cache")


@needs_pip
def test_without_a_network(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(index, write_wheel(tmp_path, TRAINER))
    cache = tmp_path / "cache"
    scan(catalogue=catalogue_of(patch()), cache=cache)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    found = scan(catalogue=catalogue_of(patch()), cache=cache)
    assert states(found) == {"1.0": "matches"}
    assert "the package index was not reached" in found.gaps["madeup"]
    with pytest.raises(ScanError, match="the package index was not reached"):
        scan(catalogue=catalogue_of(patch()), cache=tmp_path / "another")


def test_without_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho "$0: No module named pip" >&2\nexit 1\n')
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    with pytest.raises(ScanError, match="this environment has none: install it"):
        scan(catalogue=catalogue_of(patch()), cache=tmp_path / "cache")


def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(ScanError, match="choose another folder with --cache"):
        Wheel(tmp_path / "cache", "madeup", "1.0").fetch()
