"""Findings about what is trained, each with the cases that come near it."""

from __future__ import annotations

import pytest

import patchkit
from patchkit.inspection.findings import Severity


def cast(model, dtype: str, part: str = ""):
    import torch

    for name, parameter in model.named_parameters():
        if parameter.requires_grad and part in name:
            parameter.data = parameter.data.to(getattr(torch, dtype))
    return model


UNDER_SCALER = {
    "full float16": (lambda m: m.model("float16"), "fp16", "21 trained parameters (21 float16)"),
    "full bfloat16": (lambda m: m.model("bfloat16"), "fp16", "(21 bfloat16)"),
    "adapters bfloat16": (lambda m: cast(m.lora("float16"), "bfloat16"), "fp16", "lora_A"),
    "QLoRA, bfloat16": (
        lambda m: cast(m.lora("float16", "4bit"), "bfloat16"),
        "fp16",
        "(8 bfloat16)",
    ),
    "saved module": (
        lambda m: m.lora("float16", modules_to_save=["lm_head"]),
        "fp16",
        "lm_head.modules_to_save",
    ),
    "LoRA float32 on float16": (lambda m: m.lora("float16"), "fp16", None),
    "QLoRA float32": (lambda m: m.lora("float16", "4bit"), "fp16", None),
    "8-bit LoRA": (lambda m: m.lora("float16", "8bit"), "fp16", None),
    "full float32": (lambda m: m.model("float32"), "fp16", None),
    "bf16 has no scaler": (lambda m: cast(m.lora("bfloat16"), "bfloat16"), "bf16", None),
    "no precision, no scaler": (lambda m: m.model("bfloat16"), "", None),
    "frozen whole": (lambda m: m.model("float16").requires_grad_(False), "fp16", None),
}


@pytest.mark.parametrize("case", UNDER_SCALER)
def test_half_under_scaler(make, look, case: str) -> None:
    build, precision, expected = UNDER_SCALER[case]
    findings = look(build(make), make.args(precision))
    assert ("half-trainable-under-scaler" in findings) is (expected is not None)
    if expected is not None:
        error = findings["half-trainable-under-scaler"]
        assert error.severity is Severity.ERROR
        assert expected in error.found
        assert error.fixable
    else:
        assert not findings.errors


def test_the_advice_fits_the_training(make, look) -> None:
    whole = look(make.model("float16"), make.args("fp16"))[0]
    assert "from_pretrained(…, dtype=torch.float32)" in whole.change
    adapters = look(cast(make.lora("float16"), "float16"), make.args("fp16"))[0]
    assert "p.data = p.data.float()" in adapters.change


@pytest.mark.parametrize(
    ("options", "severity"), [({}, Severity.NOTE), ({"gradscaler_guard": "error"}, Severity.ERROR)]
)
def test_the_guard_fixes_it_later(make, look, options, severity) -> None:
    with patchkit.patched(only="accelerate-*", **options):
        assert patchkit.report()["accelerate-gradscaler-guard"].status == "applied"
        finding = look(make.model("float16"), make.args("fp16"))["half-trainable-under-scaler"]
        assert finding.severity is severity
        assert ("accelerate-gradscaler-guard" in finding.why) is (severity is Severity.NOTE)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_what_the_finding_says_of_the_scaler_is_so(make, dtype: str) -> None:
    with make.trainer(make.model(dtype), "fp16") as trainer:
        error = patchkit.preflight(trainer)["half-trainable-under-scaler"]
        with pytest.raises((ValueError, NotImplementedError)) as raised:
            trainer.train()
    assert str(raised.value).partition("not impl")[0][:20] in error.why or dtype == "bfloat16"
    assert ("BFloat16" in str(raised.value)) is (dtype == "bfloat16")


WITHOUT_SCALER = {
    "AdamW": ("float16", "", {"optim": "adamw_torch"}, Severity.ERROR),
    "AdamW, autocast to bfloat16": ("float16", "bf16", {"optim": "adamw_torch"}, Severity.ERROR),
    "fused AdamW": ("float16", "", {"optim": "adamw_torch_fused"}, Severity.ERROR),
    "a larger epsilon": (
        "float16",
        "",
        {"optim": "adamw_torch", "adam_epsilon": 1e-4},
        Severity.WARNING,
    ),
    "SGD": ("float16", "", {"optim": "sgd"}, Severity.WARNING),
    "with a scaler": ("float16", "fp16", {}, None),
    "bfloat16": ("bfloat16", "", {}, None),
    "float32": ("float32", "", {}, None),
}


