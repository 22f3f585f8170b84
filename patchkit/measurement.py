"""Measure the patches in this environment, for the compatibility matrix."""

from __future__ import annotations

import datetime
import platform
from collections.abc import Iterable, Iterator
from pathlib import Path

from .environment import installed_version
from .matrix import Result, default_path, merge, read, write
from .verification import verify

LIBRARIES = ("trl", "transformers", "peft", "accelerate", "bitsandbytes", "datasets", "torch")


def record(path: Path | None, only: str | Iterable[str] | None) -> Iterator[str]:
    """Verify patches here and merge the verdicts into a matrix.

    Args:
        path: the matrix; that of this installation if None. It is made if it is not there.
        only: ids or globs; all patches by default.

    Yields:
        a line for each patch that was measured.
    """
    path = path or default_path()
    old = read(path) if path.exists() else []
    verdicts = verify(only)
    new = [_result(one.id, one.outcome) for one in verdicts]
    write(path, merge(old, new))
    for one in verdicts:
        yield f"{one.outcome:<15} {one.id}"


def _result(patch_id: str, outcome: str) -> Result:
    versions = {name: installed_version(name) for name in LIBRARIES}
    return Result(
        patch=patch_id,
        outcome=outcome,
        versions={name: version for name, version in versions.items() if version},
        python=platform.python_version(),
        platform=f"{platform.system()}-{platform.machine()}".lower(),
        device=_device(),
        date=datetime.date.today().isoformat(),
    )


def _device() -> str:
    try:
        import torch
    except ImportError:
        return "cpu"
    return torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"
