"""An installation made of nothing but metadata: folders `NAME-VERSION.dist-info` on `sys.path`."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

# What is imported when it is needed must be there before site-packages are out of sight.
import packaging.requirements
import packaging.specifiers
import pytest
import rich.console
import rich.text
import yaml

from patchkit.engine.session import SESSION

from ...installed import distribution

assert packaging.specifiers
assert packaging.requirements
assert rich.console
assert rich.text
assert yaml


class Installation:
    """What is installed, as far as metadata tell."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(
        self, name: str, version: str, requires: Iterable[str] = (), *, points: str = ""
    ) -> None:
        entry_points = {"entry_points.txt": points} if points else {}
        distribution(self.folder, name, version, *requires, **entry_points)


@pytest.fixture
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installation:
    """An empty installation, whatever is installed for the tests, and no variables of patchkit."""
    assert SESSION.catalogue  # the patches import what is on the path now
    for name in [name for name in os.environ if name.upper().startswith("PATCHKIT")]:
        monkeypatch.delenv(name)
    folder = tmp_path / "site"
    folder.mkdir()
    standard = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
    rest = [folder for folder in sys.path if folder in standard or folder.endswith("lib-dynload")]
    monkeypatch.setattr(sys, "path", [str(folder), *rest])
    return Installation(folder)
