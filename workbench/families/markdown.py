"""Write the results of a sweep as a page of the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from patchkit.text import short_list

from ..sweep.shown import HEADINGS, code, counted, escaped, head, measured_on, row, section
from ..sweep.verdicts import Group
from .known import CAUSES, count_answered, count_causes, count_told, reason_unbuilt
from .model_types import TASKS
from .records import FamilyCell
from .results import FamilyResults, Table, groups, places

_MOST_NAMES = 24
PICTURE = "families.svg"
"""Beside the page; `--picture` draws it."""
_INTRODUCTION = """\
# Model families

Does a training work for your model? `python -m workbench families` makes a tiny model of each model type
that the installed Transformers knows, and tries it in processes of its own, without patchkit and
with it.

```console
python -m workbench families llama 'qwen3*'             # these types
python -m workbench families --output families.jsonl    # all causal types; an interrupted run continues
python -m workbench families --task vision              # another task
python -m workbench families llama --method all         # the methods of PEFT on one type
```

Find a type with the search of this site, or of your browser. Where a cell is not `=`, the sections
below say what happened and why: each cell that fails both ways has its cause. An empty cell was
not tried. [This command](workbench.md#families) made the page of the results that it keeps:
`python -m workbench families --show --task all --mode all --method all --picture docs/families.svg --format markdown`.

Each attempt loads the model, trains it for two steps with the `Trainer`, saves it, loads it again,
generates three tokens and merges the adapters. What is loaded again must have the weights and the
logits that were saved. A merged model must have those from before, within half of their size. Where 4-bit weights are
rounded again, which moves the logits of some tiny models further, its weights must be the sums of base and adapters,
as near as nf4 comes to them. `lora` is LoRA of rank 4 on all linear layers, and `full` trains all weights.
`4bit` is nf4. fp16 takes [CUDA's path on a CPU](cuda-on-a-cpu.md), and 4-bit layers
are not packed for the inference of a CPU. Where they are, a merge after an evaluation reads
shuffled numbers without patchkit: logits of a tiny OPT moved by 1.03 of their size, and by 0.16
with it. A tiny ALBERT stopped, since its sizes cannot be packed
([why](patches/bitsandbytes-cpu-inference-packing.md)).
`fp16-of-bf16` is fp16 of a bfloat16
checkpoint, and `plain` trains without autocast. Models for CTC save their adapters by
`save_pretrained(…, save_embedding_layers=False)`: `all-linear` names `lm_head`, so PEFT would save the embeddings,
and these models have none. Reward models and preferences are trained by TRL's `RewardTrainer` and `DPOTrainer` with their
defaults, which checkpoint gradients, and given the adapters as `peft_config`: the twenty most used types, chosen by
hand so that each kind of layers is among them. Without the two patches that explain them, all 246 `~` of these two tasks
have the numbers that they have without patchkit. `*/8bit` stands for all precisions that were tried.

The models have two layers, or one of each kind, and random weights. So this page tells which code
runs, and whether patchkit changes what it computes. It does not tell how well a released model
learns.

Cells that were measured before 2026-11-23 compare logits alone, and may hide adapters that PEFT saves and does not load:
of 113 causal and vision types whose names Transformers converts, Inkling 2, DeepSeek-OCR 2, Laguna and Mistral Large 4
lose some, by a look of its own without training. That is shown but for eleven cells of Inkling 2, which say `=`.

In fp16 a training goes on until the gradient scaler, which begins at 65536, has taken two steps. Cells of fp16 that were
measured before 2026-11-24 stopped after two, which it may have skipped: in 114 of 802 whose figures were looked at it
had, so that their sign speaks of all but a step. 23 of these were measured again, and work. A skipped step has gradients
that are infinite or NaN in float16, on both sides: Aria's are in four steps, and finite from a scale of 4096 on.
"""


def as_markdown(results: FamilyResults) -> str:
    """Return the page of the documentation: a table for each task, then what is to be said."""
    return "\n".join([_INTRODUCTION, *_lines(results)])


def _lines(results: FamilyResults) -> Iterator[str]:
    yield from measured_on(results)
    yield from counted(results)
    yield from _causes(results)
    for table in results.tables():
        yield from _table(table)
    for name, heading in HEADINGS.items():
        found = groups(results.with_outcome(name))
        yield from section(f"## {heading}", found, lambda group: "; ".join(_places(results, group)))
    if results.unbuilt:
        yield from ("## No tiny model", "")
        yield "No tiny model of these types could be built, so nothing is known about them."
        yield ""
        yield from ("| type | task | what happens | why |", "| --- | --- | --- | --- |")
        for build in results.unbuilt:
            subject = build.subject
            why = escaped(reason_unbuilt(build))
            yield f"| {subject.type} | {subject.task} | {code(build.error)} | {why} |"
        yield ""


def _causes(results: FamilyResults) -> Iterator[str]:
    """Yield the table of what fails both ways by cause, and its picture."""
    failing = list(results.with_outcome("fails"))
    counts, told, answered = (
        count(failing) for count in (count_causes, count_told, count_answered)
    )
    if counts:
        yield (
            "| cause of what fails both ways | cells | [preflight](preflight.md) tells "
            "| `patchkit explain` answers the error |"
        )
        yield "| --- | --: | --: | --: |"
        yield from (
            f"| {CAUSES.get(name, 'not known')} | {number} | {told[name]} | {answered[name]} |"
            for name, number in counts.most_common()
        )
        yield from ("", f"![cells that fail both ways, by cause]({PICTURE})", "")


def _table(table: Table) -> Iterator[str]:
    title = TASKS[table.task].title
    yield from (f"## {title if table.by == 'type' else f'{title}: methods'}", "")
    untried = sum(None in verdicts for _, verdicts in table.rows)
    if untried:
        yield from (f"{untried} of these {len(table.rows)} were not tried in all columns.", "")
    yield from head((table.by,), table.heads)
    for name, verdicts in table.rows:
        yield row((name,), verdicts)
    yield ""


def _places(results: FamilyResults, group: Group[FamilyCell]) -> Iterator[str]:
    """Yield model types, those with the same cells together."""
    types: dict[tuple[str, ...], list[str]] = {}
    tasks = {verdict.cell.subject.task for verdict in results.verdicts}
    for subject, cells in places(group).items():
        where = tuple(_cells(results, cells))
        if len(tasks) > 1:
            where = (f"{subject.task}:", *where)
        types.setdefault(where, []).append(subject.type)
    for where, names in types.items():
        cells_of_all = ", ".join(where).replace(":, ", ": ")
        yield f"{short_list(names, _MOST_NAMES)} ({cells_of_all})"


def _cells(results: FamilyResults, cells: Iterable[FamilyCell]) -> Iterator[str]:
    """Yield modes with their methods, precisions of the same quantization together."""
    methods: dict[str, dict[str, None]] = {}
    for cell in cells:
        methods.setdefault(cell.mode, {})[cell.method] = None
    alike: dict[tuple[str, str], list[str]] = {}
    for mode, found in methods.items():
        precision, quantization = mode.split("/")
        alike.setdefault((quantization, " and ".join(found)), []).append(precision)
    for (quantization, names), precisions in alike.items():
        every = results.precisions[quantization] == set(precisions) and len(precisions) > 1
        chosen = "*" if every else " and ".join(precisions)
        yield f"{chosen}/{quantization} {names}"
