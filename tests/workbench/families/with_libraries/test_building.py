"""Tiny models of types whose configurations ask for something, built with the real library."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ....processes import run_python
from ...conftest import ROOT

INPUTS = {
    ("causal", "llama"): "text",
    ("causal", "zamba2"): "text",  # has a row of its own
    ("causal", "deepseek_v2"): "text",  # lacks a size that it reads
    ("causal", "git"): "image and text",  # has no loss of words alone
    ("classification", "t5"): "text",  # lacks a token that it reads
    ("vision", "llava"): "image and text",
    ("vision", "llava_next"): "image and text",  # takes tiles
    ("vision", "qwen2_5_vl"): "image and text",  # takes patches, in a second shape
    ("vision", "blip-2"): "image and text",  # begins with queries that are zeros
    ("vision", "florence2"): "image and text",  # has an encoder and a decoder
    ("speech", "whisper"): "sound",  # takes spectra of one length
    ("ctc", "wav2vec2"): "sound",  # takes waves
    ("tokens", "bert"): "text",
    ("questions", "bert"): "text",
    ("masked", "bert"): "text",
    ("images", "vit"): "image",
    ("audio", "audio-spectrogram-transformer"): "sound",  # takes spectra of one length
    ("choice", "bert"): "text",
    ("pairs", "clip"): "image and text",
    ("segmentation", "segformer"): "image",
    ("images", "deit"): "image",  # of two classes its configuration names one
    ("classification", "bart"): "text",  # does not save two labels
    ("causal", "mllama"): "text",  # saves the configuration of its text part
    ("causal", "prophetnet"): "text",  # generates only if it is padded with 0
    ("vision", "nemotron_h_omni"): "text",  # is loaded again in a later shape only
}
BUILD = """
import json, pathlib, sys
import transformers
from workbench.families.building import build
from workbench.families.model_types import pretrained
for task, name in json.loads(sys.argv[1]):
    if name in transformers.CONFIG_MAPPING:
        folder = pathlib.Path(task + name)
        folder.mkdir()
        built = build(task, name, str(folder), 0)
        model = pretrained(task, folder / "bfloat16")
        loaded = sum(weight.numel() for weight in model.parameters())
        zeros = [name for name, weight in model.named_parameters()
                 if weight.dim() > 1 and not weight.any()]
        print(json.dumps([task, name, built, loaded, zeros]))
"""
TRAIN = """
import inspect, json, pathlib, sys, tempfile
import torch
from workbench.families.building import build
from workbench.families.serving import import_libraries
from workbench.families.trial import _FamilyCourse, find_mode
import_libraries()
folder = pathlib.Path("llama")
folder.mkdir()
build("causal", "llama", str(folder), 0)
begin = torch.amp.GradScaler.__init__
assert inspect.signature(begin).parameters["init_scale"].default == 2.0**16
for power in (16, 28, 60):
    begin.__defaults__ = ("cuda", 2.0**power, *begin.__defaults__[2:])
    with tempfile.TemporaryDirectory() as saved:
        mode = find_mode("fp16/none")
        course = _FamilyCourse("causal", mode, "lora", folder, pathlib.Path(saved))
        try:
            course.run()
            error = ""
        except Exception as raised:
            error = str(raised)
    norms = course.figures["gradient norms"]
    taken = [norm == norm and norm != float("inf") for norm in norms]
    print(json.dumps([course.figures["changed"], taken, error]))
"""
TRAIN_PREFERENCES = """
import json, pathlib
from workbench.families.building import build
from workbench.families.model_types import names_by_task
from workbench.families.serving import import_libraries, import_trainers
from workbench.families.trial import attempt
import_trainers()
import_libraries()
names = names_by_task()
for task in ("reward", "dpo"):
    folder = pathlib.Path(task)
    (folder / "trial").mkdir(parents=True)
    build(task, "llama", str(folder), 0)
    trial = attempt(task, "bf16/none", "lora", str(folder), str(folder / "trial"), 0)
    print(json.dumps([trial, names[task]]))
