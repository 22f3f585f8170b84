"""Scripts on disk, and versions that stand for what is installed."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from patchkit.modernize.history import History, shipped
from patchkit.modernize.wanted import ScriptWants, wanted
from patchkit.modernize.wanted.source import python_text

SETS = Path(__file__).parents[2] / "version_sets"


@pytest.fixture(scope="session")
def pins() -> Callable[[str], dict[str, str]]:
    """Return the versions of a set: `1.16`, or that of an era."""

    def read(name: str) -> dict[str, str]:
        files = (SETS / "eras" / f"{name}.txt", SETS / f"{name}.txt")
        text = next(file.read_text() for file in files if file.exists())
        return dict(line.split("==") for line in text.split() if "==" in line)

    return read


@pytest.fixture(scope="session")
def history() -> History:
    return shipped()


@pytest.fixture
def script(tmp_path) -> Callable[..., Path]:
    """Write a script."""

    def write(text: str, name: str = "train.py") -> Path:
        path = tmp_path / name
        path.write_text(textwrap.dedent(text))
        return path

    return write


@pytest.fixture
def look(script, history, pins) -> Callable[..., ScriptWants]:
    """Find out what a script wants, as it is or on a set of versions."""

    def examine(text: str, on: str = "1.16") -> ScriptWants:
        path = text if isinstance(text, Path) else script(text)
        found = wanted(python_text(path), history, pins(on))
        assert found is not None
        return found

    return examine
