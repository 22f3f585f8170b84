"""Write the results with quantizers other than bitsandbytes as a page of the documentation."""

from __future__ import annotations

from collections.abc import Iterator

from ..sweep.shown import code, measured_on
from ..sweep.trial import Trial
from ..sweep.verdicts import CellVerdict
from .quantizer_notes import NOTES
from .records import STEPS, FamilyCell
from .results import FamilyResults

_INTRODUCTION = """\
# Quantizers

Does it work with your quantizer? Most of patchkit is about bitsandbytes, which
[families.md](families.md) has. This page has the others, as far as they install and run on a CPU.
What they run is the same: load, train two steps, save, load again, generate and merge, without
patchkit and with it.

```console
pip install torchao hqq optimum-quanto auto-round gptqmodel optimum compressed-tensors
python -m workbench families llama qwen2 gpt_oss --mode quantizers           # all of them
python -m workbench families llama --mode '*/torchao*' --mode bf16/hqq-4bit  # some
```

What is not installed is left out and named. pip may bring another PyTorch with these libraries:
tell it which one you have (`torch==…`). torchao, quanto and HQQ quantize the tiny model when it is
loaded. AutoRound writes the checkpoints of GPTQ, AWQ and AutoRound, by rounding without
calibration. Those of compressed-tensors are written by its own library, and MXFP4 by patchkit.
Adapters are put on the layers by their names.
"""
_EXPLANATION = """\
## What happens

`layers return` has the dtypes of the quantized layers' outputs after the training, under its
autocast. A step that fails is named, with its error; `trains` says that it came after the training.
`same` says that all is as without patchkit, down to the last digit of each figure.
"""
_MODES = {"fp16-of-bf16": "fp16, bfloat16 model", "fp16": "fp16, float16 model", "bf16": "bf16"}


def as_quantizers_page(results: FamilyResults) -> str:
    """Return the page: what each quantizer did, and what patchkit does, says and leaves."""
    return "\n".join([_INTRODUCTION, *measured_on(results), *_outcomes(results), *_notes()])


def _outcomes(results: FamilyResults) -> Iterator[str]:
    yield from (
        _EXPLANATION,
        "| quantizer | training | model types | layers return | without patchkit | with patchkit |",
        "| --- | --- | --- | --- | --- | --- |",
    )
    rows: dict[tuple[str, ...], list[str]] = {}
    for mode, method in results.columns:
        for verdict in results.verdicts:
            cell = verdict.cell
            if (cell.mode, cell.method) == (mode, method) and verdict.outcome.name != "untried":
                rows.setdefault(_row(verdict), []).append(cell.subject.type)
    for (quantizer, training, *rest), types in sorted(rows.items(), key=_by_quantizer):
        yield f"| {' | '.join((quantizer, training, ', '.join(types), *rest))} |"
    yield ""


def _row(verdict: CellVerdict[FamilyCell]) -> tuple[str, ...]:
    precision, _, quantizer = verdict.cell.mode.partition("/")
    returned = verdict.with_patchkit.figures.get("dtypes", {}).get("base layers", ())
    with_patchkit = "same" if verdict.outcome.name == "same" else _what(verdict.with_patchkit)
    if not verdict.without.worked and verdict.without.error == verdict.with_patchkit.error:
        with_patchkit = "same"
    return (
        quantizer,
        f"{_MODES.get(precision, precision)}, {verdict.cell.method}",
        ", ".join(returned),
        _what(verdict.without),
        with_patchkit,
    )


def _by_quantizer(row: tuple[tuple[str, ...], list[str]]) -> int:
    names = [name for note in NOTES for name in note.names]
    return names.index(row[0][0])


def _what(trial: Trial) -> str:
    if trial.worked:
        return "works"
    after = trial.step in STEPS[STEPS.index("step") + 1 :]
    return f"{'trains; ' if after else ''}{trial.step}: {code(trial.error)}"


def _notes() -> Iterator[str]:
    yield from (
        "## What patchkit does, says and leaves",
        "",
        "| quantizer | where its dtype comes from | patchkit | what is left |",
        "| --- | --- | --- | --- |",
    )
    for note in NOTES:
        yield f"| {', '.join(note.names)} | {note.dtype} | {note.patchkit} | {note.left} |"
    yield ""
