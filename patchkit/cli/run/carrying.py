"""Carry a run into child processes that get an environment of their own."""

from __future__ import annotations

import os

from ...engine import hooks
from .variables import missing_variables

TYPE_CHECKING = False  # this is imported in each interpreter of a command
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

_EXPLICIT = {"execve": 2, "posix_spawn": 2, "posix_spawnp": 2, "spawnve": 3}
"""Functions of `os` that take an environment, and its position among their arguments."""
_POPEN = 10
"""The position of `env` among the arguments of `subprocess.Popen`."""

_folder = _chosen = ""


def carry_into_children(folder: str, chosen: str) -> None:
    """Give each process that is started from now on our two variables, if it lacks them.

    Nothing else in its environment is changed; the environment of another run is left alone.
    """
    global _folder, _chosen
    installed = bool(_folder)
    _folder, _chosen = folder, chosen
    if installed:
        return
    for name, position in _EXPLICIT.items():
        _replace(os, name, _env_completer(position))
    _replace(os, "execv", _wrap_execv)
    _replace(os, "system", _wrap_inheriting)
    hooks.when_loaded("subprocess", _carry_into_subprocess)
    hooks.when_loaded("multiprocessing.util", _carry_into_multiprocessing)


def _carry_into_subprocess(module: ModuleType) -> None:
    _replace(module.Popen, "__init__", _env_completer(_POPEN + 1))


def _carry_into_multiprocessing(module: ModuleType) -> None:
    # It starts `spawn` and `forkserver` processes, and takes no environment.
    _replace(module, "spawnv_passfds", _wrap_inheriting)


def _replace(owner: Any, name: str, around: Callable[[Callable[..., Any]], Any]) -> None:
    """Wrap an attribute, if it exists."""
    original = vars(owner).get(name)
    if original is not None:
        wrapper = around(original)
        for attribute in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(wrapper, attribute, getattr(original, attribute, None))
        wrapper.__wrapped__ = original
        setattr(owner, name, wrapper)


def _env_completer(position: int) -> Callable[[Callable[..., Any]], Any]:
    """Return a wrapper for functions that take the argument `env`, at this position."""

    def wrap(wrapped: Callable[..., Any]) -> Callable[..., Any]:
        def complete(*args: Any, **kwargs: Any) -> Any:
            if len(args) > position:
                args = (*args[:position], _complete(args[position]), *args[position + 1 :])
            elif (env := _complete(kwargs.get("env"))) is not kwargs.get("env"):
                kwargs = {**kwargs, "env": env}
            return wrapped(*args, **kwargs)

        return complete

    return wrap


def _wrap_execv(wrapped: Callable[..., Any]) -> Callable[..., Any]:
    def execv(*args: Any, **kwargs: Any) -> Any:
        env = _complete(None)
        if env is None:
            return wrapped(*args, **kwargs)
        return os.execve(*args, **{**kwargs, "env": env})

    return execv


def _wrap_inheriting(wrapped: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function that starts a process with the environment of this one."""

    def inherit(*args: Any, **kwargs: Any) -> Any:
        os.environ.update(missing_variables(os.environ, _folder, _chosen))
        return wrapped(*args, **kwargs)

    return inherit


def _complete(env: Any) -> Any:
    """Return the environment with what it lacks; unchanged if it lacks nothing or is invalid."""
    environment = os.environ if env is None else env
    try:
        lacking = missing_variables(environment, _folder, _chosen)
        return {**environment, **lacking} if lacking else env
    except Exception:
        return env  # the function that gets it will say what is wrong with it
