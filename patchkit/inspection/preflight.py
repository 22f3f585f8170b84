"""Run a preflight: gather, check, fix what can be fixed, and check again."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from ..environment import without_garbage_collection
from ..errors import PreflightError
from ..reporting.pins import advised, pins_here
from ..settings import check_flag
from .facts import TrainingFacts, gather
from .findings import Finding, Findings, Severity
from .hardware import Hardware
from .subject import TrainingParts, subject

logger = logging.getLogger("patchkit")

_logged: set[tuple[str, str]] = set()
_CAUSAL = "AutoModelForCausalLM."


def run(model: object, args: object, optimizer: object, *, fix: bool = False) -> Findings:
    """Run a preflight, as `patchkit.preflight` describes."""
    check_flag("fix", fix)
    training = subject(model, args, optimizer)
    with without_garbage_collection():
        return inspect(training, fix=fix)


def before_train(
    wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Wrap `Trainer.train` for `apply(preflight=True)`: errors stop it, warnings are logged once.

    Raises:
        PreflightError: with the errors, and the changes that fix them.
    """
    findings = _findings_of(instance)
    if findings.errors:
        raise PreflightError(Findings(findings.errors, findings.looked_at))
    fresh = [finding for finding in findings.warnings if (finding.id, finding.found) not in _logged]
    if fresh and instance.is_local_process_zero():
        _logged.update((finding.id, finding.found) for finding in fresh)
        logger.warning("%s", Findings(fresh, findings.looked_at))
    return wrapped(*args, **kwargs)


def inspect(
    training: TrainingParts, *, fix: bool = False, hardware: Hardware | None = None
) -> Findings:
    """Check a training, and fix what can be fixed if asked to."""
    facts = _facts(training, hardware)
    findings = list(check(facts))
    if not fix or not any(finding.fixable for finding in findings):
        return Findings(findings, facts.describe())
    repairs = {}
    for finding in findings:
        if finding.repair is not None:
            try:
                repairs[finding.id] = finding.repair()
            except Exception as error:
                logger.exception("patchkit: the repair of %s failed", finding.id)
                problem = f"patchkit could not fix it: {type(error).__name__}: {error}"
                findings[findings.index(finding)] = replace(
                    finding, why=f"{finding.why} {problem}", repair=None
                )
    facts = _facts(training, hardware)
    after = {finding.id: finding for finding in check(facts)}
    before = {finding.id: finding for finding in findings}
    for name in after.keys() & before.keys():
        if before[name].repair is None:
            after[name] = before[name]
    fixed = [
        replace(finding, fixed=repairs.get(finding.id) or "fixed by another repair")
        for finding in findings
        if finding.id not in after
    ]
    return Findings([*after.values(), *fixed], facts.describe())


def check(facts: TrainingFacts) -> Iterator[Finding]:
    """Run all checks. One that fails is a note, and does not stop the others."""
    from .checks import CHECKS

    for run_check in CHECKS:
        try:
            finding = run_check(facts)
        except Exception as error:
            logger.exception("patchkit: the check %s failed", run_check.__name__)
            finding = Finding(
                f"unchecked-{run_check.__name__.replace('_', '-')}",
                Severity.NOTE,
                f"the check {run_check.__name__} failed: {type(error).__name__}: {error}",
                "This is a mistake in patchkit, not in your training.",
                "please report it, with the traceback in the log",
            )
        if finding is not None:
            yield _within_pins(_with_its_class(finding, facts.model))


def _with_its_class(finding: Finding, model: Any) -> Finding:
    """Write the class of a model that is no causal one into a change that loads it."""
    if model is None or _CAUSAL not in finding.change:
        return finding
    classes = (type(module) for module in model.modules())
    loaded = next((cls.__name__ for cls in classes if hasattr(cls, "_from_config")), "")
    if not loaded or loaded.endswith("ForCausalLM"):
        return finding
    return replace(finding, change=finding.change.replace(_CAUSAL, f"{loaded}."))


def _within_pins(finding: Finding) -> Finding:
    """Leave out of a change what pip cannot do beside what is installed, and say so."""
    if "pip " not in finding.change:
        return finding
    lines = []
    for written in finding.change.split("\n"):
        line, pin = advised(written, pins_here)
        lines.append(line if pin is None else f"# {written}  is ruled out here: {pin}")
    return replace(finding, change="\n".join(lines))


def _facts(training: TrainingParts, hardware: Hardware | None) -> TrainingFacts:
    from ..engine.session import SESSION

    return gather(training, hardware=hardware, applied=SESSION.applied())


def _findings_of(trainer: Any) -> Findings:
    try:
        return run(trainer, None, None)
    except Exception:
        # It must not stop the user's training: the traceback is in the log.
        logger.exception("patchkit: the preflight failed, and training goes on without it")
        return Findings([])
