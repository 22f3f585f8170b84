"""Write what an installation has: files, and the records of distributions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def write(folder: Path, files: Mapping[str, str]) -> Path:
    """Write files, by their names in a folder, which is returned."""
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


def distribution(folder: Path, name: str, version: str, *requires: str, **files: str) -> None:
    """Write the records of a distribution; `files` are those besides its metadata."""
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Dist: {requirement}" for requirement in requires]
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    write(folder / info, {"METADATA": "\n".join(lines) + "\n", **files})
