"""Evaluation in half precision, before, between and within trainings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import patchkit
from patchkit.lab import cuda_fp16, tiny

ONLY = "transformers-full-eval-dtype"
IDS = torch.arange(4, 12)
DATA = [{"input_ids": IDS, "labels": IDS}] * 2


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.build_causal_lm(tmp_path_factory.mktemp("lm") / "model", dtype="float32")


@pytest.fixture(autouse=True)
def cuda_path() -> Iterator[None]:
    with cuda_fp16.cuda_fp16_on_cpu():
        yield


@pytest.fixture
def make(checkpoint: Path, tmp_path: Path):
    def make(*, train: bool = True, trainer: dict[str, Any] | None = None, **arguments: Any):
        import transformers

        defaults = {
            "max_steps": 1,
            "report_to": [],
            "save_strategy": "no",
            "disable_tqdm": True,
            "use_cpu": True,
            "dataloader_pin_memory": False,
        }
        return transformers.Trainer(
            model=tiny.load(checkpoint, dtype="float32"),
            args=transformers.TrainingArguments(tmp_path, **{**defaults, **arguments}),
            train_dataset=DATA if train else None,
            eval_dataset=DATA,
            **(trainer or {}),
        )

    return make


def tensors(model: torch.nn.Module) -> dict[str, tuple[int, torch.dtype]]:
    named = [*model.named_parameters(), *model.named_buffers()]
    return {name: (tensor.data_ptr(), tensor.dtype) for name, tensor in named}


def dtypes(model: torch.nn.Module) -> set[torch.dtype]:
    return {tensor.dtype for tensor in (*model.parameters(), *model.buffers())}


HALF = {"fp16_full_eval": torch.float16, "bf16_full_eval": torch.bfloat16}


@pytest.mark.parametrize("option", HALF)
def test_every_tensor_comes_back(make, option: str) -> None:
    bare = make(**{option: True})
    loss = bare.evaluate()["eval_loss"]
    assert dtypes(bare.model) == {HALF[option]}
    with patchkit.patched(only=ONLY, strict=True):
        trainer = make(**{option: True})
        before = tensors(trainer.model)
        seen = []
        trainer.model.register_forward_pre_hook(lambda model, _: seen.append(dtypes(model)))
        assert trainer.evaluate()["eval_loss"] == loss
        assert tensors(trainer.model) == before
        trainer.predict(DATA)
        assert tensors(trainer.model) == before
    assert seen
    assert all(dtypes_seen == {HALF[option]} for dtypes_seen in seen)


def test_training_in_bfloat16_goes_on_in_float32(make) -> None:
    def train(*, evaluated: bool) -> torch.nn.Module:
        trainer = make(bf16=True, bf16_full_eval=True, learning_rate=1e-6)
        if evaluated:
            trainer.evaluate()
        trainer.train()
        return trainer.model

    never = train(evaluated=False)
    assert torch.bfloat16 in dtypes(train(evaluated=True))
    with patchkit.patched(only=ONLY, strict=True):
        found = train(evaluated=True)
    assert all(map(torch.equal, found.parameters(), never.parameters()))


def test_between_two_trainings_and_before_saving(make, tmp_path: Path) -> None:
    from safetensors.torch import load_file

    with patchkit.patched(only=ONLY, strict=True):
        trainer = make(fp16=True, fp16_full_eval=True)
        trainer.train()
        before = tensors(trainer.model)
        trainer.evaluate()
        assert tensors(trainer.model) == before
        trainer.save_model(str(tmp_path / "saved"))
        saved = load_file(tmp_path / "saved" / "model.safetensors")
        assert {tensor.dtype for tensor in saved.values()} == {torch.float32}
        trainer.train()
    trainer.evaluate()
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        trainer.train()


def test_gradients_and_an_error_in_the_evaluation(make) -> None:
    def fail(_: Any) -> None:
        raise RuntimeError("metrics")

    trainer = make(fp16_full_eval=True, trainer={"compute_metrics": fail})
    trainer.model(input_ids=IDS[None], labels=IDS[None]).loss.backward()
    parameters = list(trainer.model.parameters())
    gradients = [parameter.grad for parameter in parameters]
    values = [gradient.clone() for gradient in gradients]
    before = tensors(trainer.model)
    with patchkit.patched(only=ONLY, strict=True), pytest.raises(RuntimeError, match="metrics"):
        trainer.evaluate()
    assert tensors(trainer.model) == before
    assert all(p.grad is gradient for p, gradient in zip(parameters, gradients, strict=True))
    assert all(map(torch.equal, gradients, values))


def test_within_a_training_nothing_is_cast(make) -> None:
    with patchkit.patched(only=ONLY, strict=True):
        trainer = make(fp16=True, fp16_full_eval=True, eval_strategy="steps", eval_steps=1)
        before = {name: dtype for name, (_, dtype) in tensors(trainer.model).items()}
        trainer.train()
        assert {name: dtype for name, (_, dtype) in tensors(trainer.model).items()} == before


def test_who_only_evaluates_keeps_the_smaller_model(make) -> None:
    with patchkit.patched(only=ONLY, strict=True):
        trainer = make(train=False, fp16_full_eval=True)
        trainer.evaluate()
        assert dtypes(trainer.model) == {torch.float16}


def test_evaluation_in_the_models_own_dtype(make) -> None:
    with patchkit.patched(only=ONLY, strict=True):
        for options in ({}, {"fp16": True}):
            trainer = make(**options)
            before = tensors(trainer.model)
            trainer.evaluate()
            assert tensors(trainer.model) == before


@pytest.mark.parametrize("engine", ["is_fsdp_enabled", "is_deepspeed_enabled"])
def test_hands_off_where_another_engine_holds_the_parameters(engine: str) -> None:
    import types

    from patchkit.patches.transformers._evaluation import is_casting_trained_model

    args = types.SimpleNamespace(fp16_full_eval=True, bf16_full_eval=False)
    said = {"is_fsdp_enabled": False, "is_deepspeed_enabled": False, "is_in_train": False}
    trainer = types.SimpleNamespace(args=args, train_dataset=DATA, optimizer=None, **said)
    assert is_casting_trained_model(trainer)
    setattr(trainer, engine, True)
    assert not is_casting_trained_model(trainer)


def test_buffers_that_change_or_go_meanwhile() -> None:
    from patchkit.precision.borrowed import restore_dtypes

    model = torch.nn.BatchNorm1d(3)
    frequencies = model.running_mean
    with restore_dtypes(model):
        model.half()
        model.num_batches_tracked += 1
        model.running_var = None
    assert model.running_mean is frequencies
    assert model.running_var is None
    assert model.num_batches_tracked == 1
    with restore_dtypes(model):
        model.running_mean = replaced = torch.ones(3)
    assert model.running_mean is replaced