@pytest.mark.parametrize("case", WITHOUT_SCALER)
def test_float16_without_scaler(make, look, case: str) -> None:
    dtype, precision, options, severity = WITHOUT_SCALER[case]
    findings = look(make.model(dtype), make.args(precision, **options))
    assert ("float16-without-scaler" in findings) is (severity is not None)
    if severity is not None:
        assert findings["float16-without-scaler"].severity is severity


@pytest.mark.parametrize(("epsilon", "finite"), [(1e-8, False), (1e-4, True)])
def test_adam_in_float16(make, look, epsilon: float, finite: bool) -> None:
    import torch

    model = make.model("float16")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, eps=epsilon)
    finding = look(model, None, optimizer)["float16-without-scaler"]
    assert finding.severity is (Severity.WARNING if finite else Severity.ERROR)
    assert ("adamw_bnb_8bit" in finding.change) is not finite
    ids = torch.arange(4, 20)[None]
    model(input_ids=ids, labels=ids).loss.backward()
    optimizer.step()
    assert all(parameter.isfinite().all() for parameter in model.parameters()) is finite


def test_a_live_optimizer_may_be_fused(make, look) -> None:
    import torch

    model = make.model("float16")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    assert "run away" in look(model, None, optimizer)["float16-without-scaler"].why


@pytest.mark.parametrize(
    ("name", "loader"),
    [
        ("LlamaForSequenceClassification", "LlamaForSequenceClassification.from_pretrained"),
        ("LlamaForCausalLM", "AutoModelForCausalLM.from_pretrained"),
    ],
)
def test_a_change_loads_the_model_by_its_class(make, look, name: str, loader: str) -> None:
    import transformers

    model = getattr(transformers, name)(make.model("float32").config).half()
    assert f"model = {loader}(" in look(model, make.args())["float16-without-scaler"].change


@pytest.mark.parametrize(
    ("dtype", "precision", "options", "ends"),
    [
        ("float16", "", {"optim": "adamw_torch"}, "weights are NaN"),
        ("float16", "", {"optim": "adamw_torch_fused"}, "weights run away"),
        ("float16", "", {"optim": "adamw_bnb_8bit"}, ""),
        ("float32", "fp16", {"optim": "adamw_torch"}, ""),
    ],
)
def test_what_the_finding_says_of_adam_in_float16_is_so(
    make, dtype: str, precision: str, options, ends: str
) -> None:
    steps, rate = 10, 1e-3
    model = make.model(dtype)
    before = [parameter.detach().clone() for parameter in model.parameters()]
    with make.trainer(model, precision, max_steps=steps, learning_rate=rate, **options) as trainer:
        findings = patchkit.preflight(trainer)
        doomed = [error.id for error in findings.errors]
        assert ("float16-without-scaler" in doomed) is bool(ends)
        if doomed:
            finding = findings["float16-without-scaler"]
            assert ends in finding.why
            for written in ("dtype=torch.float32", "fp16=True", 'optim="adamw_bnb_8bit"'):
                assert written in finding.change
        try:
            trainer.train()
        except (AttributeError, NotImplementedError) as error:
            if "bnb" not in options["optim"]:
                raise
            pytest.skip(f"this bitsandbytes does not step on a CPU: {error}")
        after = list(trainer.model.parameters())
    moved = max(
        float((new.float() - old.float()).abs().max())
        for new, old in zip(after, before, strict=True)
    )
    assert (moved < steps * rate) is (not ends)  # NaN is no less


ROUNDING = {
    "trained whole, small steps": ("model", {"learning_rate": 1e-6}, Severity.WARNING),
    "trained whole, default": ("model", {}, Severity.WARNING),
    "trained whole, no mixed precision": ("pure", {"learning_rate": 1e-6}, Severity.WARNING),
    "trained whole, large steps": ("model", {"learning_rate": 1e-2}, None),
    "adapters, small steps": ("adapters", {"learning_rate": 1e-6}, Severity.WARNING),
    "adapters, large steps": ("adapters", {"learning_rate": 1e-2}, None),
    "float32 adapters": ("lora", {"learning_rate": 1e-6}, None),
    "float32": ("float32", {"learning_rate": 1e-6}, None),
    "an optimizer that compensates": (
        "model",
        {"learning_rate": 1e-6, "optim": "adamw_anyprecision"},
        None,
    ),
}


