"""Fix the precision bugs of TRL, PEFT, Transformers, Accelerate and bitsandbytes in memory.

    import patchkit
    patchkit.apply()

before training; `patchkit.report()` shows what was done, to what and why, and
`patchkit.revert()` undoes it.

PYTEST_DONT_REWRITE: pytest would warn if this was imported before its plugin.
"""

from __future__ import annotations

from .about import __version__ as __version__
from .errors import (
    PatchDefinitionError,
    PatchError,
    PatchWarning,
    PreflightError,
    UnknownPatchError,
    UsageError,
)

TYPE_CHECKING = False  # `typing` would take most of the time that this import takes
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager
    from typing import Any

    import torch

    from .catalogue.folders import Paths
    from .engine.choices import Choices
    from .engine.session import Session
    from .inspection.findings import Finding, Findings, Severity
    from .legacy.errors import GoneError, LegacyError
    from .legacy.uses import LegacyUse
    from .matrix.lookup import Tested
    from .patch import Patch, Rewrite, Status, Wrap
    from .precision.gradscaler import HalfPrecisionTrainableError
    from .precision.threading_dtype import ThreadedDtype
    from .reporting.legacy import LegacyReport
    from .reporting.record import PatchRecord, TargetRecord
    from .reporting.report import Report
    from .settings import Selection, Setting
    from .verification.verdicts import Verdict
    from .verification.verification import Verification

__all__ = [
    "Finding",
    "Findings",
    "GoneError",
    "HalfPrecisionTrainableError",
    "LegacyError",
    "LegacyReport",
    "LegacyUse",
    "Patch",
    "PatchDefinitionError",
    "PatchError",
    "PatchRecord",
    "PatchWarning",
    "PreflightError",
    "Report",
    "Rewrite",
    "Setting",
    "Severity",
    "Status",
    "TargetRecord",
    "Tested",
    "ThreadedDtype",
    "UnknownPatchError",
    "UsageError",
    "Verdict",
    "Verification",
    "Wrap",
    "apply",
    "patched",
    "preflight",
    "report",
    "revert",
    "thread_dtype",
    "verify",
]

_LAZY = {
    "Finding": "inspection.findings",
    "Findings": "inspection.findings",
    "GoneError": "legacy.errors",
    "HalfPrecisionTrainableError": "precision.gradscaler",
    "LegacyError": "legacy.errors",
    "LegacyReport": "reporting.legacy",
    "LegacyUse": "legacy.uses",
    "Patch": "patch",
    "Rewrite": "patch",
    "Setting": "settings",
    "Severity": "inspection.findings",
    "Status": "patch",
    "TargetRecord": "reporting.record",
    "Tested": "matrix.lookup",
    "ThreadedDtype": "precision.threading_dtype",
    "Verdict": "verification.verdicts",
    "Verification": "verification.verification",
    "Wrap": "patch",
    "PatchRecord": "reporting.record",
    "Report": "reporting.report",
}


_DEFAULTS = (None, None, False, None, None, None, None)


def apply(
    only: str | Iterable[str] | None = None,
    exclude: str | Iterable[str] | None = None,
    *,
    strict: bool = False,
    dtype: torch.dtype | str | None = None,
    preflight: bool | None = None,
    patches: Paths | None = None,
    legacy: bool | str | None = None,
    explain: bool | None = None,
    **settings: str | bool | None,
) -> Report:
    """Fix the installed libraries in memory, now or as each of their modules is imported.

    May be called before or after the libraries are imported, any number of times and from any
    thread. A call adds to what earlier calls did; one with nothing new to do changes nothing.
    `False` for `preflight`, `legacy`, `explain` and the keyword of an opt-in patch switches it off,
    whatever earlier calls and environment variables say; `None` leaves it as it is.

    Args:
        only: ids or globs (`"trl-*"`) of the patches to apply; by default, all whose bug the
            installed versions have (they are "due").
        exclude: ids or globs to leave out. `PATCHKIT_DISABLE=id,glob` and `PATCHKIT_DISABLE=all`
            do the same from outside.
        strict: raise if a due patch cannot be applied, and undo this call. For modules that are
            imported later, their import raises.
        dtype: the precision you train in, `torch.float16`, `torch.bfloat16` or `torch.float32`,
            if it is not the one in the training arguments.
        preflight: run `preflight` at the start of every `Trainer.train()`, and stop on errors.
            `PATCHKIT_PREFLIGHT=1` does the same from outside. False switches that off.
        patches: a folder with patches of your own, a single `.py` file, or several of these. Each
            file defines one `PATCH`, except those whose names begin with `_` or `test_`. They are
            read once, and stay known until the process ends. `PATCHKIT_PATCHES=folder` does the
            same from outside, in child processes too; several are separated as in `PATH`.
        legacy: True to let names, keywords and command-line flags of older releases work, each
            told once with the line to write today; or the versions that the script was written
            for, such as `"trl==0.11.4, transformers==4.44.2"`, to have their defaults as well.
            `PATCHKIT_LEGACY` does the same from outside. False switches the layer off.
        explain: say in a few lines what a known error is that the program dies of, and what to do;
            in IPython, that a cell dies of. `PATCHKIT_EXPLAIN=1` does the same from outside. False
            switches that off.
        **settings: options of single patches, such as `adapter_cast="bf16"`; see the page of the
            patch. The environment variable `PATCHKIT_ADAPTER_CAST` does the same. An opt-in patch,
            with `opt_in="lookout"`, is turned on by `lookout=True` or `PATCHKIT_LOOKOUT=1`, and off
            by `lookout=False`.

    Returns:
        the report of all patches; its `changed` names those that this call changed.

    Raises:
        UnknownPatchError: `only` or `exclude` names no patch.
        UsageError: another argument does not make sense, or there are no patches in a folder.
        PatchDefinitionError: a file in `patches` defines no usable patch.
        PatchError: with `strict`, a patch could not be applied; the message lists them all.
    """
    if explain is not None:
        from .settings import check_flag

        check_flag("explain", explain)
    arguments = (only, exclude, strict, dtype, preflight, patches, legacy)
    is_plain = not settings and all(a is b for a, b in zip(arguments, _DEFAULTS, strict=True))
    choices = None if is_plain else _choices(*arguments, settings)
    return _apply_later(choices, lambda: _explain_unasked(explain))


