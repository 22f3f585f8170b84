"""The two environment variables that make an interpreter start with patchkit."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import PatchError
from ..local_patches import VARIABLE as PATCHES
from ..local_patches import for_other_processes
from .choices import VARIABLE

PYTHONPATH = "PYTHONPATH"
AUTOSTART = os.path.join(os.path.dirname(os.path.abspath(__file__)), "autostart")
"""The folder that holds our `sitecustomize` and nothing else."""


def for_command(environment: Mapping[str, str], chosen: str) -> dict[str, str]:
    """The environment of a command that is run; that of a run around this one is replaced.

    Args:
        environment: the one that the command would have.
        chosen: the encoded choices.

    Raises:
        PatchError: patchkit lies in a folder that PYTHONPATH cannot name.
    """
    if os.pathsep in AUTOSTART:
        raise PatchError(
            f"patchkit is installed in {AUTOSTART}, and PYTHONPATH cannot name a folder with "
            f"{os.pathsep!r} in it; install it elsewhere"
        )
    if environment.get(PATCHES):
        # Relative to where this process runs; an interpreter may run elsewhere.
        environment = {**environment, PATCHES: for_other_processes(())}
    given = environment.get(PYTHONPATH, "")
    others = [one for one in given.split(os.pathsep) if not _is_autostart(one)] if given else []
    return {
        **environment,
        PYTHONPATH: os.pathsep.join([AUTOSTART, *others]),
        VARIABLE: chosen,
    }


def missing(environment: Mapping[Any, Any], folder: str, chosen: str) -> dict[Any, str]:
    """What an environment lacks of the two variables; empty where another run has set them.

    Args:
        environment: names and values, each of them `str` or `bytes`.
        folder: our folder on PYTHONPATH.
        chosen: the encoded choices.
    """
    names = {os.fsdecode(name): name for name in environment}
    lacking: dict[Any, str] = {}
    if VARIABLE not in names:
        lacking[VARIABLE] = chosen
    elif os.fsdecode(environment[names[VARIABLE]]) != chosen:
        return {}
    name = names.get(PYTHONPATH, PYTHONPATH)
    given = os.fsdecode(environment[name]) if PYTHONPATH in names else ""
    if folder not in given.split(os.pathsep):
        lacking[name] = os.pathsep.join([folder, given]) if given else folder
    return lacking


def _is_autostart(entry: str) -> bool:
    """Whether this is our folder, or that of another installation of patchkit."""
    return Path(entry).parts[-3:] == ("patchkit", "running", "autostart")
