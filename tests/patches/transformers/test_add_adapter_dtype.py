"""Adapters that Transformers injects by itself, for training and for inference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import peft
import pytest
import torch

import patchkit
from patchkit.lab import cuda_fp16, shapes, tiny

ONLY = "transformers-add-adapter-dtype"
IDS = torch.arange(4, 12)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.build_causal_lm(tmp_path_factory.mktemp("lm") / "model", dtype="float16")


def config(**options: Any) -> peft.LoraConfig:
    return peft.LoraConfig(**{"r": 2, "target_modules": ["q_proj"], **options})


def adapters(model: torch.nn.Module) -> dict[str, torch.nn.Parameter]:
    return {name: tensor for name, tensor in model.named_parameters() if "lora_" in name}


def dtypes(model: torch.nn.Module) -> set[torch.dtype]:
    return {tensor.dtype for tensor in adapters(model).values()}


def train(model: torch.nn.Module, folder: Path, **flags: Any) -> None:
    import transformers

    arguments = transformers.TrainingArguments(
        folder,
        max_steps=1,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
        use_cpu=True,
        dataloader_pin_memory=False,
        **flags,
    )
    data = [{"input_ids": IDS, "labels": IDS}]
    with cuda_fp16.cuda_fp16_on_cpu():
        transformers.Trainer(model=model, args=arguments, train_dataset=data).train()


@pytest.mark.parametrize(("dtype", "flag"), [("float16", "fp16"), ("bfloat16", "bf16")])
def test_training_as_with_get_peft_model(
    checkpoint: Path, tmp_path: Path, dtype: str, flag: str
) -> None:
    def added(*, by_peft: bool) -> torch.nn.Module:
        model = tiny.load(checkpoint, dtype=dtype)
        torch.manual_seed(0)
        if by_peft:
            return peft.get_peft_model(model, config())
        with patchkit.patched(only=ONLY, strict=True):
            model.add_adapter(config())
        return model

    expected, found = added(by_peft=True), added(by_peft=False)
    assert dtypes(found) == {torch.float32}
    assert {tensor.requires_grad for tensor in adapters(found).values()} == {True}
    for model in (expected, found):
        train(model, tmp_path, **{flag: True})
    for adapter, other in zip(adapters(expected).values(), adapters(found).values(), strict=True):
        assert torch.equal(adapter, other)


def test_without_it_training_dies(checkpoint: Path, tmp_path: Path) -> None:
    model = tiny.load(checkpoint, dtype="float16")
    model.add_adapter(config())
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        train(model, tmp_path, fp16=True)


def test_the_base_and_inference_stay_as_they_are(checkpoint: Path) -> None:
    with patchkit.patched(only=ONLY, strict=True):
        model = tiny.load(checkpoint, dtype="bfloat16")
        before = {name: (t.data_ptr(), t.dtype) for name, t in model.named_parameters()}
        model.add_adapter(config(inference_mode=True), "frozen")
        assert dtypes(model) == {torch.bfloat16}
        model.add_adapter(config(), "trained")
    by_name = {name.split(".")[-2]: tensor.dtype for name, tensor in adapters(model).items()}
    assert by_name == {"frozen": torch.bfloat16, "trained": torch.float32}
    after = {
        name.replace(".base_layer", ""): (tensor.data_ptr(), tensor.dtype)
        for name, tensor in model.named_parameters()
        if "lora_" not in name
    }
    assert after == before


@pytest.mark.parametrize("trainable", [True, False])
def test_a_loaded_adapter(checkpoint: Path, tmp_path: Path, trainable: bool) -> None:
    model = tiny.load(checkpoint, dtype="float32")
    model.add_adapter(config(init_lora_weights=False))
    model.save_pretrained(tmp_path)
    saved = adapters(model)

    def load() -> torch.nn.Module:
        again = tiny.load(checkpoint, dtype="bfloat16")
        again.load_adapter(str(tmp_path), is_trainable=trainable)
        return again

    bare = load()
    with patchkit.patched(only=ONLY, strict=True):
        found = load()
    assert {tensor.requires_grad for tensor in adapters(found).values()} == {trainable}
    expected = saved if trainable else adapters(bare)
    for name, tensor in adapters(found).items():
        assert tensor.dtype == expected[name].dtype
        assert torch.equal(tensor, expected[name]), name


@pytest.mark.parametrize("launcher", ["ACCELERATE_USE_FSDP", "ACCELERATE_USE_DEEPSPEED"])
def test_sharded_training_wants_one_dtype(
    checkpoint: Path, monkeypatch: pytest.MonkeyPatch, launcher: str
) -> None:
    monkeypatch.setenv(launcher, "true")
    with patchkit.patched(only=ONLY, strict=True):
        model = tiny.load(checkpoint, dtype="bfloat16")
        model.add_adapter(config())
    assert dtypes(model) == {torch.bfloat16}


KINDS: dict[str, dict[str, Any]] = {
    "LoraConfig": {"r": 2, "use_dora": True},
    "IA3Config": {"feedforward_modules": []},
    "LoHaConfig": {"r": 2},
    "LoKrConfig": {"r": 2},
    "HRAConfig": {"r": 2},
    "LNTuningConfig": {"target_modules": ["norm"]},
    "FourierFTConfig": {"n_frequency": 4},
    "TrainableTokensConfig": {"target_modules": ["embed_tokens"], "token_indices": [1]},
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_adapter_has_the_dtypes_that_peft_gives_it(kind: str) -> None:
    def made() -> Any:
        return getattr(peft, kind)(**{"target_modules": ["q_proj"], **KINDS[kind]})

    expected = peft.get_peft_model(shapes.build("llama").bfloat16(), made())
    model = shapes.build("llama").bfloat16()
    with patchkit.patched(only=ONLY, strict=True):
        model.add_adapter(made())

    def trained(module: torch.nn.Module) -> dict[str, torch.dtype]:
        named = module.named_parameters()
        return {
            name.removeprefix("base_model.model."): tensor.dtype
            for name, tensor in named
            if tensor.requires_grad
        }

    assert trained(model) == trained(expected)
    model(input_ids=shapes.words(), labels=shapes.words()).loss.backward()
