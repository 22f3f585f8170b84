"""Print which names and keywords, given as JSON, the installed libraries have not."""

from __future__ import annotations

import importlib
import inspect
import json
import sys
from typing import Any


def main() -> None:
    missing = []
    for name, method, keywords in json.load(sys.stdin):
        try:
            found = resolve(f"{name}.{method}" if method else name)
        except (ImportError, AttributeError) as error:
            missing.append(f"{name} {method}: {error}")
            continue
        if keywords:
            unknown = set(keywords) - parameters(found)
            missing += [f"{name}.{method}({keyword}=)" for keyword in sorted(unknown)]
    json.dump(missing, sys.stdout)


def resolve(name: str) -> Any:
    module, rest = name, []
    while True:
        try:
            found = importlib.import_module(module)
            break
        except ImportError:
            module, dot, last = module.rpartition(".")
            if not dot:
                raise
            rest.insert(0, last)
    for part in rest:
        hands_on = isinstance(found, type) and "__getattr__" in dir(found)
        found = getattr(found, part, anything) if hands_on else getattr(found, part)
    return found


def anything(**keywords: Any) -> None:
    """Stand for what an object gets from another one."""


def parameters(function: Any) -> set[str]:
    try:
        known = inspect.signature(function).parameters
    except ValueError:  # a builtin
        return Anything()
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in known.values()):
        return Anything()
    return set(known)


class Anything(set[str]):
    """What every keyword is in."""

    def __rsub__(self, other: Any) -> set[str]:
        return set()


if __name__ == "__main__":
    main()
