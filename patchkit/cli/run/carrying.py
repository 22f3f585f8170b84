"""Carries a run on into processes that are started with an environment of their own."""

from __future__ import annotations

import os

from ...engine import hooks
from .missing import missing

TYPE_CHECKING = False  # this is imported in each interpreter of a command
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

_EXPLICIT = {"execve": 2, "posix_spawn": 2, "posix_spawnp": 2, "spawnve": 3}
"""Functions of `os` that take an environment, and its place among their arguments."""
_POPEN = 10
"""The place of `env` among the arguments of `subprocess.Popen`."""

_folder = _chosen = ""


def carry_on(folder: str, chosen: str) -> None:
    """From now on, give each process that is started what it lacks of our two variables.

    Nothing else of an environment is changed, and one that another run has made is left alone.

    Args:
        folder: what PYTHONPATH must name.
        chosen: the encoded choices.
    """
    global _folder, _chosen
    begun = bool(_folder)
    _folder, _chosen = folder, chosen
    if begun:
        return
    for name, place in _EXPLICIT.items():
        _replace(os, name, _completing(place))
    _replace(os, "execv", _with_environment)
    _replace(os, "system", _inheriting)
    hooks.when_loaded("subprocess", _carry_into_subprocess)
    hooks.when_loaded("multiprocessing.util", _carry_into_multiprocessing)


def _carry_into_subprocess(module: ModuleType) -> None:
    _replace(module.Popen, "__init__", _completing(_POPEN + 1))


def _carry_into_multiprocessing(module: ModuleType) -> None:
    # It starts `spawn` and `forkserver` without an environment to complete.
    _replace(module, "spawnv_passfds", _inheriting)


def _replace(owner: Any, name: str, around: Callable[[Callable[..., Any]], Any]) -> None:
    """Put a function around another one, if there is such a one."""
    present = vars(owner).get(name)
    if present is not None:
        wrapper = around(present)
        for attribute in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(wrapper, attribute, getattr(present, attribute, None))
        wrapper.__wrapped__ = present
        setattr(owner, name, wrapper)


def _completing(place: int) -> Callable[[Callable[..., Any]], Any]:
    """Wrap what takes an environment as its argument `env`, at this place among the others."""

    def wrap(wrapped: Callable[..., Any]) -> Callable[..., Any]:
        def complete(*args: Any, **kwargs: Any) -> Any:
            if len(args) > place:
                args = (*args[:place], _complete(args[place]), *args[place + 1 :])
            elif (env := _complete(kwargs.get("env"))) is not kwargs.get("env"):
                kwargs = {**kwargs, "env": env}
            return wrapped(*args, **kwargs)

        return complete

    return wrap


def _with_environment(wrapped: Callable[..., Any]) -> Callable[..., Any]:
    def execv(*args: Any, **kwargs: Any) -> Any:
        env = _complete(None)
        if env is None:
            return wrapped(*args, **kwargs)
        return os.execve(*args, **{**kwargs, "env": env})

    return execv


def _inheriting(wrapped: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap what starts a process with the environment of this very process."""

    def inherit(*args: Any, **kwargs: Any) -> Any:
        os.environ.update(missing(os.environ, _folder, _chosen))
        return wrapped(*args, **kwargs)

    return inherit


def _complete(env: Any) -> Any:
    """The environment with what it lacks; itself where it lacks nothing or is none."""
    given = os.environ if env is None else env
    try:
        lacking = missing(given, _folder, _chosen)
        return {**given, **lacking} if lacking else env
    except Exception:
        return env  # who gets it says what is wrong with it
