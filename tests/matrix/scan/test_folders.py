"""Wheels and trees that are handed over, and what is remembered of them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from patchkit.errors import UsageError
from patchkit.matrix.records import ScanError
from patchkit.matrix.scan import workers
from patchkit.matrix.scan.wheels import write_sources

from .conftest import patch, write_wheel

TRAINER = "class Trainer:\n    def run(self):\n        return bug()\n"


def unpack(wheel: Path, folder: Path) -> Path:
    with zipfile.ZipFile(wheel) as opened:
        opened.extractall(folder)
    return folder


def test_an_unpacked_tree(tmp_path: Path, scanned) -> None:
    tree = unpack(write_wheel(tmp_path, {"trainer": TRAINER}, "1.7"), tmp_path / "tree")
    found = scanned(tree, patch())
    assert [(scan.version, scan.states) for scan in found.scans] == [
        ("1.7", {"madeup-bug": "matches"})
    ]
    assert not found.recordable
    (tree / "madeup" / "trainer.py").write_text(TRAINER.replace("bug()", "other()"))
    assert scanned(tree, patch()).scans[0].states == {"madeup-bug": "drifted"}


def test_a_tree_that_does_not_say_its_version(tmp_path: Path, scanned) -> None:
    tree = unpack(write_wheel(tmp_path, {"trainer": TRAINER}), tmp_path / "tree")
    for file in (tree / "madeup-1.0.dist-info").iterdir():
        file.unlink()
    (tree / "madeup-1.0.dist-info").rmdir()
    with pytest.raises(UsageError, match="does not say which version of madeup it has"):
        scanned(tree, patch())
    (one,) = scanned(tree, patch(), versions="==1.5").scans
    assert (one.version, one.states) == ("1.5", {"madeup-bug": "matches"})


def test_wheels_that_are_none(tmp_path: Path, scanned) -> None:
    folder = tmp_path / "wheels"
    good = write_wheel(folder, {"trainer": TRAINER}, "1.0")
    (folder / "madeup-1.1-py3-none-any.whl").write_bytes(good.read_bytes()[:200])
    with zipfile.ZipFile(folder / "madeup-1.2-py3-none-any.whl", "w") as empty:
        empty.writestr("other/__init__.py", "")
    (folder / "no-wheel.whl").touch()
    found = scanned(folder, patch())
    assert [scan.version for scan in found.scans] == ["1.0", "1.1", "1.2"]
    problems = [scan.problem for scan in found.scans]
    assert problems[0] == ""
    assert "madeup-1.1-py3-none-any.whl does not unpack: " in problems[1]
    assert problems[2] == "madeup-1.2-py3-none-any.whl has no package madeup"
    assert found.recordable


def test_a_file_whose_content_is_damaged(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path, {"trainer": TRAINER})
    wheel.write_bytes(wheel.read_bytes().replace(b"bug()", b"gub()"))
    with pytest.raises(ScanError, match=r"does not unpack: Bad CRC-32 .*trainer\.py"):
        write_sources(wheel, tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


def test_folders_that_python_would_not_import(tmp_path: Path, scanned) -> None:
    wheel = write_wheel(tmp_path / "wheels", {"trainer": TRAINER})
    with zipfile.ZipFile(wheel, "a") as more:
        more.writestr("madeup/v1.old/other.py", TRAINER)
    assert scanned(tmp_path / "wheels", patch()).scans[0].unlisted == {}


def test_a_folder_with_nothing(tmp_path: Path, scanned) -> None:
    with pytest.raises(UsageError, match="neither wheels nor packages of madeup"):
        scanned(tmp_path, patch())
    with pytest.raises(ScanError, match="has no package of madeup"):
        scanned(tmp_path, patch(), libraries=["madeup"])
    with pytest.raises(UsageError, match="no patch fixes nothing; there are patches of madeup"):
        scanned(tmp_path, patch(), libraries=["nothing"])


class Looked(list[str]):
    """The modules that were looked at."""


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> Looked:
    seen, original = Looked(), workers.facts

    def facts(module, content, questions):
        if content == b"interrupt\n":
            raise KeyboardInterrupt
        seen.append(module)
        return original(module, content, questions)

    monkeypatch.setattr(workers, "facts", facts)
    return seen


def test_what_was_looked_at_is_not_looked_at_again(tmp_path: Path, scanned, looked) -> None:
    folder = tmp_path / "wheels"
    write_wheel(folder, {"trainer": TRAINER, "other": "a = 1\n"}, "1.0")
    write_wheel(folder, {"trainer": TRAINER, "other": "a = 2\n"}, "1.1")
    first = scanned(folder, patch())
    # The second release has one file of its own.
    assert sorted(looked) == ["madeup", "madeup.other", "madeup.other", "madeup.trainer"]
    looked.clear()
    assert scanned(folder, patch()) == first
    assert looked == []
    scanned(folder, patch(affects=">=1,<2"))  # when it is due is no matter of what stands there
    assert looked == []
    scanned(folder, patch(id="madeup-another"))
    assert len(looked) == 4


def test_an_interrupted_scan_goes_on_where_it_was(tmp_path: Path, scanned, looked) -> None:
    folder = tmp_path / "wheels"
    write_wheel(folder, {"trainer": TRAINER}, "1.0")
    write_wheel(folder, {"trainer": "interrupt\n"}, "1.1")
    with pytest.raises(KeyboardInterrupt):
        scanned(folder, patch())
    looked.clear()
    write_wheel(folder, {"trainer": TRAINER.replace("run", "go")}, "1.1")
    found = scanned(folder, patch())
    assert looked == ["madeup.trainer"]
    assert [scan.states["madeup-bug"] for scan in found.scans] == ["matches", "drifted"]


def test_a_damaged_memory_is_none(tmp_path: Path, scanned, looked) -> None:
    write_wheel(tmp_path / "wheels", {"trainer": TRAINER})
    first = scanned(tmp_path / "wheels", patch())
    (file,) = (tmp_path / "cache" / "facts").rglob("*.json")
    for damaged in ("", "{", "[]", '{"a": 1}', '{"a": {"found": 1}}'):
        file.write_text(damaged)
        looked.clear()
        assert scanned(tmp_path / "wheels", patch()) == first
        assert len(looked) == 2


def test_only_these_patches(tmp_path: Path, scanned) -> None:
    wheel = write_wheel(tmp_path / "wheels", {"trainer": TRAINER})
    both = patch(), patch(id="madeup-other")
    assert scanned(wheel.parent, *both).scans[0].states.keys() == {"madeup-bug", "madeup-other"}
    assert scanned(wheel.parent, *both, ids="*-bug").scans[0].states == {"madeup-bug": "matches"}
