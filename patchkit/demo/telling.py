"""What the demo prints."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping

from ..environment import installed_version
from ..wording import counted
from .outcome import Outcome, aside, ending, subject

_WIDTH = 80
_MOST_LOSSES = 20


def announced(what: Mapping[str, str], steps: int) -> str:
    """What is about to happen.

    Args:
        what: `trainer`, `precision` and `quantization`.
        steps: optimizer steps of each training.
    """
    return _filled(
        f"{subject(what)}, {counted(steps, 'step')} with TRL {installed_version('trl')}: without "
        "patchkit, then with it. The model and its data are made here; nothing is downloaded, "
        "and nothing is kept."
    )


def told(without: Outcome, mended: Outcome, what: Mapping[str, str]) -> str:
    """What came of it, and where to go from there."""
    paragraphs = [
        *(_one(title, it) for title, it in (("without", without), ("with", mended))),
        _filled(aside(mended, what["precision"])),
        str(mended.get("report_text", "")),
        *(_further(without, mended) if mended["ok"] else ()),
    ]
    return "\n" + "\n\n".join(filter(None, paragraphs))


def _one(title: str, outcome: Outcome) -> str:
    lines = [f"{title} patchkit: {ending(outcome)}"]
    if not outcome["ok"]:
        error = f"{outcome['error_type']}: {outcome['error']}".strip()
        lines += [_filled(line, "  ") for line in error.splitlines()]
    lines += [_filled(line, "  ", "    ") for line in _numbers(outcome)]
    return "\n".join(lines)


def _numbers(outcome: Outcome) -> Iterator[str]:
    trained = [one for one in outcome.get("dtypes", ()) if one["trained"]]
    counts: Counter[str] = Counter()
    for one in trained:
        counts.update(one["dtypes"])
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


def _further(without: Outcome, mended: Outcome) -> Iterator[str]:
    from ..catalogue import load
    from ..symptoms import with_symptom

    if not without["ok"]:
        rows = mended.get("report", {}).get("patches", ())
        applied = {row["id"] for row in rows if row["status"] == "applied"}
        found = with_symptom(str(without["error"]), load())
        known = [one.patch.id for one in found if one.patch.id in applied]
        if known:
            yield "\n  ".join(["Patches that know the error of the first training:", *known])
    yield "`patchkit explain ID` and `patchkit diff ID` show what one of them is and does."
    yield (
        "In your own training: `patchkit run -- python train.py`, or in the program\n\n"
        "    import patchkit\n    patchkit.apply()"
    )


def _filled(text: str, indent: str = "", further: str | None = None) -> str:
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent if further is None else further,
        break_long_words=False,
        break_on_hyphens=False,
    )