def revert(only: str | Iterable[str] | None = None) -> Report:
    """Undo what `apply` changed: every function runs its original code object again.

    Args:
        only: ids or globs of the patches to revert; all by default.

    Returns:
        the report; its `changed` names the patches that were reverted.

    Raises:
        UnknownPatchError: `only` names no patch.
    """
    if only is None:
        _explain_unasked(False)
    return _session().revert(only)


def patched(
    only: str | Iterable[str] | None = None,
    exclude: str | Iterable[str] | None = None,
    *,
    strict: bool = False,
    dtype: torch.dtype | str | None = None,
    preflight: bool | None = None,
    patches: Paths | None = None,
    legacy: bool | str | None = None,
    others: bool = True,
    **settings: str | bool | None,
) -> AbstractContextManager[Report]:
    """Apply patches for the length of a `with` block; afterwards all is as it was before.

    Arguments and errors are those of `apply`, plus `others`.

    Args:
        only: as for `apply`.
        exclude: as for `apply`.
        strict: as for `apply`.
        dtype: as for `apply`.
        preflight: as for `apply`.
        patches: as for `apply`; they stay known after the block.
        legacy: as for `apply`.
        others: whether patches and settings that were applied before stay in force. If False, the
            block has only the patches that it asks for.
        **settings: as for `apply`.
    """
    if "explain" in settings:
        raise UsageError(
            "patched() has no argument 'explain': its block ends before the program dies. Use "
            "apply(explain=True)"
        )
    choices = _choices(only, exclude, strict, dtype, preflight, patches, legacy, settings)
    return _session().patched(choices, others=others)


def report() -> Report:
    """Return the current state of every patch, read off the live objects."""
    return _session().report()


def preflight(
    model: object = None, args: object = None, optimizer: object = None, *, fix: bool = False
) -> Findings:
    """Find what would make a training fail, go wrong or run slowly, before it starts.

    Looks at the dtypes of parameters, quantized layers, autocast, scaler and optimizer states, at
    their devices and at the hardware. Nothing is run and, without `fix`, nothing is changed.

    Args:
        model: a `torch.nn.Module`; or a trainer, which has all the rest.
        args: training arguments, or an `accelerate.Accelerator`.
        optimizer: a `torch.optim.Optimizer`, if there is one already.
        fix: repair what patchkit can repair, and say what was done.

    Returns:
        the findings, errors first: what was found, why it matters, the change that repairs it, and
        whether `fix=True` makes it.

    Raises:
        UsageError: an argument is of the wrong kind, or there is nothing to look at.
    """
    from .inspection.preflight import run

    return run(model, args, optimizer, fix=fix)


def verify(
    only: str | Iterable[str] | None = None,
    *,
    everywhere: bool = False,
    fork: bool = False,
    jobs: int | None = None,
    patches: Paths | None = None,
) -> Verification:
    """Show each bug of the installed versions without its patch, and its absence with it.

    Runs the reproducers of the patches on the installed libraries, each in processes of its own,
    with this Python; nothing changes in the calling process. All of them take minutes.

    Args:
        only: ids or globs; all by default.
        everywhere: also run reproducers of patches that are not due, without the patch.
        fork: run them in forks of one process that has imported the libraries. That is many times
            faster; the patches then meet libraries that are loaded already. A script that does
            this needs `if __name__ == "__main__":`. It has no effect where there is a GPU, since a
            fork cannot use CUDA.
        jobs: number of reproducers that run at once; by default the number of processors, four at
            most. Each takes most of a gigabyte of memory.
        patches: a folder with patches of your own, as for `apply`.

    Returns:
        a verdict for each patch; it prints as a table, and has `exit_status` and `to_dict()`.

    Raises:
        UnknownPatchError: `only` names no patch.
        UsageError: `fork` on a platform that does not fork; or there are no patches in a folder.
        PatchDefinitionError: a file in `patches` defines no usable patch.
    """
    from .verification.verification import verify as run

    return run(only, everywhere=everywhere, fork=fork, jobs=jobs, patches=patches)


