"""The script of 2024: today's TRL refuses it, `run --legacy` runs it, and its twin trains the same."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

from ..processes import Done, run_python

EXAMPLES = Path(__file__).parents[2] / "examples"
OLD, NEW = EXAMPLES / "sft_2024.py", EXAMPLES / "sft_2024_modernized.py"
LOSS = re.compile(r"'loss': '?([\d.]+)")
TOLD = (
    "DataCollatorForCompletionOnlyLM has been gone since",
    "SFTTrainer(tokenizer=) has been gone since",
    "SFTTrainer(max_seq_length=) has been gone since",
    "TrainingArguments(evaluation_strategy=) has been gone since",
    "TrainingArguments(warmup_ratio=0.03) has been gone since",
)


def run(forks, folder: Path, script: Path, *arguments: str) -> Done:
    """Run a script by itself."""
    line = [str(script), *arguments]
    if forks:
        return Done(line, *forks.run(folder, {}, argv=line, file=line[0]))
    return run_python(*line, folder=folder)


@pytest.fixture(scope="module")
def tiny_model(forks, tmp_path_factory: pytest.TempPathFactory) -> Path:
    # Names and keywords that are in the list above are still there in older sets.
    trl = pytest.importorskip("trl")
    if int(trl.__version__.partition(".")[0]) < 1:
        pytest.skip(f"TRL {trl.__version__} still has names of 2024")
    folder = tmp_path_factory.mktemp("model")
    done = run(forks, folder, EXAMPLES / "tiny_model.py", str(folder / "tiny"))
    assert done.returncode == 0, done.stderr
    return folder / "tiny"


def arguments(model: Path) -> list[str]:
    rows = model / "rows.jsonl"
    return [f"--model={model}", f"--dataset={rows}", "--steps=4", "--output=kept"]


def test_without_the_layer_it_stops_in_its_imports(forks, tiny_model: Path, tmp_path: Path) -> None:
    done = run(forks, tmp_path, OLD, *arguments(tiny_model))
    assert done.returncode == 1
    assert "cannot import name 'DataCollatorForCompletionOnlyLM' from 'trl'" in done.stderr


def test_both_train_with_the_same_losses(launch, forks, tiny_model: Path, tmp_path: Path) -> None:
    losses = {}
    applying = tmp_path / "applying.py"
    applying.write_text(
        f"import patchkit, runpy\npatchkit.apply()\nrunpy.run_path({str(NEW)!r}, run_name='__main__')\n"
    )
    for script in (OLD, NEW):
        line = arguments(tiny_model)
        if script is OLD:
            command = ("run", "--legacy", "--", sys.executable, str(script), *line)
            done = launch("patchkit", *command)
        else:
            done = run(forks, tmp_path, applying, *line)
        assert done.returncode == 0, done.stderr[-3000:]
        losses[script] = LOSS.findall(done.stdout)
        (tmp_path / "kept" / "adapter_model.safetensors").unlink()
        told = [sentence for sentence in TOLD if sentence in done.stderr]
        assert told == (list(TOLD) if script is OLD else [])
    assert len(losses[OLD]) == 4
    assert all(float(loss) > 0 for loss in losses[OLD])
    assert losses[OLD] == losses[NEW]


def test_the_old_one_knows_nothing_of_patchkit() -> None:
    imported = {
        name.name if isinstance(node, ast.Import) else node.module
        for node in ast.walk(ast.parse(OLD.read_text("utf-8")))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in node.names
    }
    assert not [name for name in imported if str(name).startswith("patchkit")]


def test_its_twin_is_what_modernize_makes_of_it(tmp_path: Path) -> None:
    """But for the docstring. The releases that the twin was written for must be installed."""
    pytest.importorskip("libcst")
    if str(pytest.importorskip("trl").__version__) != "1.16.0":
        pytest.skip("the twin was written for TRL 1.16.0")
    file = tmp_path / OLD.name
    file.write_text(OLD.read_text("utf-8"), "utf-8")
    done = run_python("-m", "patchkit", "modernize", "--write", file)
    assert done.returncode == 0, done.stderr
    made, committed = (text.split('"""', 2)[2] for text in map(_read, (file, NEW)))
    assert made == committed


def _read(file: Path) -> str:
    return file.read_text("utf-8")
