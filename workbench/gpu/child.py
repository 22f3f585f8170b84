"""Measure one side of one part, in a process of its own.

Each answer is a line of JSON: all units of the part, then the beginning and the result of each.
"""

from __future__ import annotations

import importlib
import json
from fnmatch import fnmatch

from .parts import WITH, DeviceLost


def main(arguments: list[str]) -> int:
    """Measure; the arguments are the part, the side, and which units in JSON."""
    from patchkit.children import take_standard_output, write_answer

    name, side, work = arguments[0], arguments[1], json.loads(arguments[2])
    answers = take_standard_output()
    if side == WITH:
        import patchkit

        patchkit.apply()
    from patchkit.lab import cuda_fp16, tiny

    tiny.go_offline()
    cuda_fp16.install()
    part = importlib.import_module(f".{name}", __package__)
    units = [unit for unit in part.units() if any(fnmatch(unit, glob) for glob in work["only"])]
    write_answer(answers, {"units": units})
    try:
        for row in part.rows([unit for unit in units if unit not in work["done"]]):
            write_answer(answers, row)
    except DeviceLost:
        return 3
    return 0
