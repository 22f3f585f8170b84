"""Fixtures: what a release consists of, built once."""

from __future__ import annotations

import importlib.util
import os
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest

from .. import processes

ROOT = Path(__file__).parents[2]
UV = importlib.util.find_spec("uv") is not None


def run(*command: object, cwd: Path) -> str:
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = processes.run(*command, folder=cwd, env=env)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def build(folder: Path, *options: str, tree: Path = ROOT) -> None:
    run(sys.executable, "-m", "build", *options, "--outdir", folder, tree, cwd=folder)


def install_dependencies(python: Path) -> None:
    """Install what patchkit needs, if uv is there: pip, which then finds it, takes ten times as long."""
    if UV:
        needed = [line for line in requires("patchkit-trl") or () if "extra ==" not in line]
        command = (sys.executable, "-m", "uv", "pip", "install", "-q", "--python", python)
        run(*command, *needed, cwd=python.parent)


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an sdist, and of a wheel that was built from it, so that both are complete.

    Nothing is there for the build but what pyproject.toml requires.
    """
    folder = tmp_path_factory.mktemp("dist")
    build(folder, *(("--installer", "uv") if UV else ()))
    return folder


@pytest.fixture(scope="session")
def wheel(distributions: Path) -> Path:
    (wheel,) = distributions.glob("*.whl")
    return wheel


@pytest.fixture(scope="session")
def sdist(distributions: Path) -> Path:
    (sdist,) = distributions.glob("*.tar.gz")
    return sdist
