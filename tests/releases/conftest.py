"""Released wheels, downloaded once and read without being installed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

CACHE = Path(os.environ.get("PATCHKIT_WHEELS", Path(__file__).parents[2] / ".cache" / "wheels"))


@pytest.fixture(scope="session")
def sources() -> Callable[[str, str], Iterator[tuple[str, str]]]:
    """`sources("trl", "1.16.0")`: names and texts of the modules of a release."""

    def read(library: str, version: str) -> Iterator[tuple[str, str]]:
        with zipfile.ZipFile(_wheel(library, version)) as wheel:
            for name in wheel.namelist():
                if name.endswith(".py") and name.startswith(f"{library}/"):
                    yield name, wheel.read(name).decode()

    return read


def _wheel(library: str, version: str) -> Path:
    pattern = f"{library}-{version}-*.whl"
    if not list(CACHE.glob(pattern)):
        CACHE.mkdir(parents=True, exist_ok=True)
        # Moved into place when it is whole: another test process may be looking.
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
            command += ["--only-binary=:all:", "--dest", folder, f"{library}=={version}"]
            subprocess.run(command, check=True)
            (wheel,) = Path(folder).glob("*.whl")
            wheel.replace(CACHE / wheel.name)
    return next(CACHE.glob(pattern))
