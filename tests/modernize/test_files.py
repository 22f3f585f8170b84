"""Files are found, read and replaced."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from patchkit.modernize import files
from patchkit.modernize.errors import ScriptError
from patchkit.modernize.files import load, modernized, replace, scripts

OLD = "from trl import ORPOTrainer"
NEW = "from trl.experimental.orpo import ORPOTrainer"


def written(path: Path, content: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_scripts_in_folders(tmp_path: Path) -> None:
    for name in (
        "b.py",
        "a.py",
        "sub/c.PY",
        "notes.txt",
        ".hidden.py",
        "__pycache__/d.py",
        ".git/e.py",
    ):
        written(tmp_path / name, "x = 1\n")
    written(tmp_path / "env" / "pyvenv.cfg", "")
    written(tmp_path / "env" / "lib" / "f.py", "")
    found = [
        path.relative_to(tmp_path).as_posix() for path in scripts([tmp_path, tmp_path / "a.py"])
    ]
    assert [name for name in found if name.lower().endswith(".py")] == ["a.py", "b.py", "sub/c.PY"]


@pytest.mark.parametrize(
    ("name", "message"),
    [("none.py", "there is no "), ("a.txt", "is no script that patchkit reads; it reads .py")],
)
def test_what_is_no_script(tmp_path: Path, name: str, message: str) -> None:
    written(tmp_path / "a.txt", "")
    with pytest.raises(ScriptError, match=message):
        list(scripts([tmp_path / name]))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"\ufeff{OLD}\r\n".encode(), f"\ufeff{NEW}\r\n".encode()),
        (
            f"# coding: latin-1\n# ä\n{OLD}\n".encode("latin-1"),
            f"# coding: latin-1\n# ä\n{NEW}\n".encode("latin-1"),
        ),
        (f"{OLD}".encode(), f"{NEW}".encode()),
        (f"\t\n{OLD}\n\x0c\n".encode(), f"\t\n{NEW}\n\x0c\n".encode()),
    ],
)
def test_bytes(tmp_path: Path, newest, before: bytes, after: bytes) -> None:
    path = written(tmp_path / "a.py", before)
    path.chmod(0o751)
    source = load(path)
    replace(source, modernized(source, newest).text)
    assert path.read_bytes() == after
    assert path.stat().st_mode & 0o777 == 0o751
    assert os.listdir(tmp_path) == ["a.py"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe\x00", "is no text"),
        (b"# coding: nonsense\n", "is no text: unknown encoding"),
        (b"a\x00b\n", "is no text: it has null bytes"),
    ],
)
def test_what_is_no_text(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(ScriptError, match=message) as caught:
        load(written(tmp_path / "a.py", content))
    assert "\n" not in str(caught.value)


def test_a_script_that_does_not_parse(tmp_path: Path, newest) -> None:
    with pytest.raises(ScriptError, match=r"a\.py: line 1: no Python source"):
        modernized(load(written(tmp_path / "a.py", "def\n")), newest)


def test_a_mistake_of_patchkit(tmp_path: Path, newest, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise IndexError("no such node")

    monkeypatch.setattr(files, "_modernized", fail)
    path = tmp_path / "a.py"
    path.write_text("import trl\n")
    with pytest.raises(ScriptError, match=r"a\.py is left alone: .* IndexError: no such node; pl"):
        modernized(load(path), newest)


def test_a_file_that_changed_meanwhile(tmp_path: Path) -> None:
    path = written(tmp_path / "a.py", OLD)
    source = load(path)
    path.write_text("other")
    with pytest.raises(
        ScriptError, match="was changed by somebody else meanwhile; nothing was written"
    ):
        replace(source, NEW)
    assert path.read_text() == "other"
    assert os.listdir(tmp_path) == ["a.py"]


def test_a_file_that_is_read_only(tmp_path: Path) -> None:
    path = written(tmp_path / "a.py", OLD)
    path.chmod(0o444)
    with pytest.raises(ScriptError, match="is read-only; nothing was written"):
        replace(load(path), NEW)
    assert path.read_text() == OLD


def test_a_letter_that_the_encoding_lacks(tmp_path: Path) -> None:
    source = load(written(tmp_path / "a.py", "# coding: latin-1\n"))
    with pytest.raises(ScriptError, match="which lacks a letter"):
        replace(source, "# coding: latin-1\n# …\n")


def test_a_disk_that_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    path = written(tmp_path / "a.py", OLD)
    source = load(path)
    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(
        ScriptError, match="cannot be written: No space left on device; it is as it was"
    ):
        replace(source, NEW)
    assert path.read_text() == OLD
    assert os.listdir(tmp_path) == ["a.py"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    path = written(tmp_path / "real" / "a.py", OLD)
    link = tmp_path / "a.py"
    link.symlink_to(path)
    replace(load(link), NEW)
    assert link.is_symlink()
    assert path.read_text() == NEW
