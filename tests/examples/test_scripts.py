"""The scripts of `examples/` as their first lines say to start them: they train with, and die without."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

from patchkit.catalogue import entries as catalogue
from patchkit.catalogue.resolution import resolve

EXAMPLES = Path(__file__).parents[2] / "examples"
ID = "trl-adapter-bf16-cast"
ERROR = "not implemented for 'BFloat16'"
SCRIPTS = ("sft", "dpo", "grpo")
DUE = {change.target for change in resolve(catalogue.load().entries[ID].patch).changes}


def has_the_bug(trainer: str) -> bool:
    return any(target.startswith(f"trl.trainer.{trainer}_trainer:") for target in DUE)


@pytest.fixture
def script(launch, forks, tmp_path: Path):
    """`script("sft", "--help", NAME="value")`: its exit status, output and errors."""

    def run(trainer: str, *arguments: str, **env: str) -> tuple[int, str, str]:
        line = [str(EXAMPLES / f"train_{trainer}.py"), *arguments]
        if forks:
            return forks.run(tmp_path, env, argv=line, file=line[0])
        done = launch("accelerate.commands.launch", "--cpu", *line, env=env)
        return done.returncode, done.stdout, done.stderr

    return run


def accelerate(launch, forks, folder: Path, trainer: str, *arguments: str):
    """On a CPU and without MPI it starts one process, whatever it is told."""
    module, script = "accelerate.commands.launch", str(EXAMPLES / f"train_{trainer}.py")
    line = ("--cpu", "--num_processes=2", script, *arguments)
    if not forks:
        return launch(module, *line)
    # The launcher is a fork; what it launches has an interpreter of its own.
    done = forks.run(folder, {}, argv=[module, *line], module=module)
    for name in ("stdout", "stderr"):
        (folder / name).unlink()
    return subprocess.CompletedProcess(line, *done)


def check_trained(done, trainer: str, ranks: int) -> None:
    assert done.returncode == 0, done.stderr[-4000:]
    # Two processes write to one pipe: lines may run into each other.
    found = re.findall(r"rank (\d) of (\d): losses \[[-\d., e]+\]", done.stdout)
    assert sorted(found) == [(str(rank), str(ranks)) for rank in range(ranks)]
    assert done.stdout.count("trainable ['torch.float32']") == ranks
    if has_the_bug(trainer):
        assert done.stdout.count(f"<patchkit>/trl/trainer/{trainer}_trainer.py") == ranks
        applied = done.stdout.partition("applied (")[2].partition("pending (")[0]
        assert applied.count(ID) == 1


def test_accelerate_launch(launch, forks, tmp_path: Path) -> None:
    done = accelerate(launch, forks, tmp_path, "sft", "--steps=2", "--output=kept")
    check_trained(done, "sft", 1)
    # The tiny model is not kept.
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert len(list(tmp_path.glob("kept/checkpoint-2/adapter_model.safetensors"))) == 1


# What the launcher starts is shown above to be one process.
@pytest.mark.parametrize("trainer", ["dpo", "grpo"])
def test_one_process(script, tmp_path: Path, trainer: str) -> None:
    done = subprocess.CompletedProcess((), *script(trainer, "--steps=2"))
    check_trained(done, trainer, 1)
    kept = {path.name for path in tmp_path.iterdir()}
    assert kept <= {"stdout", "stderr"}  # neither the tiny model nor what was trained


@pytest.mark.parametrize("trainer", SCRIPTS)
def test_without_patchkit_it_dies(script, trainer: str) -> None:
    if not has_the_bug(trainer):
        pytest.skip(f"this TRL's {trainer.upper()} trainer does not have the bug")
    status, _, errors = script(trainer, PATCHKIT_DISABLE="all")
    assert status != 0
    assert ERROR in errors


# SFT's are in tests/distributed; workbench/ranks/with_libraries has ranks that torchrun has started.
@pytest.mark.parametrize("trainer", ["dpo", "grpo"])
def test_two_ranks(two_ranks, trainer: str) -> None:
    done = two_ranks(str(EXAMPLES / f"train_{trainer}.py"), "--steps=2")
    check_trained(done, trainer, 2)


@pytest.mark.parametrize("trainer", SCRIPTS)
def test_its_first_lines_name_the_columns(trainer: str) -> None:
    text = ast.get_docstring(ast.parse((EXAMPLES / f"train_{trainer}.py").read_text("utf-8")))
    columns = {"sft": ("text", "messages"), "dpo": ("chosen", "rejected"), "grpo": ("prompt",)}
    assert all(f"`{column}`" in text for column in columns[trainer])
    assert f"accelerate launch examples/train_{trainer}.py" in text


def test_help(script) -> None:
    status, said, _ = script("sft", "--help")
    assert status == 0
    assert "fp16 QLoRA with TRL's SFTTrainer" in said
    assert "--dataset" in said
