"""Run the preflight at the start of `Trainer.train()`, for `apply(preflight=True)`."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from ..errors import PreflightError
from .findings import Findings
from .preflight import run

logger = logging.getLogger("patchkit")

_logged: set[tuple[str, str]] = set()


def preflight(
    wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Wrap `Trainer.train`: errors stop it, warnings are logged once per process.

    Raises:
        PreflightError: with the errors, and the changes that fix them.
    """
    findings = _findings(instance)
    if findings.errors:
        raise PreflightError(Findings(findings.errors, findings.looked_at))
    fresh = [finding for finding in findings.warnings if (finding.id, finding.found) not in _logged]
    if fresh and instance.is_local_process_zero():
        _logged.update((finding.id, finding.found) for finding in fresh)
        logger.warning("%s", Findings(fresh, findings.looked_at))
    return wrapped(*args, **kwargs)


def _findings(trainer: Any) -> Findings:
    try:
        return run(trainer, None, None)
    except Exception:
        # It must not stop the user's training: the traceback is in the log.
        logger.exception("patchkit: the preflight failed, and training goes on without it")
        return Findings([])
