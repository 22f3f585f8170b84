"""Each part of `python -m workbench gpu` on a CPU, and its file in the matrix."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench import ROOT
from workbench.record.recording import from_files

from ....processes import run_python

MEASURE = """
    import importlib, sys
    sys.path.append({root!r})
    {apply}
    from patchkit.lab import cuda_fp16, tiny
    tiny.go_offline()
    cuda_fp16.install()
    part = importlib.import_module("workbench.gpu.{part}")
    result = list(part.rows([unit for unit in part.units() if unit == {unit!r}]))
"""
APPLY = "import patchkit; patchkit.apply()"
# A part with a unit of it, and what is known of its row without patchkit and with it.
UNITS = {
    "machine": ("4-bit layer", "ok", {"library"}),
    "crashes": ("reward in float16", "died", {"losses", "changed", "dtypes"}),
    "precisions": ("fp16", "died", {"losses", "median_ms", "dtypes"}),
    "quant_states": ("256 x 256, 8 tokens, bfloat16", "ok", {"ratios", "milliseconds"}),
    "merges": ("4-bit bfloat16", "ok", {"changed", "logits", "merged", "quant_state"}),
    "evaluation": ("fp16", "died", {"loss", "dtypes", "frequencies"}),
    "generation": ("4-bit float16", "died", {"tokens", "ms_per_token"}),
    "compiled": ("bfloat16, eager", "ok", {"losses", "eager", "apart", "breaks"}),
}


@pytest.mark.parametrize("part", UNITS)
def test_a_part(forked, part: str) -> None:
    unit, without, known = UNITS[part]

    def measure(apply: str) -> dict[str, object]:
        begun, row = forked(MEASURE.format(root=str(ROOT), apply=apply, part=part, unit=unit))
        assert begun == {"begin": unit}
        assert row["unit"] == unit
        return row

    row = measure(APPLY)
    assert row["outcome"] == "ok", row
    assert known <= row.keys()
    if without == "died":
        row = measure("")
        assert row["outcome"] == without
        assert row["error"]


def test_verdicts_go_beside_those_of_another_device(tmp_path: Path) -> None:
    """Run the program itself, on the reproducer of one patch; then say that it was a GPU."""
    patch, output = "bitsandbytes-compute-dtype-frozen", tmp_path / "gpu.json"
    arguments = ["--output", output, "--parts", "reproducers", "--units", patch]
    done = run_python(ROOT / "workbench", "gpu", *arguments)
    assert "nothing here speaks for a GPU" in done.stdout
    results = json.loads(output.read_text())
    assert results["device"] == results["environment"]["device"] == "cpu"
    assert [verdict["id"] for verdict in results["verdicts"]] == [patch]
    assert {name: part["state"] for name, part in results["parts"].items()} == {
        "machine": "done",
        "reproducers": "done",
    }
    results["environment"]["device"] = "NVIDIA X"
    (tmp_path / "other.json").write_text(json.dumps(results))
    matrix = from_files([output, tmp_path / "other.json", tmp_path / "other.json"])
    runs = [(result.patch, result.environment.device) for result in matrix.results]
    assert sorted(runs) == [(patch, "NVIDIA X"), (patch, "cpu")]
