"""The part of the two variables of `patchkit run` that an environment lacks."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # this is imported in each interpreter of a command
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

VARIABLE = "PATCHKIT_RUN"
"""The environment variable that carries the choices."""
PYTHONPATH = "PYTHONPATH"


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
