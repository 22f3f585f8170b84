"""The notebook: executed here as a user would, and as it lies in the repository."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

from ..processes import run_python

EXECUTE = Path(__file__).with_name("execute_notebook.py")
COMMITTED = Path(__file__).parents[2] / "examples" / "qlora_fp16.ipynb"
CUDA_ERROR = (
    'NotImplementedError: "_amp_foreach_non_finite_check_and_unscale_cuda" '
    "not implemented for 'BFloat16'"
)


class Notebook:
    """A notebook by what its code cells say and put out."""

    def __init__(self, file: Path) -> None:
        self.cells: list[dict[str, Any]] = [
            cell
            for cell in json.loads(file.read_text("utf-8"))["cells"]
            if cell["cell_type"] == "code"
        ]

    def printed(self, source: str) -> str:
        """What the one cell that begins with this source printed."""
        return "".join("".join(output.get("text", "")) for output in self._outputs(source))

    def html(self, source: str) -> str:
        """What the one cell that begins with this source showed as HTML."""
        shown = (output.get("data", {}).get("text/html", "") for output in self._outputs(source))
        return "".join("".join(html) for html in shown)

    def _outputs(self, source: str) -> list[dict[str, Any]]:
        (cell,) = [cell for cell in self.cells if "".join(cell["source"]).startswith(source)]
        outputs: list[dict[str, Any]] = cell["outputs"]
        return outputs


# One test, since two processes of pytest-xdist would each execute the notebook for their half of two.
def test_what_it_shows_when_executed(tmp_path: Path) -> None:
    for needed in ("nbclient", "ipykernel", "trl"):
        pytest.importorskip(needed)
    output = tmp_path / "executed.ipynb"
    done = run_python(EXECUTE, output, HF_HUB_OFFLINE="1")
    assert done.returncode == 0, done.stderr[-4000:]
    check(Notebook(output))


def test_what_the_committed_outputs_show() -> None:
    check(Notebook(COMMITTED))


def test_the_committed_outputs_name_no_folder_of_a_machine() -> None:
    cells = Notebook(COMMITTED).cells
    # Diffs are from files below <patchkit>, which HTML spells otherwise.
    text = html.unescape(json.dumps([cell["outputs"] for cell in cells]))
    assert re.findall(r"(?<![\w.<>)/])/(?:[\w.-]+/)+[\w.-]+|[A-Z]:\\", text) == []
    assert not [
        output for cell in cells for output in cell["outputs"] if output.get("name") == "stderr"
    ]
    assert all(cell["execution_count"] for cell in cells)


def check(notebook: Notebook) -> None:
    without = notebook.printed("trainer = qlora_trainer()")
    assert without.splitlines() == ["adapters: {torch.bfloat16}", CUDA_ERROR]
    assert "half-trainable-under-scaler" in notebook.printed("import patchkit")

    applied = notebook.printed("patchkit.apply()")
    assert "adapters: {torch.float32}" in applied
    assert "nothing to fix" in applied

    found = re.fullmatch(r"loss: (\S+) -> (\S+)", notebook.printed("trainer.train()").strip())
    assert found
    first, last = map(float, found.groups())
    assert last < first - 0.5
    assert "Training Loss" in notebook.html("trainer.train()")

    report = notebook.html("patchkit.report()")
    number = re.search(r"(\d+) patches applied", report)
    assert number
    assert int(number[1]) > 5
    assert "trl-adapter-bf16-cast" in report
    assert "<details" in report

    diff = notebook.printed("print(patchkit.report()[").splitlines()
    assert diff[0].startswith("--- trl/trainer/sft_trainer.py")
    assert {line[0] for line in diff if line} >= {"-", "+", "@"}

    saved = notebook.printed("from safetensors").strip()
    assert re.fullmatch(r"[1-9]\d* tensors of \{torch\.float32\}", saved)

    reverted = notebook.printed("print(patchkit.revert()")
    assert re.search(r"\d+ available", reverted)
    assert not re.search("applied|pending|drifted|failed|overridden", reverted)
