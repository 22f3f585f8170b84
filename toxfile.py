"""Gives tox.ini what it cannot read off an environment's name by itself."""

from __future__ import annotations

from tox.config.sets import EnvConfigSet
from tox.plugin import impl
from tox.session.state import State


@impl
def tox_add_env_config(env_conf: EnvConfigSet, state: State) -> None:
    """Add `version_set`: NAME for the environments trl-NAME, matrix-NAME and frameworks-NAME."""
    name = env_conf.env_name.partition("-")[2].removesuffix("-whole")
    env_conf.add_constant("version_set", "the file in version_sets", name)
