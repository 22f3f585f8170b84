"""Answer for each framework whether fp16 works with it, and bf16, without patchkit and with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..sweep.verdicts import CellVerdict
from .known import cause
from .records import FrameworkCell
from .results import FrameworkResults
from .tried import FRAMEWORKS

_Verdict = CellVerdict[FrameworkCell]
_YES = "trains"
_OTHERWISE = "trains, with patchkit with [other numbers](#other-numbers-and-why)"
_WITH = {
    "run": "dies, and trains with `patchkit run`",
    "legacy": "dies, and trains with `patchkit run --legacy`",
}
_NO = "dies, with patchkit, too"
_NO_GPU = "cannot be trained without a GPU"
_WORSE = "worse with patchkit"


@dataclass(frozen=True)
class FrameworkAnswer:
    """What happens with a framework.

    Args:
        framework: its name.
        fp16: what its trainings in fp16 come to, in words; empty if none was tried.
        bf16: likewise.
        start: the command that starts it with patchkit.
    """

    framework: str
    fp16: str
    bf16: str
    start: str


def answers(results: FrameworkResults) -> Iterator[FrameworkAnswer]:
    """Yield an answer for each framework that was tried."""
    for name in dict.fromkeys(verdict.cell.framework for verdict in results.verdicts):
        of_it = [verdict for verdict in results.verdicts if verdict.cell.framework == name]
        fp16, bf16 = (
            _by_training(verdict for verdict in of_it if verdict.cell.mode.startswith(precision))
            for precision in ("fp16", "bf16")
        )
        legacy = _WITH["legacy"] in (*fp16.values(), *bf16.values())
        start = f"patchkit run {'--legacy ' if legacy else ''}-- {FRAMEWORKS[name].start}"
        yield FrameworkAnswer(name, _sentence(fp16), _sentence(bf16), start)


def _by_training(verdicts: Iterable[_Verdict]) -> dict[tuple[str, str, str], str]:
    """Return what each training comes to, by task, method and quantization."""
    found: dict[tuple[str, str, str], list[_Verdict]] = {}
    for verdict in verdicts:
        cell = verdict.cell
        training = (cell.task, cell.method, cell.mode.partition("/")[2])
        found.setdefault(training, []).append(verdict)
    return {training: _outcome(of_it) for training, of_it in found.items()}


def _outcome(verdicts: list[_Verdict]) -> str:
    outcomes = {verdict.outcome.name for verdict in verdicts}
    if any(verdict.outcome.trouble for verdict in verdicts):
        return _WORSE
    if verdicts[0].without.worked:
        return _YES if outcomes == {"same"} else _OTHERWISE
    working = {verdict.cell.way for verdict in verdicts if verdict.with_patchkit.worked}
    no = _NO_GPU if cause(verdicts[0].with_patchkit.error) else _NO
    return next((text for way, text in _WITH.items() if way in working), no)


def _sentence(outcomes: dict[tuple[str, str, str], str]) -> str:
    """Say what the trainings come to, each kind once; a task alone stands for all of its kinds."""
    said: dict[str, list[str]] = {}
    for (task, method, stored), outcome in outcomes.items():
        whole = all(other == outcome for key, other in outcomes.items() if key[0] == task)
        stored = "unquantized" if stored == "none" else stored
        # Only adapters are trained on quantized weights.
        kind = method if method == "full" else f"{method} {stored}"
        name = task if whole else f"{task} {kind}"
        if name not in said.setdefault(outcome, []):
            said[outcome].append(name)
    return "; ".join(f"{', '.join(names)}: {outcome}" for outcome, names in said.items())
