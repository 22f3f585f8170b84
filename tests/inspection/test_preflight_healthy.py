"""No false alarms: trainings as they should be, with real trainers, and they do train."""

from __future__ import annotations

import itertools

import pytest

import patchkit

DTYPES = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32"}


@pytest.fixture
def sft(make):
    from patchkit.lab import cuda_fp16, trainers

    def build(precision: str, quantization: str, dtype: str):
        with cuda_fp16.cuda_fp16_on_cpu():
            setup = trainers.Setup(
                folder=make.folder,
                quantization=quantization,  # type: ignore[arg-type]
                dtype=dtype,
                lora={},
                defaults={"gradient_checkpointing": False, "disable_tqdm": True, "report_to": []},
                args={
                    "output_dir": str(make.folder / "output"),
                    "fp16": precision == "fp16",
                    "bf16": precision == "bf16",
                    "use_cpu": True,
                    "max_steps": 1,
                    "save_strategy": "no",
                },
                callbacks=[],
            )
            return trainers.find("sft").build(setup)

    return build


@pytest.mark.parametrize(
    ("precision", "quantization"),
    list(itertools.product(("fp16", "bf16", "fp32"), ("4bit", "8bit", "none"))),
)
def test_lora_with_trl(sft, monkeypatch, precision: str, quantization: str) -> None:
    monkeypatch.delenv("ACCELERATE_MIXED_PRECISION", raising=False)
    patchkit.apply()
    findings = patchkit.preflight(sft(precision, quantization, DTYPES[precision]))
    assert not findings.ids, findings


@pytest.mark.parametrize("precision", ["fp16", "bf16"])
def test_lora_on_a_float32_base(sft, precision: str) -> None:
    patchkit.apply()
    assert not patchkit.preflight(sft(precision, "none", "float32")).ids


@pytest.mark.parametrize("precision", ["fp16", "bf16", ""])
def test_full_fine_tuning(make, precision: str) -> None:
    patchkit.apply()
    with make.trainer(make.model("float32"), precision) as trainer:
        assert not patchkit.preflight(trainer).ids
        trainer.train()
        assert not patchkit.preflight(trainer).ids


@pytest.mark.parametrize("precision", ["fp16", "bf16"])
def test_prepared_for_kbit_training(make, look, precision: str) -> None:
    import peft

    model = peft.prepare_model_for_kbit_training(make.model(DTYPES[precision], "4bit"))
    lora = peft.LoraConfig(r=2, target_modules=["q_proj"], task_type="CAUSAL_LM")
    assert not look(peft.get_peft_model(model, lora), make.args(precision)).ids


def test_without_patches_only_the_versions_are_named(sft, monkeypatch) -> None:
    monkeypatch.delenv("ACCELERATE_MIXED_PRECISION", raising=False)
    findings = patchkit.preflight(sft("bf16", "none", "bfloat16"))
    assert set(findings.ids) <= {"unfixed-bugs"}


def test_a_version_that_does_not_parse_is_no_mistake_of_the_check(make, monkeypatch) -> None:
    from patchkit import environment

    found = environment.installed_version
    monkeypatch.setattr(
        environment, "installed_version", lambda name: "of-today" if name == "peft" else found(name)
    )
    findings = patchkit.preflight(make.lora("float32", "none"))
    assert not [name for name in findings.ids if name.startswith("unchecked")]


def test_looking_changes_nothing(make, look) -> None:
    import torch

    model = make.lora("bfloat16", "4bit")
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    ids = [id(parameter) for parameter in model.parameters()]
    look(model, make.args("fp16"))
    after = model.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert [id(parameter) for parameter in model.parameters()] == ids
