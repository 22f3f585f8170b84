"""The two environment variables that make an interpreter start with patchkit."""

from __future__ import annotations

import os

from ...errors import PatchError

TYPE_CHECKING = False  # this is imported in each interpreter of a command
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

VARIABLE = "PATCHKIT_RUN"
"""The environment variable that carries the choices."""
PYTHONPATH = "PYTHONPATH"
PATCHES = "PATCHKIT_PATCHES"

AUTOSTART = os.path.join(os.path.dirname(os.path.abspath(__file__)), "autostart")
"""The folder that contains our `sitecustomize` and nothing else."""

_ENDING = os.path.join(os.sep, "patchkit", "cli", "run", "autostart")


def command_environment(environment: Mapping[str, str], chosen: str) -> dict[str, str]:
    """Return the environment for a command; the variables of an outer run are replaced.

    Raises:
        PatchError: patchkit lies in a folder that PYTHONPATH cannot name.
    """
    if os.pathsep in AUTOSTART:
        raise PatchError(
            f"patchkit is installed in {AUTOSTART}, and PYTHONPATH cannot name a folder with "
            f"{os.pathsep!r} in it; install it elsewhere"
        )
    if environment.get(PATCHES):
        from ...catalogue.folders import variable_for_children

        # Relative to where this process runs; an interpreter may run elsewhere.
        environment = {**environment, PATCHES: variable_for_children(())}
    path = environment.get(PYTHONPATH, "")
    others = [entry for entry in path.split(os.pathsep) if not _is_autostart(entry)] if path else []
    return {**environment, PYTHONPATH: os.pathsep.join([AUTOSTART, *others]), VARIABLE: chosen}


def _is_autostart(entry: str) -> bool:
    """Tell whether this is our folder, or that of another installation of patchkit."""
    return os.path.normpath(entry).endswith(_ENDING)


def missing_variables(environment: Mapping[Any, Any], folder: str, chosen: str) -> dict[Any, str]:
    """Return what an environment lacks of the two variables; empty if another run has set them."""
    names = {os.fsdecode(name): name for name in environment}
    lacking: dict[Any, str] = {}
    if VARIABLE not in names:
        lacking[VARIABLE] = chosen
    elif os.fsdecode(environment[names[VARIABLE]]) != chosen:
        return {}
    name = names.get(PYTHONPATH, PYTHONPATH)
    path = os.fsdecode(environment[name]) if PYTHONPATH in names else ""
    if folder not in path.split(os.pathsep):
        lacking[name] = os.pathsep.join([folder, path]) if path else folder
    return lacking
