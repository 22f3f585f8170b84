"""Measures patches on a version set, in its tox environment."""

from __future__ import annotations

import datetime
import importlib.util
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import children
from .failure import telling_line
from .records import Matrix, MatrixError, Unmeasured, public
from .sets import VersionSet


@dataclass(frozen=True)
class Tox:
    """Runs the environments `matrix-NAME` of a checkout.

    Args:
        command: runs tox.
        root: the checkout.
        workdir: where tox keeps its environments; where it would by itself if None.
    """

    command: tuple[str, ...]
    root: Path
    workdir: Path | None = None

    def measure(self, version_set: VersionSet, ids: Sequence[str], into: Path) -> Matrix:
        """Run the reproducers of patches on a version set.

        Args:
            version_set: what is installed.
            ids: the patches; all, if there are none.
            into: file for the JSON of `patchkit verify`.

        Returns:
            the results; or, where there are none, why the set could not be measured.

        Raises:
            MatrixError: the file cannot be written or is no verification.
        """
        from ..measurement import from_files

        try:
            into.parent.mkdir(parents=True, exist_ok=True)
            into.unlink(missing_ok=True)
        except OSError as error:
            raise MatrixError(f"cannot write {into}: {error.strerror}") from error
        command = [*self.command, "run", "--colored", "no", "-e", f"matrix-{version_set.name}"]
        if self.workdir is not None:
            command += ["--workdir", str(self.workdir)]
        # The environment's own command names a file already; of two, the last counts.
        command += ["--", "--output", str(into), *ids]
        done = subprocess.run(
            command,
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        if not into.exists():
            return Matrix(unmeasured=(unmeasured(version_set, done.stdout),))
        return _checked(from_files([into]), version_set)


def find_tox(root: Path, workdir: Path | None = None) -> Tox:
    """The tox of this machine, for a checkout.

    Raises:
        MatrixError: there is none, or the folder is no checkout of patchkit.
    """
    if not (root / "tox.ini").is_file():
        raise MatrixError(
            f"{root} is not a checkout of patchkit: there is no tox.ini, which says how a version "
            "set is measured"
        )
    for command in _candidates(root):
        if _works(command):
            return Tox(command, root, workdir.absolute() if workdir else None)
    raise MatrixError("version sets are measured by tox, which is not here: pip install tox tox-uv")


def unmeasured(version_set: VersionSet, output: str) -> Unmeasured:
    """What to record of a version set whose tox run gave no result.

    Args:
        version_set: the set.
        output: what tox printed.
    """
    return _unmeasured(version_set, telling_line(output))


def _unmeasured(version_set: VersionSet, problem: str) -> Unmeasured:
    today = datetime.date.today().isoformat()
    return Unmeasured(version_set.name, version_set.versions, today, problem)


def _checked(matrix: Matrix, version_set: VersionSet) -> Matrix:
    """The results, if they were made on what the set pins."""
    for one in matrix.results:
        for name, version in version_set.versions.items():
            there = one.environment.versions.get(name, version)
            if public(there) != public(version):
                problem = f"{name} {there} was installed, not the {version} that the set pins"
                return Matrix(unmeasured=(_unmeasured(version_set, problem),))
    return matrix


def _candidates(root: Path) -> list[tuple[str, ...]]:
    on_path = shutil.which("tox")
    beside = root / ".venv-test" / "bin" / "tox"
    found: list[tuple[str, ...]] = [(on_path,)] if on_path else []
    if importlib.util.find_spec("tox") is not None:
        found.append(tuple(children.command("tox")))
    return [*found, (str(beside),)] if beside.exists() else found


def _works(command: tuple[str, ...]) -> bool:
    """A tox that is on the path may be a stand-in of a version manager that has none."""
    try:
        done = subprocess.run([*command, "--version"], capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0
