"""Carries a run on into processes that are started with an environment of their own."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import ModuleType
from typing import Any

from .. import hooks
from .variables import missing

_EXPLICIT = {"execve": 2, "posix_spawn": 2, "posix_spawnp": 2, "spawnve": 3}
"""Functions of `os` that take an environment, and its place among their arguments."""
_POPEN = 10
"""The place of `env` among the arguments of `subprocess.Popen`."""

_Wrapper = Callable[[Callable[..., Any], Any, tuple[Any, ...], dict[str, Any]], Any]
_folder = _chosen = ""


def carry_on(folder: str, chosen: str) -> None:
    """From now on, give each process that is started what it lacks of our two variables.

    Nothing else of an environment is changed, and one that another run has made is left alone.

    Args:
        folder: what PYTHONPATH must name.
        chosen: the encoded choices.
    """
    global _folder, _chosen
    import wrapt

    begun = bool(_folder)
    _folder, _chosen = folder, chosen
    if begun:
        return
    for name, place in _EXPLICIT.items():
        if hasattr(os, name):
            wrapt.wrap_function_wrapper(os, name, _completing(place))
    wrapt.wrap_function_wrapper(os, "execv", _execv)
    wrapt.wrap_function_wrapper(os, "system", _inheriting)
    hooks.when_loaded("subprocess", _carry_into_subprocess)
    hooks.when_loaded("multiprocessing.util", _carry_into_multiprocessing)


def _carry_into_subprocess(module: ModuleType) -> None:
    import wrapt

    wrapt.wrap_function_wrapper(module, "Popen.__init__", _completing(_POPEN))


def _carry_into_multiprocessing(module: ModuleType) -> None:
    import wrapt

    # It starts `spawn` and `forkserver` without an environment to complete.
    if hasattr(module, "spawnv_passfds"):
        wrapt.wrap_function_wrapper(module, "spawnv_passfds", _inheriting)


def _completing(place: int) -> _Wrapper:
    def complete(
        wrapped: Callable[..., Any], _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if len(args) > place:
            args = (*args[:place], _complete(args[place]), *args[place + 1 :])
        elif (env := _complete(kwargs.get("env"))) is not kwargs.get("env"):
            kwargs = {**kwargs, "env": env}
        return wrapped(*args, **kwargs)

    return complete


def _execv(
    wrapped: Callable[..., Any], _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    env = _complete(None)
    return wrapped(*args, **kwargs) if env is None else os.execve(*args, **{**kwargs, "env": env})


def _inheriting(
    wrapped: Callable[..., Any], _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Of what is started with the environment of this very process."""
    os.environ.update(missing(os.environ, _folder, _chosen))
    return wrapped(*args, **kwargs)


def _complete(env: Any) -> Any:
    """The environment with what it lacks; itself where it lacks nothing or is none."""
    given = os.environ if env is None else env
    try:
        lacking = missing(given, _folder, _chosen)
        return {**given, **lacking} if lacking else env
    except Exception:
        return env  # who gets it says what is wrong with it
