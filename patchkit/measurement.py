"""Measure the patches in this environment, for the compatibility matrix."""

from __future__ import annotations

import datetime
import platform
from collections.abc import Iterable, Iterator
from pathlib import Path

from .environment import installed_version
from .matrix import MatrixError, Result, default_path, merge, read, write
from .session import SESSION
from .verification import verify

LIBRARIES = ("trl", "transformers", "peft", "accelerate", "bitsandbytes", "datasets", "torch")


def record(path: Path | None, only: str | Iterable[str] | None) -> Iterator[str]:
    """Verify the patches of installed libraries here and merge the verdicts into a matrix.

    Args:
        path: the matrix; that of this installation if None. It is made if it is not there.
        only: ids or globs; all patches by default.

    Yields:
        a line for each patch that was measured.
    """
    path = path or default_path()
    old = read(path) if path.exists() else []
    if not path.absolute().parent.is_dir():
        raise MatrixError(f"cannot write {path.name}: there is no folder {path.parent}")
    verdicts = [one for one in verify(only) if _is_here(one.id)]
    new = [_result(one.id, one.outcome) for one in verdicts]
    write(path, merge(old, new))
    for one in verdicts:
        yield f"{one.outcome:<15} {one.id}"


def _is_here(patch_id: str) -> bool:
    """Whether the library of a patch is installed: nothing is measured on one that is not."""
    return installed_version(SESSION.catalogue.entries[patch_id].patch.library) is not None


def _result(patch_id: str, outcome: str) -> Result:
    affected = SESSION.catalogue.entries[patch_id].patch.affects
    versions = {name: installed_version(name) for name in (*LIBRARIES, *affected)}
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