@pytest.mark.parametrize("case", ROUNDING)
def test_updates_round_away(make, look, case: str) -> None:
    kind, options, severity = ROUNDING[case]
    model = {
        "model": lambda: make.model("bfloat16"),
        "pure": lambda: make.model("bfloat16"),
        "adapters": lambda: cast(make.lora("bfloat16"), "bfloat16"),
        "lora": lambda: make.lora("bfloat16"),
        "float32": lambda: make.model("float32"),
    }[kind]()
    args = make.args("" if kind == "pure" else "bf16")
    for name, value in options.items():  # an optimizer that is not installed is refused earlier
        setattr(args, name, value)
    findings = look(model, args)
    assert findings.ids == ([] if severity is None else ["updates-round-away"])
    if severity is not None:
        assert findings[0].severity is severity
        assert findings[0].fixable is (kind == "adapters")


def test_the_share_of_lost_updates_is_what_adam_loses(make, look) -> None:
    import re

    import torch

    model = make.model("bfloat16")
    rate = 1e-4
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.0)
    (finding,) = look(model, None, optimizer)
    said = int(re.search(r"leaves (\d+)%", finding.why)[1])
    before = [parameter.detach().clone() for parameter in model.parameters()]
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    kept = [float((a == b).float().mean()) for a, b in zip(before, model.parameters(), strict=True)]
    assert abs(said - 100 * sum(kept) / len(kept)) < 10


def test_an_adapter_cast_that_was_chosen(make, look) -> None:
    model, args = cast(make.lora("bfloat16"), "bfloat16"), make.args("bf16", learning_rate=1e-6)
    assert look(model, args).ids == ["updates-round-away"]
    with patchkit.patched(only="trl-*", adapter_cast="bf16"):
        assert look(model, args).ids == []


@pytest.mark.parametrize(
    ("precision", "cast_to", "expected"),
    [
        ("bf16", "bfloat16", ["dora-magnitude-in-half"]),
        ("bf16", "float32", []),
        ("fp16", "bfloat16", ["half-trainable-under-scaler"]),
    ],
)
def test_magnitude_in_half(make, look, precision: str, cast_to: str, expected: list[str]) -> None:
    dtype = {"bf16": "bfloat16", "fp16": "float16"}[precision]
    model = cast(make.lora(dtype, use_dora=True), cast_to, "lora_magnitude_vector")
    assert look(model, make.args(precision, learning_rate=1e-6)).ids == expected


OTHER_HALF = {
    "bfloat16 base, fp16": (lambda m: m.lora("bfloat16"), "fp16", "bfloat16-model-in-float16-"),
    "float16 base, bf16": (lambda m: m.lora("float16"), "bf16", "float16-model-in-bfloat16-"),
    "only the rest of a 4-bit model": (
        lambda m: m.lora("bfloat16", "4bit"),
        "fp16",
        "bfloat16-model-in-float16-",
    ),
    "the same": (lambda m: m.lora("float16"), "fp16", None),
    "float32 base": (lambda m: m.lora("float32"), "fp16", None),
    "no mixed precision": (lambda m: m.lora("float16"), "", None),
}


@pytest.mark.parametrize("case", OTHER_HALF)
def test_other_half(make, look, case: str) -> None:
    build, precision, expected = OTHER_HALF[case]
    ids = look(build(make), make.args(precision)).ids
    assert [finding_id for finding_id in ids if "-model-in-" in finding_id] == (
        [f"{expected}training"] if expected else []
    )


@pytest.mark.parametrize(
    ("change", "precision", "expected"),
    [
        (lambda m: m.lm_head.float(), "", True),
        (lambda m: m.lm_head.float(), "bf16", False),
        (
            lambda m: m.lm_head.register_forward_pre_hook(lambda *_: None) and m.lm_head.float(),
            "",
            False,
        ),
        (lambda m: m, "", False),
        (lambda m: m.float(), "", False),
    ],
)
def test_head_of_another_dtype(make, look, change, precision: str, expected: bool) -> None:
    import torch

    model = make.model("bfloat16")
    change(model)
    findings = look(model, make.args(precision, learning_rate=1e-2))
    assert ("head-of-another-dtype" in findings) is expected
    if expected:
        ids = torch.arange(4, 8)[None]
        with pytest.raises(RuntimeError, match="dtype"):
            model(input_ids=ids)