def thread_dtype(model: torch.nn.Module, dtype: torch.dtype | str) -> ThreadedDtype:
    """Give one dtype to all of a model that should share it.

    Changed are the compute dtype and the quant state of every bitsandbytes `Linear4bit`, under PEFT
    layers too (with double quantization only the outer state: the inner one's dtype is that of the
    scales); parameters and buffers in half precision, such as norms, embeddings, heads and biases;
    and half-precision dtypes in the configurations.

    Unchanged are packed 4-bit and 8-bit weights, in whatever dtype they are stored, and their
    scales; float32 tensors beside a half-precision dtype, since someone made them so; rotary
    `inv_freq`, which would not survive rounding; adapters, and everything trained in a model with
    adapters. Parameters that the model names in `_keep_in_fp32_modules` become float32. Parameters
    stay the same objects, so tied weights stay tied; one tensor at a time is copied. A second call
    changes nothing.

    Args:
        model: a model, or one with adapters; not yet wrapped by FSDP or DeepSpeed.
        dtype: `torch.float16`, `torch.bfloat16` or `torch.float32`, or a name such as `"fp16"`.

    Returns:
        names and counts of what was changed; false if nothing was.

    Raises:
        UsageError: the dtype is another one, or the model is none, was quantized by something other
            than bitsandbytes, or has sharded parameters.
    """
    from .precision.threading_dtype import thread_dtype as thread

    return thread(model, dtype)


def load_ipython_extension(ipython: Any) -> None:
    """Let `%load_ext patchkit` answer errors of cells, below their tracebacks."""
    from .known.unasked import watch_cells

    watch_cells(ipython)


def unload_ipython_extension(ipython: Any) -> None:
    """Let `%unload_ext patchkit` switch that off."""
    from .known.unasked import ignore_cells

    ignore_cells(ipython)


def _explain_unasked(wanted: bool | None) -> None:
    """Switch answers without being asked on or off; None for as the variable says."""
    import os
    import sys

    if wanted or (wanted is None and os.environ.get("PATCHKIT_EXPLAIN")):
        from .known import unasked

        if wanted or not unasked.is_switched_off():
            unasked.watch(insist=bool(wanted))
    elif wanted is False and "patchkit.known.unasked" in sys.modules:
        from .known import unasked

        unasked.ignore()


def _choices(
    only: Selection,
    exclude: Selection,
    strict: bool,
    dtype: object,
    preflight: bool | None,
    patches: Paths | None,
    legacy: bool | str | None,
    keywords: dict[str, str | bool | None],
) -> Choices:
    from .engine.choices import Choices

    return Choices(
        only,
        exclude,
        strict=strict,
        dtype=dtype,
        preflight=preflight,
        keywords=keywords,
        patches=patches,
        legacy=legacy,
    )


def _extend_path() -> None:
    """Make `patchkit.patches` importable.

    A wheel has the patches inside this package, and a checkout beside it. Patched functions that
    were pickled by value look for their helpers there, perhaps before the catalogue was read.
    """
    from os import path

    from .about import PACKAGE, shipped_path

    patches = shipped_path("patches")
    beside = path.dirname(patches)
    if beside != PACKAGE and path.isfile(path.join(patches, "__init__.py")):
        __path__.append(beside)


def _session() -> Session:
    from .engine.session import SESSION

    return SESSION


def _apply_later(choices: Choices | None, finish: Callable[[], None]) -> Report:
    """Let a call of `apply` wait for whoever asks for more, a plain one for a library's import.

    The patches are read at once where they are read already, or nobody has kept what the call
    comes to here.

    Args:
        choices: its arguments; None for a plain call.
        finish: called at the end, as a part of this call.

    Returns:
        its report, which is written when it is read.
    """
    import sys

    def carry_out(finish: Callable[[], None] = lambda: None) -> Report:
        from .environment import without_garbage_collection

        with without_garbage_collection():
            return _session().apply(choices or _choices(*_DEFAULTS, {}), finish=finish)

    if "patchkit.engine.session" in sys.modules or (choices is not None and choices.strict):
        return carry_out(finish)
    from .engine import deferred
    from .reporting.report import Report

    packages = None
    if choices is None and deferred.is_environment_silent():
        packages = deferred.packages_to_wait_for()
    call = deferred.DeferredCall(carry_out, "" if choices is None else choices.encode())
    try:
        if not call.wait_for(packages):
            return carry_out(finish)
        finish()
        return call.give_report(Report.later(call.read_report))
    except BaseException:
        call.withdraw()
        raise


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        raise AttributeError(f"module 'patchkit' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_LAZY[name]}", __name__), name)


def _warn_of_namesake() -> None:
    from .about import namesake, namesake_problem

    if found := namesake():
        import warnings

        warnings.warn(namesake_problem(found), PatchWarning, stacklevel=3)


_extend_path()
_warn_of_namesake()
