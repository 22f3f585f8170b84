"""The preflight at the start of `Trainer.train()`, for `apply(preflight=True)`."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from ..errors import PreflightError
from .findings import Findings
from .preflight import run

logger = logging.getLogger("patchkit")

_said: set[tuple[str, str]] = set()


def preflight(
    wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Wraps `Trainer.train`: errors stop it, warnings are logged once for each process.

    Raises:
        PreflightError: with the errors, and the changes that mend them.
    """
    findings = _findings(instance)
    if findings.errors:
        raise PreflightError(Findings(findings.errors, findings.looked_at))
    fresh = [one for one in findings.warnings if (one.id, one.found) not in _said]
    if fresh and instance.is_local_process_zero():
        _said.update((one.id, one.found) for one in fresh)
        logger.warning("%s", Findings(fresh, findings.looked_at))
    return wrapped(*args, **kwargs)


def _findings(trainer: Any) -> Findings:
    try:
        return run(trainer, None, None)
    except Exception:
        # Never the user's training: what went wrong is in the log with its traceback.
        logger.exception("patchkit: the preflight failed, and training goes on without it")
        return Findings([])
