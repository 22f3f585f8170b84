"""Gives tox.ini what it cannot read off a name by itself, and environments their bytecode."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from tox.config.sets import EnvConfigSet
from tox.plugin import impl
from tox.session.state import State
from tox.tox_env.api import ToxEnv


@impl
def tox_add_env_config(env_conf: EnvConfigSet, state: State) -> None:
    """Add `version_set`: NAME for the environments trl-NAME, matrix-NAME and frameworks-NAME."""
    name = env_conf.env_name.partition("-")[2].removesuffix("-whole")
    env_conf.add_constant("version_set", "the file in version_sets", name)


@impl
def tox_before_run_commands(tox_env: ToxEnv) -> None:
    """Link the bytecode that other environments have of the very same files.

    uv links the files themselves, out of its cache; each environment would compile them again.
    """
    own = tox_env.env_site_package_dir()
    for other in tox_env.env_dir.parent.glob(f"*/{own.relative_to(tox_env.env_dir)}"):
        for folder, _, names in os.walk(other):
            if folder.endswith("__pycache__"):
                here = own / os.path.relpath(folder, other)
                _link_bytecode(
                    Path(folder), here, {name for name in names if name.endswith(".pyc")}
                )


def _link_bytecode(there: Path, here: Path, names: set[str]) -> None:
    known = os.listdir(here) if here.is_dir() else ()
    for name in names.difference(known):
        source = f"{name.partition('.')[0]}.py"
        with contextlib.suppress(OSError):  # another lane was faster, or a file is gone
            if (here.parent / source).samefile(there.parent / source):
                here.mkdir(exist_ok=True)
                os.link(there / name, here / name)
