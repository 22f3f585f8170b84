"""Half-precision trainable parameters under a scaler: found, upcast or named, by whoever trains."""

from __future__ import annotations

import pytest

UNSCALE = "Attempting to unscale FP16 gradients."

BARE = """
    import logging, sys, torch, json
    from accelerate import Accelerator
    from patchkit.lab import cuda_fp16
    import patchkit

    cuda_fp16.install()
    messages = []
    logging.getLogger("patchkit").addHandler(
        type("H", (logging.Handler,), {{"emit": lambda self, r: messages.append(r.getMessage())}})()
    )
    {apply}
    accelerator = Accelerator(mixed_precision="{precision}")
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)).{cast}()
    model[0].requires_grad_(False)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=0.1)
    identity = [id(p) for p in model.parameters()]
    try:
        {prepare}
        before = [p.detach().clone() for p in model.parameters()]
        with accelerator.autocast():
            loss = model(torch.ones(2, 4)).float().pow(2).mean()
        accelerator.backward(loss)
        optimizer.step()
        error = None
    except Exception as caught:
        error = f"{{type(caught).__name__}}: {{caught}}"
    result = {{
        "error": error,
        "messages": messages,
        "dtypes": [str(p.dtype)[6:] for p in model.parameters()],
        "same": identity == [id(p) for p in model.parameters()],
    }}
"""

PREPARES = {
    "together": "model, optimizer = accelerator.prepare(model, optimizer)",
    "optimizer_first": "optimizer, model = accelerator.prepare(optimizer, model)",
    "one_by_one": "model = accelerator.prepare(model); optimizer = accelerator.prepare(optimizer)",
    "by_their_own_methods": "model = accelerator.prepare_model(model); "
    "optimizer = accelerator.prepare_optimizer(optimizer=optimizer)",
}
APPLY = "patchkit.apply(only='accelerate-*', strict=True)"


def bare(forked, *, apply: str = APPLY, precision="fp16", cast="half", prepare="together", **more):
    code = BARE.format(apply=apply, precision=precision, cast=cast, prepare=PREPARES[prepare])
    return forked(code, **more)


@pytest.mark.parametrize("prepare", PREPARES)
def test_bare_accelerate(forked, prepare: str) -> None:
    assert bare(forked, apply="", prepare=prepare)["error"] == f"ValueError: {UNSCALE}"
    outcome = bare(forked, prepare=prepare)
    assert outcome["error"] is None
    # What is frozen stays as it is, and the parameters are the same objects.
    assert outcome["dtypes"] == ["float16", "float16", "float32", "float32"]
    assert outcome["same"]
    (message,) = outcome["messages"]
    assert "2 trainable parameters" in message
    assert "0.0 MiB more memory" in message
    if prepare != "by_their_own_methods":
        assert "1.weight, 1.bias" in message


def test_bfloat16_parameters(forked) -> None:
    assert "not implemented for 'BFloat16'" in bare(forked, apply="", cast="bfloat16")["error"]
    outcome = bare(forked, cast="bfloat16")
    assert outcome["error"] is None
    assert outcome["dtypes"][2:] == ["float32", "float32"]


@pytest.mark.parametrize(
    ("precision", "cast"), [("fp16", "float"), ("bf16", "bfloat16"), ("no", "float")]
)
def test_nothing_is_touched_where_nothing_is_wrong(forked, precision: str, cast: str) -> None:
    without, outcome = (
        bare(forked, apply=apply, precision=precision, cast=cast) for apply in ("", APPLY)
    )
    assert outcome == without
    assert outcome["messages"] == []


def test_policy_error_names_the_parameters_and_the_fix(forked) -> None:
    apply = APPLY.replace("strict=True", "strict=True, gradscaler_guard='error'")
    outcome = bare(forked, apply=apply)
    assert outcome["error"].startswith("HalfPrecisionTrainableError: fp16 training")
    assert "1.weight, 1.bias" in outcome["error"]
    assert "dtype=torch.float32" in outcome["error"]
    assert outcome["dtypes"] == ["float16"] * 4
    by_variable = bare(forked, env={"PATCHKIT_GRADSCALER_GUARD": "error"})
    assert by_variable["error"] == outcome["error"]


