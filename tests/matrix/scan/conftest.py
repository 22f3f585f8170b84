"""A made-up library in wheels, and the patches of it."""

from __future__ import annotations

import textwrap
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from patchkit.catalogue.entries import Catalogue, Entry
from patchkit.matrix.records import Scan
from patchkit.matrix.scan.run import ScanResult, scan
from patchkit.patch import Change, Patch, Rewrite
from patchkit.rewrite import Pattern, Rule, replace

RULE = Rule(Pattern("bug()"), lambda node: [replace(node, "fixed()")], names=("bug",))
TARGET = "madeup.trainer:Trainer.run"


def patch(*changes: Change, affects: str | dict[str, str] = ">=1", **more: Any) -> Patch:
    known: dict[str, Any] = {
        "id": "madeup-bug",
        "title": "it is fixed",
        "affects": {"madeup": affects} if isinstance(affects, str) else affects,
        "changes": changes or (Rewrite(TARGET, RULE),),
    }
    return Patch(**{**known, **more})


def catalogue_of(*patches: Patch) -> Catalogue:
    return Catalogue({patch.id: Entry(patch, __name__, None) for patch in patches})


def write_wheel(
    folder: Path, modules: Mapping[str, str], version: str = "1.0", name: str = "madeup"
) -> Path:
    """A wheel of a distribution with one package of that name."""
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(wheel, "w") as new:
        new.writestr(f"{name}/__init__.py", "")
        for module, text in modules.items():
            new.writestr(f"{name}/{module.replace('.', '/')}.py", textwrap.dedent(text))
        new.writestr(f"{name}/data.bin", "not needed")
        new.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
        new.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any"
        )
        new.writestr(f"{info}/RECORD", "")
    return wheel


@pytest.fixture
def scanned(tmp_path: Path) -> Callable[..., ScanResult]:
    """`scanned(folder, patch, …)`: a scan of a folder."""

    def run(folder: Path, *patches: Patch, **options: Any) -> ScanResult:
        return scan(
            folder=folder, catalogue=catalogue_of(*patches), cache=tmp_path / "cache", **options
        )

    return run


@pytest.fixture
def scanned_module(tmp_path: Path, scanned) -> Callable[..., Scan]:
    """`scanned_module(text, patch, version="1.0")`: the scan of one `madeup.trainer`."""

    def run(text: str, *patches: Patch, version: str = "1.0", **modules: str) -> Scan:
        write_wheel(tmp_path / "wheels", {"trainer": text, **modules}, version)
        (one,) = scanned(tmp_path / "wheels", *(patches or [patch()])).scans
        return one

    return run
