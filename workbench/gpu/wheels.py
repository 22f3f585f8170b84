"""Unpack wheels into a folder, which then goes onto the path; nothing is installed."""

from __future__ import annotations

import zipfile
from pathlib import Path


def unpack(source: Path, target: Path) -> dict[str, str]:
    """Unpack all wheels of a folder that fit this Python.

    Args:
        source: the folder of the wheels.
        target: the folder to unpack into.

    Returns:
        the name of each wheel, and "unpacked" or why it was not.
    """
    outcomes = {}
    for wheel in sorted(source.glob("*.whl")):
        try:
            outcomes[wheel.name] = _unpack(wheel, target)
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            outcomes[wheel.name] = f"{type(error).__name__}: {error}"
    return outcomes


def _unpack(wheel: Path, target: Path) -> str:
    if not _fits(wheel.name):
        return "for another Python or platform"
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            first, _, rest = name.partition("/")
            if not first.endswith(".data"):
                archive.extract(name, target)
                continue
            # What a wheel keeps there beside modules is for an environment.
            kind, _, place = rest.partition("/")
            if kind in ("purelib", "platlib") and place and not place.endswith("/"):
                file = (target / place).resolve()
                if not file.is_relative_to(target.resolve()):
                    raise ValueError(f"{name} leads out of the folder")
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(archive.read(name))
    return "unpacked"


def _fits(name: str) -> bool:
    try:
        from packaging.tags import sys_tags
        from packaging.utils import InvalidWheelFilename, parse_wheel_filename
    except ImportError:  # transformers needs it, so it is there
        return True
    try:
        *_, tags = parse_wheel_filename(name)
    except InvalidWheelFilename as error:
        raise ValueError(str(error)) from error
    return not tags.isdisjoint(sys_tags())
