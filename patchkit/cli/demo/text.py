"""Write the text that the demo prints."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping

from ...environment import installed_version
from ...text import plural
from .outcome import TrainingOutcome, aside, ending, subject

_WIDTH = 80
_MOST_LOSSES = 20


def intro(setup: Mapping[str, str], steps: int) -> str:
    """Describe the two trainings before they start."""
    return _fill(
        f"{subject(setup)}, {plural(steps, 'step')} with TRL {installed_version('trl')}: without "
        "patchkit, then with it. The model and its data are made here; nothing is downloaded, "
        "and nothing is kept."
    )


def summary(without: TrainingOutcome, fixed: TrainingOutcome, setup: Mapping[str, str]) -> str:
    """Describe the outcomes, and what to do next."""
    paragraphs = [
        *(
            _outcome_text(title, outcome)
            for title, outcome in (("without", without), ("with", fixed))
        ),
        _fill(aside(fixed, setup["precision"])),
        str(fixed.get("report_text", "")),
        *(_next_steps(without, fixed) if fixed["ok"] else ()),
    ]
    return "\n" + "\n\n".join(filter(None, paragraphs))


def _outcome_text(title: str, outcome: TrainingOutcome) -> str:
    lines = [f"{title} patchkit: {ending(outcome)}"]
    if not outcome["ok"]:
        error = f"{outcome['error_type']}: {outcome['error']}".strip()
        lines += [_fill(line, "  ") for line in error.splitlines()]
    lines += [_fill(line, "  ", "    ") for line in _numbers(outcome)]
    return "\n".join(lines)


def _numbers(outcome: TrainingOutcome) -> Iterator[str]:
    trained = [tensors for tensors in outcome.get("dtypes", ()) if tensors["trained"]]
    counts: Counter[str] = Counter()
    for tensors in trained:
        counts.update(tensors["dtypes"])
    if counts:
        dtypes = ", ".join(f"{number} {name}" for name, number in counts.items())
        changed = f", {outcome['changed']} of them changed" if "changed" in outcome else ""
        yield f"trained tensors: {dtypes}{changed}"
    if losses := [f"{loss:.3f}" for loss in outcome.get("losses", ())]:
        if len(losses) > _MOST_LOSSES:
            half = _MOST_LOSSES // 2
            losses[half:-half] = ["..."]
        yield f"loss by step: {' '.join(losses)}"
    if outcome["ok"] and outcome["trainer"] in ("grpo", "rloo"):
        yield "(about 0 by construction: the advantages of a group sum to 0)"


def _next_steps(without: TrainingOutcome, fixed: TrainingOutcome) -> Iterator[str]:
    from ...catalogue.entries import load
    from ...known.answering import entries_with_symptom
    from ...known.reading import read

    if not without["ok"]:
        rows = fixed.get("report", {}).get("patches", ())
        applied = {row["id"] for row in rows if row["status"] == "applied"}
        matches = entries_with_symptom(read(str(without["error"])), load())
        ids = [entry.patch.id for entry in matches if entry.patch.id in applied]
        if ids:
            yield "\n  ".join(["Patches that know the error of the first training:", *ids])
    yield "`patchkit explain ID` and `patchkit diff ID` show what one of them is and does."
    yield (
        "In your own training: `patchkit run -- python train.py`, or in the program\n\n"
        "    import patchkit\n    patchkit.apply()"
    )
    yield "For a script of older releases: `patchkit run --legacy -- python old.py`."


def _fill(text: str, indent: str = "", continuation: str | None = None) -> str:
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent if continuation is None else continuation,
        break_long_words=False,
        break_on_hyphens=False,
    )
