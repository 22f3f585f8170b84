"""One virtual environment for each era."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from .. import ROOT
from .eras import BESIDE, ERAS, NEWEST, requirements


def python_of(folder: Path, era: str) -> Path:
    """Return the Python of an era's environment, which may not exist."""
    home = folder / f"era-{era}"
    return home / "Scripts" / "python.exe" if os.name == "nt" else home / "bin" / "python"


def create(folder: Path) -> None:
    """Create the environments that are missing, with uv where it is installed, else with pip."""
    for era in (*ERAS, NEWEST):
        python = python_of(folder, era)
        if not python.exists():
            print(f"creating {python.parents[1]}", flush=True)
            _create(python, era)


def _create(python: Path, era: str) -> None:
    home = python.parents[1]
    files = ["-r", str(requirements(era)), "-r", str(BESIDE)]
    constraints = str(ROOT / "constraints.txt")
    if shutil.which("uv"):
        # uv reads neither pip's variables nor its configuration.
        env = {**os.environ, "UV_CONSTRAINT": constraints}
        env.setdefault("UV_FIND_LINKS", os.environ.get("PIP_FIND_LINKS", ""))
        subprocess.run(["uv", "venv", "--quiet", home, "--python", sys.executable], check=True)
        install = ["uv", "pip", "install", "--quiet", "--python", str(python)]
    else:
        env = {**os.environ, "PIP_CONSTRAINT": constraints}
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet"]
    subprocess.run([*install, *files], env=env, check=True)