"""


@pytest.fixture(scope="module")
def printed(forks, on_path) -> Callable[..., list[str]]:
    """`printed(program, folder, …)`: the lines of a program of the workbench, with these arguments."""

    def run(program: str, folder: Path, *arguments: str) -> list[str]:
        if forks:
            code = f"import sys\nsys.path.append({str(ROOT)!r})\n{program}"
            status, stdout, stderr = forks.run(folder, {}, argv=["-c", *arguments], code=code)
        else:
            done = run_python("-c", program, *arguments, folder=folder, env=on_path)
            status, stdout, stderr = done.returncode, done.stdout, done.stderr
        assert status == 0, stderr
        return stdout.splitlines()

    return run


@pytest.fixture(scope="module")
def builds(
    printed, tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple[str, str], tuple[Any, int, list[str]]]:
    """What came of each type that is installed, how many parameters are loaded, and which are zero."""
    pytest.importorskip("transformers")
    said = printed(BUILD, tmp_path_factory.mktemp("builds"), json.dumps(list(INPUTS)))
    lines = (json.loads(line) for line in said if line.startswith("["))
    return {(task, name): (built, loaded, zeros) for task, name, built, loaded, zeros in lines}


@pytest.mark.parametrize(("task", "name"), INPUTS)
def test_a_tiny_model_is_built(task: str, name: str, builds) -> None:
    if (task, name) not in builds:
        pytest.skip(f"this Transformers has no {name}")
    built, loaded, zeros = builds[task, name]
    assert built.get("error", "") == ""
    assert built["inputs"] == INPUTS[task, name]
    assert built["parameters"] < 20_000_000
    assert loaded == built["parameters"]
    assert zeros == []


def test_a_training_goes_on_until_the_scaler_takes_two_steps(printed, tmp_path: Path) -> None:
    pytest.importorskip("peft")
    usual, skipping, without_end = map(json.loads, printed(TRAIN, tmp_path))
    assert usual == [28, [True, True], ""]
    changed, taken, error = skipping
    assert (changed, error) == (28, "")
    assert taken[-3:] == [False, True, True]
    changed, taken, error = without_end
    assert not any(taken)
    assert (changed, error) == (0, "the scaler skipped all steps")


def test_preferences_are_learnt_with_the_trainers_of_trl(printed, tmp_path: Path) -> None:
    pytest.importorskip("peft")
    pytest.importorskip("trl.trainer.reward_trainer")
    (reward, scored), (dpo, chosen) = map(json.loads, printed(TRAIN_PREFERENCES, tmp_path))
    assert [reward["error"], dpo["error"]] == ["", ""]
    assert reward["figures"]["changed"] == dpo["figures"]["changed"] + 1  # the head
    first, second = dpo["figures"]["losses"]
    assert first == pytest.approx(math.log(2), abs=1e-6)  # a model beside itself
    assert second < first
    assert "granite" in chosen
    assert set(scored) < set(chosen)
    assert len(chosen) <= 20


def test_lost_weights_are_told_from_rounding() -> None:
    torch = pytest.importorskip("torch")
    from workbench.families.trial import LostWeights, _expect_same_weights

    weight = torch.linspace(0.5, 1.5, 32)
    _expect_same_weights({"a": weight}, {"a": weight.bfloat16(), "b": weight})
    nothing = torch.tensor([float("nan")])
    _expect_same_weights({"a": nothing}, {"a": nothing.clone()})
    with pytest.raises(LostWeights, match=r"1 of 2 trained weights are others, such as b"):
        _expect_same_weights(
            {"a": weight, "b": weight}, {"a": weight, "b": torch.zeros_like(weight)}
        )


def test_a_merge_that_only_rounded_is_told_from_one_that_lost_an_adapter() -> None:
    torch = pytest.importorskip("torch")
    peft = pytest.importorskip("peft")
    modules = pytest.importorskip("bitsandbytes").nn
    from patchkit.lab import tiny
    from workbench.families.trial import _are_rounded, _sums

    tiny.quantize_on_any_cpu()

    def adapted() -> Any:
        torch.manual_seed(0)
        layer = modules.Linear4bit(64, 64, quant_type="nf4", compute_dtype=torch.bfloat16)
        config = peft.LoraConfig(r=4, target_modules=["0"], init_lora_weights=False)
        base = torch.nn.Sequential(layer).to("cpu")
        base.is_loaded_in_4bit = True  # as `from_pretrained` says it
        return peft.get_peft_model(base, config)

    model = adapted()
    sums = dict(_sums(model))
    assert list(sums) == ["0"]
    assert _are_rounded(sums, model.merge_and_unload())
    assert not _are_rounded(sums, adapted().unload())
    assert not _are_rounded({}, model)


def test_poly_is_told_the_task_of_each_row() -> None:
    torch = pytest.importorskip("torch")
    from workbench.families.methods import METHODS

    batch = {"input_ids": torch.ones(3, 5)}
    assert METHODS["poly"].given(batch)["task_ids"].tolist() == [0, 0, 0]
    assert METHODS["lora"].given(batch) == {}
