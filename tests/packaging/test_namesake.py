"""The package index has another project `patchkit`, with a package of that name."""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import pytest

import patchkit_trl
from patchkit import about

from .. import processes
from .conftest import install_dependencies

pytestmark = pytest.mark.packaging

WORD = "pip uninstall -y patchkit"
THEIRS = {
    # As of the real one: an empty package, a `__main__`, and a module of a name that ours has, too.
    "patchkit/__init__.py": "",
    "patchkit/__main__.py": "print('another project')\n",
    "patchkit/cli.py": "def main():\n    print('another project')\n",
    "patchkit-9.9.dist-info/METADATA": "Metadata-Version: 2.1\nName: patchkit\nVersion: 9.9\n",
    "patchkit-9.9.dist-info/WHEEL": (
        "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    ),
}


def wheel_of_another_project(folder: Path) -> Path:
    file = folder / "patchkit-9.9-py3-none-any.whl"
    rows = []
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in THEIRS.items():
            archive.writestr(name, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
            rows.append(f"{name},sha256={digest.decode()},{len(text)}")
        record = "patchkit-9.9.dist-info/RECORD"
        archive.writestr(record, "\n".join([*rows, f"{record},,"]) + "\n")
    return file


@pytest.fixture
def wheels(wheel: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Our wheel, and that of the other project."""
    return wheel, wheel_of_another_project(tmp_path)


class Place:
    """A clean environment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        command = [sys.executable, "-m", "venv", "--without-pip", str(folder / "env")]
        subprocess.run(command, check=True)
        self.bin = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
        install_dependencies(self.bin / "python")

    def pip(self, *arguments: object) -> None:
        given = (sys.executable, "-m", "pip", "--python", self.bin / "python", *arguments)
        done = self._run(given)
        assert done.returncode == 0, done.stderr

    def run(self, program: str, *arguments: str) -> tuple[int, str, str]:
        done = self._run((self.bin / program, *arguments))
        return done.returncode, done.stdout, done.stderr

    def _run(self, command: tuple[object, ...]) -> subprocess.CompletedProcess[str]:
        unwanted = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
        env = {name: value for name, value in os.environ.items() if name not in unwanted}
        return processes.run(*command, folder=self.folder, env=env)


IMPORT = "import patchkit; print(patchkit.__version__)"


def test_ours_installed_over_theirs(wheels, tmp_path: Path) -> None:
    ours, theirs = wheels
    place = Place(tmp_path)
    place.pip("install", "-q", "--no-compile", theirs)
    place.pip("install", "-q", "--no-compile", ours)
    status, printed, warned = place.run("python", "-c", IMPORT)
    assert (status, printed) == (0, f"{about.__version__}\n")
    (line,) = [line for line in warned.splitlines() if "PatchWarning" in line]
    assert "patchkit 9.9 is installed into the same folder as patchkit-trl" in line
    assert WORD in line
    status, printed, _ = place.run("patchkit", "doctor", "--quick")
    assert status == 1
    assert "patchkit 9.9, of another distribution" in printed
    assert WORD in printed


def test_theirs_installed_over_ours(wheels, tmp_path: Path) -> None:
    ours, theirs = wheels
    place = Place(tmp_path)
    place.pip("install", "-q", "--no-compile", ours)
    assert place.run("python", "-W", "error", "-c", IMPORT)[0] == 0
    place.pip("install", "-q", "--no-compile", theirs)
    # The package is empty now: nothing of ours runs when it is imported.
    status, _, raised = place.run("python", "-c", IMPORT)
    assert status == 1
    assert "module 'patchkit' has no attribute '__version__'" in raised
    for command in (("patchkit", "doctor"), ("python", "-m", "patchkit_trl", "report")):
        status, printed, said = place.run(*command)
        assert (status, printed) == (1, "")
        (line,) = said.splitlines()
        assert "__init__.py is not a file of patchkit-trl" in line
        assert WORD in line
    place.pip("uninstall", "-q", "-y", "patchkit")
    place.pip("install", "-q", "--no-compile", "--force-reinstall", "--no-deps", ours)
    assert place.run("python", "-W", "error", "-c", IMPORT)[0] == 0
    assert "Usage" in place.run("patchkit", "--help")[1]


def test_theirs_comes_first_on_the_path(wheels, tmp_path: Path) -> None:
    """As in an environment that is on top of another, or beside an editable install."""
    ours, theirs = wheels
    place = Place(tmp_path)
    place.pip("install", "-q", "--no-compile", ours)
    place.pip("install", "-q", "--no-compile", "--target", tmp_path / "first", theirs)
    program = f"import sys; sys.path.insert(0, {str(tmp_path / 'first')!r}); import patchkit_trl"
    status, _, said = place.run("python", "-c", f"{program}; patchkit_trl.main()")
    assert status == 1
    (line,) = said.splitlines()
    assert str(tmp_path / "first") in line
    assert WORD in line


def test_the_distribution_has_one_name() -> None:
    assert patchkit_trl.DISTRIBUTION == about.DISTRIBUTION
    assert patchkit_trl.intruder() == ""


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ([], ""),
        (["patchkit_trl-0.2.0.dist-info", "patchkit_trl.py", "patchkit"], ""),
        (["patchkit-9.9.dist-info"], "patchkit 9.9"),
        (["Patchkit-0.1.0-py3.11.egg-info"], "Patchkit 0.1.0-py3.11"),
    ],
)
def test_what_lies_in_the_folder(tmp_path, monkeypatch, names: list[str], found: str) -> None:
    for name in names:
        (tmp_path / name).mkdir()
    monkeypatch.setattr(about, "PACKAGE", str(tmp_path / "patchkit"))
    assert about.namesake() == found
    monkeypatch.setattr(about, "PACKAGE", str(tmp_path / "archive.zip" / "patchkit"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert about.namesake() == ""
