"""`patchkit doctor script.py`: output, exit statuses, files of constraints, and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from packaging.requirements import Requirement

from patchkit.cli import main
from patchkit.cli.doctor import scripts as of_scripts
from patchkit.cli.doctor import scripts_command
from patchkit.environment import readable_version
from patchkit.matrix.lookup import shipped as matrix
from patchkit.matrix.records import public_version

TODAY = "from trl import SFTTrainer\nSFTTrainer('model', processing_class=None)\n"
OLD = "from trl import SFTTrainer\nSFTTrainer('model', tokenizer=None)\n"
GONE = "from trl import PPOTrainer\n"


@pytest.fixture(autouse=True)
def newest(monkeypatch, pins) -> dict[str, str]:
    """Let the newest set be what is installed."""
    versions = pins("1.16")
    monkeypatch.setattr(of_scripts, "readable_version", versions.get)
    return versions


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["doctor", *map(str, arguments)], prog_name="patchkit")


def lines(file: Path) -> list[Requirement]:
    return [Requirement(line) for line in file.read_text().splitlines() if not line.startswith("#")]


@pytest.mark.parametrize(
    ("text", "status", "runs"),
    [
        (TODAY, 0, "as it is"),
        (OLD, 1, "with the legacy layer"),
        (GONE, 1, "not"),
    ],
)
def test_exit_status_and_verdict(script, text: str, status: int, runs: str) -> None:
    result = invoke(script(text))
    assert result.exit_code == status, result.output
    assert result.stderr == ""
    assert f"runs here       {runs}" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    found = json.loads(invoke(script(text), "--json").stdout)
    assert found["schema"] == 1
    assert found["scripts"][0]["verdict"] == runs
    assert found["scripts"][0]["releases"]["trl"]["first"]


def test_a_step_has_the_set_that_has_what_is_gone(script) -> None:
    result = invoke(script(GONE))
    assert "pip install trl==0.28.0 transformers==5.1.0" in result.stdout
    assert (
        "gone for good   line 1: `trl.PPOTrainer` has been gone since TRL 0.29.0" in result.stdout
    )


_DECODED = (
    "from transformers import Seq2SeqTrainingArguments\n"
    "Seq2SeqTrainingArguments('o', predict_with_generate=True)\n"
    "def m(p):\n    predictions, labels = p\n    t.batch_decode(predictions)\n"
)
_CONSTRUCTOR = (
    "from transformers import BertPreTrainedModel\nclass T(BertPreTrainedModel):\n"
    "    def __init__(self, config):\n        super().__init__(config)\n"
    "        self.init_weights()\n"
)
_LOSS = (
    "from transformers import Trainer\nclass T(Trainer):\n"
    "    def compute_loss(self, model, inputs, return_outputs=False):\n        return 0\n"
)
_PPO = "from trl import PPOConfig, PPOTrainer\nPPOTrainer(PPOConfig(), tokenizer=None)\n"
_REWARD = (
    "from trl import RewardTrainer\ndef f(d):\n    return {'input_ids_chosen': d}\n"
    "t = RewardTrainer('m', train_dataset=d.map(f), tokenizer=None)\n"
    "a = d['input_ids_chosen']\n"
)


@pytest.mark.parametrize(
    ("text", "told", "once"),
    [
        (
            "from transformers import AdamW\n",
            "from torch.optim import AdamW, with eps=1e-6",
            "AdamW,",
        ),
        (
            "from transformers.utils import send_example_telemetry as s\ns('a')\n",
            "since Transformers 5.0.0; leave it out",
            "leave it out",
        ),
        (_DECODED, "line 5: `batch_decode`: gets predictions", "batch_decode"),
        (_CONSTRUCTOR, "write `self.post_init()`", "post_init"),
        (
            _LOSS,
            "called with more since Transformers 4.46.0; write it with `num_items",
            "num_items",
        ),
        (
            _PPO,
            "line 1: `trl.PPOConfig`, `trl.PPOTrainer` have been gone since TRL",
            "no value head",
        ),
        (
            "from trl import RewardTrainer\nRewardTrainer('m', compute_metrics=f,\n  tokenizer=t)\n",
            "gives compute_metrics the rewards",
            "rewards",
        ),
        (
            "from trl import DPOConfig, DPOTrainer\n"
            "DPOTrainer('m', args=DPOConfig(max_prompt_length=9))\n",
            "write truncating(DPOTrainer, max_prompt_length=9) for DPOTrainer",
            "truncating(",
        ),
        (_REWARD, "line 3, line 5: `column input_ids_chosen`: it has been", "chosen_ids"),
        (
            "from transformers import deepspeed\ndeepspeed.is_deepspeed_zero3_enabled()\n",
            "write from transformers.integrations import deepspeed",
            "has been gone",
        ),
    ],
)
def test_each_thing_is_told_once_with_what_to_write(
    script, text: str, told: str, once: str
) -> None:
    shown = " ".join(invoke(script(text)).stdout.split())
    assert told in shown
    assert shown.count(once) == 1


def test_an_empty_file_of_a_folder_is_no_trouble(script, tmp_path) -> None:
    script(TODAY, "today.py")
    script("\n", "__init__.py")
    assert invoke(tmp_path).exit_code == 0


def test_folders(script, tmp_path) -> None:
    (tmp_path / "below").mkdir()
    script(OLD, "below/old.py")
    script(TODAY, "today.py")
    script("print('hello')\n", "other.py")
    script("print 'hello'\n", "python2.py")
    result = invoke(tmp_path)
    assert result.exit_code == 1
    assert "Name none of the libraries" in result.stdout
    assert "Python 2" in result.stdout
    found = json.loads(invoke(tmp_path, "--json").stdout)
    verdicts = {Path(script["script"]).name: script["verdict"] for script in found["scripts"]}
    assert verdicts == {"old.py": "with the legacy layer", "today.py": "as it is"}
    assert [Path(path).name for path in found["unread"]] == ["python2.py"]
    assert [Path(path).name for path in found["others"]] == ["other.py"]


def test_constraints_are_a_measured_set(script, tmp_path) -> None:
    file = tmp_path / "versions.txt"
    result = invoke(script(GONE), "--quick", "--constraints", file)
    assert result.exit_code == 1
    versions = {pin.name: str(pin.specifier).removeprefix("==") for pin in lines(file)}
    measured = [result.environment.versions for result in matrix().results]
    assert any(
        all(public_version(known.get(name, "")) == version for name, version in versions.items())
        for known in measured
    )
    assert versions["trl"] == "0.28.0"
    assert "torch" not in versions
    comments = [line for line in file.read_text().splitlines() if line.startswith("#")]
    assert "train.py" in comments[0]
    assert not any("bfloat16" in comment for comment in comments)


@pytest.mark.parametrize("name", ["1.16", "0.24"])
def test_what_is_installed_is_chosen_where_it_has_everything(
    script, tmp_path, monkeypatch, pins, name: str
) -> None:
    file, installed = tmp_path / "versions.txt", pins(name)
    monkeypatch.setattr(of_scripts, "readable_version", installed.get)
    assert invoke(script(TODAY), "--quick", "--constraints", file).exit_code == 0
    assert {f"{pin.name}{pin.specifier}" for pin in lines(file)} == {
        f"{name}=={version}" for name, version in installed.items() if name != "torch"
    }


def test_several_scripts_share_a_set(script, tmp_path) -> None:
    file = tmp_path / "versions.txt"
    one = script("from trl import PPOTrainer\n", "one.py")
    other = script("from trl import DataCollatorForCompletionOnlyLM, GRPOTrainer\n", "other.py")
    invoke(one, other, "--quick", "--constraints", file)
    assert [str(pin.specifier) for pin in lines(file) if pin.name == "trl"] == ["==0.19.1"]


def test_without_bfloat16_the_patches_are_named(script, tmp_path) -> None:
    file = tmp_path / "versions.txt"
    text = script("from trl import SFTTrainer\n")
    result = invoke(text, "--no-bf16", "--constraints", file)
    assert "Due without bfloat16" in result.stdout
    assert "#   trl-adapter-bf16-cast: QLoRA adapters keep the dtype PEFT gave them" in (
        file.read_text().splitlines()
    )
    assert "# Without bfloat16" in file.read_text()
    assert lines(file)
    found = json.loads(invoke(text, "--no-bf16", "--json").stdout)
    assert found["without_bfloat16"] is True
    assert "trl-adapter-bf16-cast" in found["due"]
    # TRL 0.15 does not have the cast.
    old = script("from trl import SFTTrainer\nSFTTrainer('m', max_seq_length=9)\n")
    assert (
        "trl-adapter-bf16-cast" not in json.loads(invoke(old, "--no-bf16", "--json").stdout)["due"]
    )


@pytest.mark.parametrize(
    ("device", "support", "named"),
    [("cuda:0", "emulated", True), ("cuda:0", "native", False), ("cpu", "emulated", False)],
)
def test_a_gpu_without_bfloat16_is_found(
    script, tmp_path, monkeypatch, device: str, support: str, named: bool
) -> None:
    devices = [{"device": device, "bfloat16": support}]
    monkeypatch.setattr(scripts_command, "probe", lambda: {"devices": devices})
    monkeypatch.setattr(scripts_command, "installed_version", lambda name: "2.13.0")
    file = tmp_path / "versions.txt"
    invoke(script(TODAY), "--constraints", file)
    assert ("# Without bfloat16" in file.read_text()) is named


def test_names_that_cannot_be_had_together(script, tmp_path) -> None:
    file = tmp_path / "versions.txt"
    text = script("from trl import DistillationTrainer\nfrom trl import PPOTrainer\n")
    result = invoke(text, "--quick", "--constraints", file)
    assert result.exit_code == 1
    assert not file.exists()
    assert "was not written" in result.stderr
    assert "`trl.DistillationTrainer`, line 1, and `trl.PPOTrainer`, line 2" in result.stderr
    found = json.loads(invoke(text, "--json").stdout)
    assert found["versions"] is None
    assert found["apart"] == ["trl.DistillationTrainer", "trl.PPOTrainer"]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("broken.py", "def f(:\n", "broken.py: line 1: no Python source"),
        ("python2.py", "import trl\nprint 'x'\n", "this is Python 2"),
        ("empty.py", "\n", "empty.py is empty"),
        ("other.py", "import os\n", "names none of the libraries that patchkit knows: trl, "),
        (
            "others.py",
            "import os, sentence_transformers as s, torch\ns.f()\n",
            "; patchkit does not read how it calls sentence_transformers, torch",
        ),
        ("deep.py", f"import trl\na{'.f()' * 900}\n", "nested too deeply"),
        ("nulls.py", "import trl\0\n", "nulls.py is no text"),
        ("book.ipynb", "{}", "book.ipynb is no notebook"),
        ("book.ipynb", '{"cells": []}', "book.ipynb is empty"),
        ("book.ipynb", '{"cells": [{"cell_type": "code"}, {}]}', "book.ipynb is empty"),
        ("book.ipynb", '{"cells": [1]}', "book.ipynb is no notebook"),
        ("book.ipynb", '{"worksheets": []}', "book.ipynb is no notebook"),
        ("notes.txt", "import trl\n", "notes.txt is no script that patchkit reads"),
    ],
)
def test_bad_scripts(script, name: str, text: str, told: str) -> None:
    _one_line(invoke(script(text, name)), told)


def test_bad_paths(script, tmp_path) -> None:
    _one_line(invoke(tmp_path / "absent.py"), "there is no ")
    _one_line(invoke(tmp_path), "there is no script in ")
    _one_line(invoke("--constraints", tmp_path / "x.txt"), "--constraints is about scripts")
    _one_line(invoke("--no-bf16"), "--no-bf16 is about scripts")


def test_bad_files_of_constraints(script, tmp_path) -> None:
    text = script(TODAY)
    present = tmp_path / "present.txt"
    present.write_text("trl==0.1\n")
    _one_line(invoke(text, "--quick", "--constraints", present), "exists; name another file")
    assert present.read_text() == "trl==0.1\n"
    _one_line(invoke(text, "--quick", "--constraints", tmp_path), "is a folder")
    absent = tmp_path / "absent" / "versions.txt"
    _one_line(invoke(text, "--quick", "--constraints", absent), "there is no folder")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc here")
def test_a_folder_that_cannot_be_written(script) -> None:
    result = invoke(script(TODAY), "--quick", "--constraints", "/proc/versions.txt")
    _one_line(result, "cannot be written")


def _one_line(result: Result, told: str) -> None:
    assert result.exit_code == 64, result.output
    assert "Traceback" not in result.output
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert told in line


def test_an_installed_version_that_does_not_parse(script, monkeypatch) -> None:
    monkeypatch.setattr("patchkit.environment.installed_version", {"peft": "of-today"}.get)
    monkeypatch.setattr(of_scripts, "readable_version", readable_version)
    result = invoke(script(TODAY))
    assert result.exit_code == 64
    (line,) = result.stderr.splitlines()[-1:]
    assert line.endswith("its version 'of-today' is not a version; reinstall peft")


@pytest.mark.parametrize(
    ("text", "pip"),
    [
        ("from trl import SFTTrainer, Misspelt\n", False),
        ("from trl import PPOTrainer, Misspelt\n", True),
    ],
)
def test_no_versions_are_said_to_have_what_no_release_has(script, text: str, pip: bool) -> None:
    result = invoke(script(text))
    shown = " ".join(result.stdout.split())
    assert result.exit_code == 1
    assert "names: `trl.Misspelt`, line 1. Correct the spelling." in shown
    assert "has all that is named" not in shown
    assert ("has all else that is named" in shown) is pip
    assert ("pip install" in shown) is pip