def test_never_once_the_optimizer_has_state(forked) -> None:
    stepped = """[setattr(p, "grad", torch.ones_like(p)) for p in model[1].parameters()]; \
optimizer.step(); optimizer.zero_grad(); model, optimizer = accelerator.prepare(model, optimizer)"""
    code = BARE.format(apply=APPLY, precision="fp16", cast="half", prepare=stepped)
    outcome = forked(code)
    assert outcome["error"] == f"ValueError: {UNSCALE}"
    assert outcome["dtypes"] == ["float16"] * 4
    assert "the optimizer has state for it already" in outcome["messages"][0]


TRAINER = """
    import tempfile, torch
    from pathlib import Path
    import patchkit
    from patchkit.lab import cuda_fp16, tiny

    tiny.go_offline()
    cuda_fp16.install()
    import transformers
    {apply}
    with tempfile.TemporaryDirectory() as folder:
        path = tiny.build_causal_lm(Path(folder) / "model")
        model = tiny.load(path, dtype="float16")
        ids = torch.arange(4, 20)
        data = [{{"input_ids": ids, "labels": ids}}] * 8
        arguments = transformers.TrainingArguments(
            folder, fp16=True, max_steps=2, report_to=[], save_strategy="no", learning_rate=1e-2
        )
        trainer = transformers.Trainer(model=model, args=arguments, train_dataset=data)
        before = [p.detach().float().clone() for p in model.parameters()]
        try:
            trainer.train()
            result = [str({{p.dtype for p in model.parameters()}}), sum(
                not torch.equal(a, b.float()) for a, b in zip(before, model.parameters())
            ) > 0]
        except Exception as error:
            result = str(error)
"""


def test_full_fine_tuning_with_the_plain_trainer(forked) -> None:
    assert forked(TRAINER.format(apply="")) == UNSCALE
    assert forked(TRAINER.format(apply=APPLY)) == ["{torch.float32}", True]


def test_modules_to_save_of_a_half_precision_base(train) -> None:
    options = {
        "checkpoint": "fp16",
        "quantization": "none",
        "lora": {"modules_to_save": ["lm_head"]},
    }
    assert train("sft", patched=False, **options)["error"] == UNSCALE
    outcome = train("sft", patched=True, **options)
    assert set(outcome["trainable_dtypes_after"]) == {"float32"}


@pytest.mark.parametrize("kind", ["FSDP", "DEEPSPEED", "MEGATRON_LM"])
def test_hands_off_where_another_engine_holds_the_parameters(kind: str) -> None:
    """Such a launch needs its engine; what is asked of the accelerator is what it would answer."""
    import types

    import torch
    from accelerate.utils import DistributedType

    from patchkit.precision.gradscaler import before_prepare

    accelerator = types.SimpleNamespace(
        scaler=torch.amp.GradScaler("cpu"),
        mixed_precision="fp16",
        distributed_type=DistributedType[kind],
    )
    model = torch.nn.Linear(2, 2).half()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    before_prepare(lambda *args: args, accelerator, (model, optimizer), {})
    assert model.weight.dtype == torch.float16


BATCH_NORM = """
    import torch
    from accelerate import Accelerator
    from patchkit.lab import cuda_fp16
    import patchkit

    cuda_fp16.install()
    patchkit.apply(only='accelerate-*', strict=True)
    accelerator = Accelerator(mixed_precision="fp16")
    norm = torch.nn.BatchNorm1d(4)
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), norm).to(torch.{dtype})
    norm.requires_grad_({trained})
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    model, optimizer = accelerator.prepare(model, torch.optim.AdamW(parameters, lr=0.1))
    with accelerator.autocast():
        loss = model(torch.randn(8, 4)).float().pow(2).mean()
    accelerator.backward(loss)
    optimizer.step()
    own = (norm.weight, norm.bias, norm.running_mean, norm.running_var)
    result = sorted({{str(tensor.dtype)[6:] for tensor in own}})
"""


@pytest.mark.parametrize(
    ("dtype", "trained", "expected"),
    [
        ("float16", True, "float32"),
        ("bfloat16", True, "float32"),
        ("bfloat16", False, "float32"),
        ("float16", False, "float16"),
        ("float32", False, "float32"),
    ],
)
def test_a_batch_norm_is_of_one_dtype(forked, dtype: str, trained: bool, expected: str) -> None:
    assert forked(BATCH_NORM.format(dtype=dtype, trained=trained)) == [expected]
