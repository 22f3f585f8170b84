"""What the observers of commands share: each is a `sitecustomize` in a folder of its own.

An interpreter that an observer watches imports this before all else, so it imports no library.
"""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import json
import os
from collections.abc import Callable, Mapping
from typing import Any


def write(folder: str, **event: Any) -> None:
    """Write an event as a line of JSON, into the file of this process."""
    path = os.path.join(folder, f"{os.getpid()}.jsonl")
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(event) + "\n")


def seed(module: Any) -> None:
    """Seed a library as it is imported: many scripts leave that to chance."""
    (module.random.seed if module.__name__ == "numpy" else module.manual_seed)(0)


def seed_adapters(model: Any) -> None:
    """Give adapters the same first weights, whatever was drawn before."""
    original = model.__init__

    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        import torch

        torch.manual_seed(0)
        original(self, *args, **kwargs)

    model.__init__ = init


class ObservingFinder(importlib.abc.MetaPathFinder):
    """Call a function when a watched module has been executed.

    Args:
        watched: the functions by the names of modules.
    """

    def __init__(self, watched: Mapping[str, Callable[[Any], None]]) -> None:
        self._watched = watched

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name not in self._watched:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            loader: Any = spec.loader
            execute = loader.exec_module
            watch = self._watched[name]

            def exec_module(module: Any) -> None:
                execute(module)
                watch(module)

            loader.exec_module = exec_module
        return spec
