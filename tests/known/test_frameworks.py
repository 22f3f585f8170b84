"""Answers speak as the framework does through which an error came."""

from __future__ import annotations

import re

import pytest

from patchkit.about import shipped_table
from patchkit.known.answer import Answer
from patchkit.known.answering import answered
from patchkit.known.frameworks import bound_for
from patchkit.known.pasted import LIBRARIES
from patchkit.known.reading import read

FRAMEWORKS = shipped_table("known/frameworks.json")
OLD_GPU = "RuntimeError: FlashAttention only supports Ampere GPUs or newer."


def first(text: str) -> Answer:
    return answered(read(text), lambda _: None).answers[0]


def through(*places: str, error: str) -> str:
    frames = [f'  File "/x/site-packages/{place}", line 7, in run' for place in places]
    return "\n".join(["Traceback (most recent call last):", *frames, error])


@pytest.mark.parametrize(
    ("framework", "key"),
    [
        ("llamafactory", "flash_attn (disabled, sdpa, fa2)"),
        ("swift", "--attn_impl"),
        ("axolotl", "flash_attention: true (in releases without it)"),
        ("verl", "+actor_rollout_ref.model.override_config.attn_implementation"),
        ("openrlhf", "--ds.attn_implementation"),
    ],
)
def test_a_setting_is_spelt_as_in_the_framework(framework: str, key: str) -> None:
    plain = first(OLD_GPU).do
    said = first(through(f"{framework}/train.py", "flash_attn/flash.py", error=OLD_GPU)).do
    assert said.startswith(plain)
    assert f"{key} for attn_implementation" in said
    assert key not in plain


def test_a_framework_that_the_text_names_counts_too() -> None:
    assert "flash_attn (" in first(f"LLaMA-Factory训练报错 {OLD_GPU}").do
    two = f"LLaMA-Factory and axolotl: {OLD_GPU}"
    assert first(two).do == first(OLD_GPU).do


def test_the_outermost_framework_counts() -> None:
    error = through("axolotl/cli/train.py", "unsloth/models/llama.py", error=OLD_GPU)
    assert "of axolotl" in first(error).do
    assert "Unsloth" not in first(error).do


def test_a_setting_that_keeps_its_name_is_said_to() -> None:
    error = "RuntimeError: Timed out waiting 1800000ms for recv operation to complete"
    said = first(through("llamafactory/train/tuner.py", "torch/x.py", error=error)).do
    assert "LLaMA-Factory has ddp_timeout by that name in the YAML file." in said


def test_who_upgrades_libraries_upgrades_the_framework_through_which_they_are_called() -> None:
    error = "TypeError: 'int' object is not iterable"
    inner = "transformers/models/gemma3/processing_gemma3.py"
    said = first(through("unsloth/models/vision.py", inner, error=error)).do
    assert said.endswith("Upgrade Unsloth, too, which goes with certain releases of them.")
    assert "Unsloth" not in first(through(inner, error=error)).do
    assert said.count("Upgrade Unsloth") == 1


GONE = "ImportError: cannot import name 'ConstantLengthDataset' from 'trl.trainer.utils'"


def test_a_framework_that_asks_for_what_is_gone_is_named_with_its_release() -> None:
    said = first(through("swift/cli/sft.py", error=GONE))
    assert "ms-swift takes trl<0.21 since 3.7.0 at the latest." in said.do
    assert said.write == ("pip install -U ms-swift", "pip install 'trl<0.20.0'")


def test_a_framework_that_takes_none_without_it_keeps_its_bound() -> None:
    error = "ImportError: cannot import name 'AutoModelForCausalLMWithValueHead' from 'trl'"
    found = answered(read(through("llamafactory/train/tuner.py", error=error)), lambda _: None)
    said = found.answers[-1]
    assert "LLaMA-Factory 0.9.5 takes trl<=0.24.0." in said.do
    assert said.write == ("pip install 'trl<=0.24.0'",)


def test_an_upgrade_of_a_library_names_what_the_framework_takes() -> None:
    error = "NameError: name 'ParallelismConfig' is not defined"
    assert "takes accelerate==1.13.0" not in first(error).do
    assert "axolotl 0.19.0 takes accelerate==1.13.0." in first(f"axolotl train x.yaml\n{error}").do


def test_the_bounds_rise() -> None:
    assert bound_for("unsloth", "trl", "0.20")[0].startswith("Unsloth takes trl<=0.23.0 since")
    assert bound_for("nobody", "trl", "0.20") == ("", "")
    for known in FRAMEWORKS.values():
        for text in known["takes"].values():
            assert all(re.fullmatch(r"[\d.]+ (?:<|<=|==)[\d.]+", each) for each in text.split(", "))


def test_frameworks_are_known_where_tracebacks_are_read() -> None:
    assert set(FRAMEWORKS) <= LIBRARIES


def test_the_vllm_of_a_framework_comes_with_its_own_extra() -> None:
    error = "AttributeError: 'LLMEngine' object has no attribute 'model_executor'"
    assert "trl[vllm]" in " ".join(first(f"vLLM: {error}").write)
    said = first(through("openrlhf/trainer/ray/vllm_engine.py", "vllm/llm.py", error=error))
    assert said.write == ("pip install -U 'openrlhf[vllm]'",)
