"""Mends the precision bugs of TRL, PEFT, Transformers, Accelerate and bitsandbytes in memory.

    import patchkit
    patchkit.apply()

before training; `patchkit.report()` says what was done, to what and why, and
`patchkit.revert()` undoes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import (
    PatchDefinitionError,
    PatchError,
    PatchWarning,
    UnknownPatchError,
    UsageError,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager

    import torch

    from .patch import Patch, Rewrite, Status, Wrap
    from .reporting import PatchRecord, Report
    from .session import Session
    from .settings import Setting

__version__ = "0.1.0"

__all__ = [
    "Patch",
    "PatchDefinitionError",
    "PatchError",
    "PatchRecord",
    "PatchWarning",
    "Report",
    "Rewrite",
    "Setting",
    "Status",
    "UnknownPatchError",
    "UsageError",
    "Wrap",
    "apply",
    "patched",
    "report",
    "revert",
]

_LAZY = {
    "Patch": "patch",
    "Rewrite": "patch",
    "Setting": "settings",
    "Status": "patch",
    "Wrap": "patch",
    "PatchRecord": "reporting",
    "Report": "reporting",
}


def apply(
    only: str | Iterable[str] | None = None,
    exclude: str | Iterable[str] | None = None,
    *,
    strict: bool = False,
    dtype: torch.dtype | str | None = None,
    **settings: str,
) -> Report:
    """Mend the installed libraries in memory, now or as each of their modules is imported.

    May be called before or after the libraries are imported, any number of times and from any
    thread. A call adds to what earlier calls did; one with nothing new to do changes nothing.

    Args:
        only: ids or globs (`"trl-*"`) of the patches to apply; all that are due by default.
        exclude: ids or globs to leave out. `PATCHKIT_DISABLE=id,glob` and `PATCHKIT_DISABLE=all`
            do the same from outside.
        strict: raise where a patch that is due cannot be applied, and undo this call. A module
            imported later raises too, from its import.
        dtype: the precision you train in, `torch.float16`, `torch.bfloat16` or `torch.float32`,
            where it is not the one that the training arguments say.
        **settings: what single patches offer, such as `adapter_cast="bf16"`; see the page of
            the patch. An environment variable `PATCHKIT_ADAPTER_CAST` does the same.

    Returns:
        the report of all patches; its `changed` names those that this call touched.

    Raises:
        UnknownPatchError: `only` or `exclude` names no patch.
        UsageError: another argument does not make sense.
        PatchError: with `strict`, a patch could not be applied; the message lists them all.
    """
    return _session().apply(only, exclude, strict=strict, dtype=dtype, chosen=settings)


def revert(only: str | Iterable[str] | None = None) -> Report:
    """Put back what `apply` changed: every function runs its original code object again.

    Args:
        only: ids or globs of the patches to take back; all by default.

    Returns:
        the report; its `changed` names the patches that were taken back.

    Raises:
        UnknownPatchError: `only` names no patch.
    """
    return _session().revert(only)


def patched(
    only: str | Iterable[str] | None = None,
    exclude: str | Iterable[str] | None = None,
    *,
    strict: bool = False,
    dtype: torch.dtype | str | None = None,
    **settings: str,
) -> AbstractContextManager[Report]:
    """`apply` for the length of a `with` block; afterwards all is as it was before the block.

    Patches that were applied before stay applied. Arguments and errors are those of `apply`.
    """
    return _session().patched(only, exclude, strict=strict, dtype=dtype, chosen=settings)


def report() -> Report:
    """What is applied, pending, not due or in trouble now, read off the live objects."""
    return _session().report()


def _session() -> Session:
    from .session import SESSION

    return SESSION


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        raise AttributeError(f"module 'patchkit' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_LAZY[name]}", __name__), name)
