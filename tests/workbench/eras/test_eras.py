"""`python -m workbench eras`: its scripts and sets, what it reads off an output, and its table."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from patchkit.lab import tiny
from workbench import ROOT
from workbench.sweep import pages

PARTS = ROOT / "workbench" / "eras"


@pytest.fixture
def module():
    """`module("running")`: a module of the program."""
    return lambda name: importlib.import_module(f"workbench.eras.{name}")


def test_each_era_has_scripts_and_exact_pins(module) -> None:
    eras = module("eras")
    written = {script.era for script in eras.scripts()}
    assert written == set(eras.ERAS)
    assert len(eras.scripts()) >= 40
    for era in (*eras.ERAS, eras.NEWEST):
        pins = eras.requirements(era).read_text(encoding="utf-8").split()
        assert all(re.fullmatch(r"[\w-]+==[\w.]+", pin) for pin in pins), era
        assert next(pin for pin in pins if pin.startswith("trl==")).startswith(f"trl=={era}.")


def test_scripts_that_use_what_is_gone_are_scripts(module) -> None:
    eras = module("eras")
    names = {script.name for script in eras.scripts()}
    assert set(eras.gone_for_good()) < names


def test_a_python_file_that_a_shell_line_runs_is_no_script_of_its_own(module, tmp_path) -> None:
    eras = module("eras")
    (tmp_path / "0.7").mkdir()
    for name in ("alone.py", "with_line.py", "with_line.sh", "with_line.yaml", "book.ipynb"):
        (tmp_path / "0.7" / name).write_text(name)
    found = eras.scripts(tmp_path)
    assert [script.name for script in found] == [
        "0.7/alone.py",
        "0.7/book.ipynb",
        "0.7/with_line.sh",
    ]
    before = found[2].digest
    (tmp_path / "0.7" / "with_line.yaml").write_text("other")
    assert found[2].digest != before


OUTPUTS = {
    "the last error, and the script's own line": (
        """
        Traceback (most recent call last):
          File "/tmp/work/train.py", line 3, in <module>
            trainer = SFTTrainer(
                      ^^^^^^^^^^^
          File "/site-packages/trl/trainer.py", line 9, in __init__
            raise TypeError(name)
        TypeError: SFTTrainer.__init__() got an unexpected keyword argument 'tokenizer'
        """,
        (
            "TypeError: SFTTrainer.__init__() got an unexpected keyword argument 'tokenizer'",
            "trainer = SFTTrainer(",
        ),
    ),
    "a command line that is not understood": (
        """
        usage: train.py [-h]
        train.py: error: argument --bf16: expected one argument
        """,
        ("train.py: error: argument --bf16: expected one argument", ""),
    ),
    "an error of a module": (
        """
          File "/tmp/work/train.py", line 1
            import x
        accelerate.utils.SomeError: text: more
        """,
        ("accelerate.utils.SomeError: text: more", "import x"),
    ),
    "a script that a launcher started": (
        """
          File "/tmp/work/train.py", line 1, in <module>
            import x
        ImportError: no x
        Traceback (most recent call last):
          File "/bin/accelerate", line 8, in <module>
        subprocess.CalledProcessError: Command '['train.py']' returned non-zero exit status 1.
        """,
        ("ImportError: no x", "import x"),
    ),
    "a notebook": (
        """
        Traceback (most recent call last):
          Cell In[5], line 2
            trainer = f(
        TypeError: f() got an unexpected keyword argument 'a'

        """,
        ("TypeError: f() got an unexpected keyword argument 'a'", "trainer = f("),
    ),
    "nothing that is known": ("killed\n", ("killed", "")),
}


@pytest.mark.parametrize("case", OUTPUTS)
def test_what_failed_is_read_off_the_output(module, case: str) -> None:
    output, expected = OUTPUTS[case]
    script = module("eras").EraScript("0.7", Path("train.py"))
    assert module("running")._failure(textwrap.dedent(output), script) == expected


def result(state: str = "trained", losses: tuple[float, ...] = (2.0, 1.0), **more: Any) -> Any:
    batch = {"input_ids": [[1, 2]]}
    return {"state": state, "losses": list(losses), "logged": [], "batch": batch, **more}


def test_the_table_compares_what_trained_on_both_sides(module) -> None:
    failed = result("failed", (), error="TypeError: a | b", line="x(")
    table = module("page").table(
        {
            "0.7/a.py": {"own": result(), "newest": failed, "legacy": result(losses=(2.0, 1.001))},
            "0.7/b.py": {"own": result(), "newest": result(batch={}), "legacy": result()},
            "0.7/c.py": {"own": result(), "newest": failed},
        }
    )
    assert table.splitlines()[2:] == [
        r"| 0.7/a.py | trained | `TypeError: a \| b` | trained | same | 1.0e-03 |",
        "| 0.7/b.py | trained | trained | trained | same | same |",
        r"| 0.7/c.py | trained | `TypeError: a \| b` | not run |  |  |",
    ]


BATCHES = {
    "the same rows": ({"input_ids": [[1, 2]]}, {"input_ids": [[1, 2]]}, "same"),
    "the same rows in another order": (
        {"input_ids": [[1, 2], [3]]},
        {"input_ids": [[3], [1, 2]]},
        "other order",
    ),
    "other rows": ({"input_ids": [[1, 2]]}, {"input_ids": [[1, 3]]}, "other"),
    "other labels": (
        {"input_ids": [[1, 2]], "labels": [[1, 2]]},
        {"input_ids": [[1, 2]], "labels": [[2]]},
        "other labels",
    ),
    "pairs with the prompt, and without": (
        {"chosen_input_ids": [[1, 2]], "rejected_input_ids": [[1, 3]], "prompt_input_ids": [[1]]},
        {"chosen_input_ids": [[2]], "rejected_input_ids": [[3]], "prompt_input_ids": [[1]]},
        "same",
    ),
    "pairs, and one batch of both": (
        {"chosen_input_ids": [[2]], "rejected_input_ids": [[3]], "prompt_input_ids": [[1]]},
        {"input_ids": [[1, 2], [1, 3]]},
        "same",
    ),
    "rewards": (
        {"input_ids_chosen": [[1, 2]], "input_ids_rejected": [[1, 3]]},
        {"input_ids": [[1, 2], [1, 3]]},
        "same",
    ),
    "nothing": ({}, {"input_ids": [[1, 2]]}, "not seen"),
}


@pytest.mark.parametrize("case", BATCHES)
def test_the_rows_of_two_releases_are_compared_whatever_their_names(module, case: str) -> None:
    own, new, expected = BATCHES[case]
    assert module("page")._same_ids(own, new) == expected


def test_the_table_goes_between_the_marks_of_a_page(module, tmp_path: Path) -> None:
    marks = module("page").MARKS
    file = tmp_path / "legacy.md"
    begin, end = marks
    file.write_text(f"before\n{begin}\nold\n{end}\nafter\n")
    pages.write("new\n", file, marks)
    assert file.read_text() == f"before\n{begin}\nnew\n{end}\nafter\n"
    file.write_text("no place")
    with pytest.raises(SystemExit, match="no place for the table"):
        pages.write("new\n", file, marks)


def test_made_up_rows_are_the_same_each_time(module) -> None:
    rows = module("rows")
    for dataset in module("hub").DATASETS.values():
        assert rows.rows(dataset.kind, 3, 1) == rows.rows(dataset.kind, 3, 1)


SCRIPT = """
import sys
from datasets import Dataset
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
model = AutoModelForCausalLM.from_pretrained(sys.argv[1])
rows = Dataset.from_list([{"input_ids": [5, 6, 7], "labels": [5, 6, 7]}] * 8)
arguments = TrainingArguments(
    "out", fp16=True, per_device_train_batch_size=2, report_to="none", save_strategy="no"
)
Trainer(model, arguments, train_dataset=rows).train()
"""


def test_a_training_is_watched_and_ends_after_some_steps(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "observed").mkdir()
    model = tiny.build_causal_lm(tmp_path / "model", dtype="float32")
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(PARTS / "observer"), str(ROOT)]),
        "LEGACY_OBSERVED": str(tmp_path / "observed"),
        "LEGACY_STEPS": "2",
    }
    command = [sys.executable, "script.py", str(model)]
    subprocess.run(command, cwd=tmp_path, env=env, check=True, capture_output=True)
    (file,) = (tmp_path / "observed").iterdir()
    events = [json.loads(line) for line in file.read_text().splitlines()]
    assert events[0] == {"batch": {"input_ids": [[5, 6, 7]] * 2, "labels": [[5, 6, 7]] * 2}}
    assert [event["step"] for event in events if "loss" in event] == [0, 1]


def test_the_table_of_scripts_written_anew(module) -> None:
    def side(state: str, *outcomes: str, losses: tuple[float, ...] = (), error: str = "") -> Any:
        findings = [{"old": "x=", "outcome": outcome} for outcome in outcomes]
        return {"state": state, "losses": losses, "findings": findings, "error": error}

    trained = side("trained", losses=(1.0,))
    lines = module("page_of_modernized").table(
        {
            "1/a.py": {"legacy": trained, "modernized": side("trained", "changed", losses=(1.0,))},
            "1/b.py": {"legacy": trained, "modernized": side("trained", losses=(1.5,))},
            "1/c.py": {
                "legacy": side("failed", error="GoneError: x"),
                "modernized": side("failed", "gone", "remarked", error="ImportError: x"),
            },
            "1/d.py": {"legacy": trained, "modernized": side("failed", error="TypeError: y")},
            "1/e.py": {"legacy": trained},
            "1/f.py": {
                "legacy": trained,
                "modernized": side("trained", losses=(2.0,)),
                "patched": trained,
            },
        }
    )
    assert lines.splitlines()[2:] == [
        "| 1/a.py | trained | trained | same | 1 |  |",
        "| 1/b.py | trained | trained | 5.0e-01 apart | 0 |  |",
        "| 1/c.py | refused | gone, and said |  | 0 | `x=` gone, `x=` remarked |",
        "| 1/d.py | trained | `TypeError: y` |  | 0 |  |",
        "| 1/f.py | trained | trained | 1.0e+00 apart; same with the patches | 0 |  |",
    ]
