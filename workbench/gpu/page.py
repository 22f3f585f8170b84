"""Write docs/gpu.md: the measurements of a GPU, or that there are none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .parts import PARTS, WITH, WITHOUT, Row

CPU_NOTE = "device: cpu; nothing here speaks for a GPU"

_INTRODUCTION = """\
# On a GPU

Written by `python -m workbench gpu --page`; edit `workbench/gpu/page.py`, not this page.

{state}

## Run it

```console
python -m workbench gpu --wheels WHEELS --output gpu.json   # ten minutes at most
python -m workbench record gpu.json                         # beside the runs on CPUs
python -m workbench gpu --page gpu.json                     # write this page
```

It needs a checkout, and a Python with torch, transformers, peft and accelerate. WHEELS is a folder with wheels of
what else is missing there: trl, datasets, bitsandbytes and what they require (dill, multiprocess, pyarrow, xxhash,
pandas, …), and for patchkit click, packaging, pyyaml, rich and wrapt. They are unpacked into a temporary folder and
nothing is installed; a wheel for another Python or platform is left out, which the JSON says. No network is used.

The parts run in the order below, each side of each in a process of its own with a time limit, until the budget
(`--budget`, 540 seconds) is spent. What did not run is in the JSON too, with the reason. A process that dies is
followed by another for what it has left undone. `--parts` chooses some. Without a GPU all of it runs scaled down.
"""

_NOTHING = "**No GPU has been measured yet.** One command does it, and writes this page."

_SHOWS = {
    "machine": "the device, the versions, and whether a 4-bit layer runs there at all",
    "crashes": "six trainers in fp16 on 4-bit models loaded in float16 and in bfloat16: the step that a training "
    "dies at without patchkit, and the losses with it",
    "reproducers": "`patchkit verify` with the device in each verdict, for the matrix. Reproducers use the GPU, "
    "except those of bugs that only a CPU has",
    "precisions": "losses, time of a step and memory, with and without patchkit; 0.36 billion parameters",
    "quant_states": "time and memory, forward and backward, as ratios to a layer whose dtypes agree",
    "merges": "the share of the base's weights that ten pairs of `merge_adapter` and `unmerge_adapter` change",
    "evaluation": "`fp16_full_eval` and `bf16_full_eval`, then a training step",
    "generation": "greedy generation, which stops without patchkit if a norm is float32",
    "compiled": "graphs, graph breaks and losses of compiled models with adapters, beside those of eager ones",
}


def page(results: dict[str, Any] | None) -> str:
    """Return the page.

    Args:
        results: what `gpu` wrote; None if nothing was measured.
    """
    if results is None:
        lines = ["## What it will show", "", "| part | shows |", "| --- | --- |"]
        lines += [f"| {part.title} | {_SHOWS[name]} |" for name, part in PARTS.items()]
        return _INTRODUCTION.format(state=_NOTHING) + "\n" + "\n".join(lines) + "\n"
    device, date = results["device"], results["date"]
    if device == "cpu":
        state = f"{_NOTHING}\n\nThe figures below are from a CPU, of {date}. They show that the program runs."
    else:
        state = f"All figures below are from one {device}, of {date}, {results['seconds']:.0f} seconds in all."
    sections = [_INTRODUCTION.format(state=state)]
    for name, found in results["parts"].items():
        sections.append(_section(name, found, device))
    return "\n".join(sections)


def _section(name: str, found: Row, device: str) -> str:
    lines = [f"## {found['title']}", "", f"From {device}: {_SHOWS[name]}.", ""]
    if found["rows"]:
        lines += _TABLES[name](found["rows"])
    missing = found.get("not_run", [])
    if found["state"] != "done":
        lines += ["", f"Not complete: {found['state']}."]
    lines += [
        f"\nNot run: {row['unit']} ({row['side']} patchkit): {row['reason']}." for row in missing
    ]
    return "\n".join(lines) + "\n"


def _table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> list[str]:
    cells = [list(header), *([str(cell) for cell in row] for row in rows)]
    lines = [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in cells]
    return [lines[0], f"|{' --- |' * len(cells[0])}", *lines[1:]]


def _both_sides(say: Callable[[Row], str], *, of: str) -> Callable[[list[Row]], list[str]]:
    """Return a writer of tables with a row for each unit, and a column for each side."""

    def write(rows: list[Row]) -> list[str]:
        found = {(row["unit"], row["side"]): row for row in rows}
        units = dict.fromkeys(row["unit"] for row in rows)

        def cell(unit: str, side: str) -> str:
            row = found.get((unit, side))
            return "" if row is None else say(row) if row["outcome"] == "ok" else _died(row, say)

        return _table(
            (of, "without patchkit", "with patchkit"),
            ((unit, cell(unit, WITHOUT), cell(unit, WITH)) for unit in units),
        )

    return write


def _died(row: Row, say: Callable[[Row], str]) -> str:
    at = f" in step {row['step']}" if row.get("step") else ""
    # An evaluation that is followed by a training that dies has figures of its own.
    before = f"{say(row)}; then " if "loss" in row else ""
    return f"{before}dies{at}: `{str(row.get('error', row['outcome']))[:120]}`"


def _memory(row: Row) -> str:
    return f", {row['peak_mib']:.0f} MiB" if "peak_mib" in row else ""


def _numbers(values: Iterable[float]) -> str:
    return ", ".join(f"{value:.4g}" for value in values)


def _trained(row: Row) -> str:
    return f"trains, losses {_numbers(row['losses'])}{_memory(row)}"


def _timed(row: Row) -> str:
    losses = _numbers((row["losses"][0], row["losses"][-1]))
    dtypes = ", ".join(row["dtypes"])
    return f"{row['median_ms']:.4g} ms a step{_memory(row)}, adapters {dtypes}, first and last loss {losses}"


def _merged(row: Row) -> str:
    text = f"{row['changed']:.2%} of the weights changed, logits by {row['logits']:.2g}"
    return text + (f", merged weights unpack to {row['quant_state']}" if row["quant_state"] else "")


def _evaluated(row: Row) -> str:
    kept = "kept" if row["frequencies"] else "rounded"
    return f"loss {row['loss']:.6g}{_memory(row)}, {', '.join(row['dtypes'])} afterwards, frequencies {kept}"


def _generated(row: Row) -> str:
    return f"{row['ms_per_token']:.4g} ms a token{_memory(row)}"


def _compiled(row: Row) -> str:
    graphs = f"{row['graphs']} graphs, {row['breaks']} breaks"
    return (
        f"{graphs}, losses {_numbers(row['losses'])}, {row['apart']:.1g} from eager{_memory(row)}"
    )


def _machine(rows: list[Row]) -> list[str]:
    known = ("side", "unit", "outcome", "error", "patches")

    def facts(row: Row) -> Iterator[str]:
        if "error" in row:
            yield f"`{row['error']}`"
        for name, value in row.items():
            if name not in known:
                yield f"{name.replace('_', ' ')} {value}"
        if "patches" in row:
            counts = dict.fromkeys(sorted(row["patches"].values()), 0)
            for status in row["patches"].values():
                counts[status] += 1
            yield ", ".join(f"{count} {status}" for status, count in counts.items())

    return _table(
        ("what", "outcome", ""),
        ((row["unit"], row["outcome"], ", ".join(facts(row))) for row in rows),
    )


def _reproduced(rows: list[Row]) -> list[str]:
    return _table(("patch", "outcome"), ((f"`{row['unit']}`", row["outcome"]) for row in rows))


def _layers(rows: list[Row]) -> list[str]:
    def cells(row: Row) -> Iterator[tuple[str, ...]]:
        if row["outcome"] != "ok":
            yield row["unit"], f"`{row['error']}`", "", "", ""
            return
        for layer, parts in row["ratios"].items():
            yield row["unit"], layer, *(f"{parts[part]:.2f}" for part in _LAYER_PARTS)

    return _table(
        ("layer", "what differs", *_LAYER_PARTS), (line for row in rows for line in cells(row))
    )


_LAYER_PARTS = ("forward", "backward", "memory")
_TABLES: dict[str, Callable[[list[Row]], list[str]]] = {
    "machine": _machine,
    "crashes": _both_sides(_trained, of="trainer and weights"),
    "reproducers": _reproduced,
    "precisions": _both_sides(_timed, of="precision"),
    "quant_states": _layers,
    "merges": _both_sides(_merged, of="base"),
    "evaluation": _both_sides(_evaluated, of="precision"),
    "generation": _both_sides(_generated, of="weights"),
    "compiled": _both_sides(_compiled, of="weights and backend"),
}
