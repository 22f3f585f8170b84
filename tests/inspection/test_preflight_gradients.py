"""What is trained gets gradients: each finding beside what the training does without preflight."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import patchkit
from patchkit import PreflightError
from patchkit.inspection.findings import Severity

from .conftest import assert_explained

PREFLIGHT = "transformers-preflight"
NO_GRAPH = "element 0 of tensors does not require grad and does not have a grad_fn"
NO_CHECKS = "No inf checks were recorded prior to update."
NOTHING_LEARNT = ""


def saved_adapter(make) -> Any:
    path = make.folder / "adapter"
    if not path.exists():
        make.lora("float32").save_pretrained(path)
    return path


def loaded(make, **options: Any):
    import peft

    return peft.PeftModel.from_pretrained(make.model("float32"), saved_adapter(make), **options)


def frozen(make):
    model = make.model("float32")
    model.requires_grad_(False)
    return model


def switched_off(make):
    model = make.lora("float32")
    model.disable_adapter_layers()
    return model


def added_and_switched_off(make):
    import peft

    model = make.model("float32")
    model.add_adapter(peft.LoraConfig(r=2, target_modules=["q_proj"]))
    model.disable_adapters()
    return model


def trained_though_off(make):
    model = switched_off(make)
    for name, parameter in model.named_parameters():
        parameter.requires_grad = "lora_" in name
    return model


def merged(make):
    model = make.lora("float32")
    model.merge_adapter()
    return model


def another_active(make):
    model = loaded(make)
    model.load_adapter(saved_adapter(make), "second", is_trainable=True)
    for name, parameter in model.named_parameters():  # PEFT does so itself since 0.18.
        parameter.requires_grad = ".second." in name
    return model


def both_active(make):
    model = another_active(make)
    model.base_model.set_adapter(["default", "second"])
    return model


def fed(build: Callable[..., Any]) -> Callable[..., Any]:
    """As `prepare_model_for_kbit_training` leaves it: the embedding's output has a gradient."""

    def build_and_feed(make):
        model = build(make)
        model.enable_input_require_grads()
        return model

    return build_and_feed


NO_GRADIENT = {
    "all frozen": (frozen, "", "nothing-trained", NO_GRAPH),
    "an adapter without is_trainable": (loaded, "", "nothing-trained", NO_GRAPH),
    "the same in fp16": (loaded, "fp16", "nothing-trained", NO_GRAPH),
    "the same, fed, in fp16": (fed(loaded), "fp16", "nothing-trained", NO_CHECKS),
    "the same, fed": (fed(loaded), "bf16", "nothing-trained", NOTHING_LEARNT),
    "adapters switched off": (switched_off, "", "nothing-trained", NO_GRAPH),
    "adapters of add_adapter switched off": (
        added_and_switched_off,
        "",
        "nothing-trained",
        NO_GRAPH,
    ),
    "trained though off": (trained_though_off, "", "trained-outside-the-graph", NO_GRAPH),
    "trained though off, fed, in fp16": (
        fed(trained_though_off),
        "fp16",
        "trained-outside-the-graph",
        NO_CHECKS,
    ),
    "merged": (merged, "", "trained-outside-the-graph", NO_GRAPH),
    "merged, fed": (fed(merged), "", "trained-outside-the-graph", NOTHING_LEARNT),
    "another adapter is active": (another_active, "", "trained-outside-the-graph", NO_GRAPH),
}


def snapshot(model) -> dict[str, Any]:
    return {name: tensor.detach().clone() for name, tensor in model.named_parameters()}


def changed(before: dict[str, Any], model) -> bool:
    import torch

    return any(not torch.equal(before[name], now) for name, now in model.named_parameters())


def train_and_see(trainer) -> str:
    """Train one step, and return the error; empty if nothing was learnt."""
    before = snapshot(trainer.model)
    try:
        trainer.train()
    except (RuntimeError, AssertionError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    assert not changed(before, trainer.model), "the training learns"
    return NOTHING_LEARNT


@pytest.mark.parametrize("case", NO_GRADIENT)
def test_no_gradient(make, case: str) -> None:
    build, precision, finding, message = NO_GRADIENT[case]
    with make.trainer(build(make), precision, learning_rate=1e-2) as trainer:
        findings = patchkit.preflight(trainer)
        raised = train_and_see(trainer)
    assert message in raised
    assert bool(message) is bool(raised)
    assert findings[finding].severity is Severity.ERROR
    says = findings[finding].why
    assert (message.rstrip(".") if message else "changes nothing, without a word") in says
    if raised:
        assert_explained(raised, finding)


@pytest.mark.parametrize("case", ["an adapter without is_trainable", "trained though off"])
def test_it_is_said_before_training(make, case: str) -> None:
    build, precision, finding, _ = NO_GRADIENT[case]
    patchkit.apply(only=PREFLIGHT)
    with (
        make.trainer(build(make), precision) as trainer,
        pytest.raises(PreflightError, match=finding),
    ):
        trainer.train()


@pytest.mark.parametrize("case", ["all frozen", "merged", "another adapter is active"])
def test_evaluation_alone_is_not_stopped(make, case: str) -> None:
    build, precision, _, _ = NO_GRADIENT[case]
    patchkit.apply(only=PREFLIGHT)
    with make.trainer(build(make), precision) as trainer:
        assert trainer.evaluate(trainer.train_dataset)["eval_loss"] > 0
        assert len(trainer.predict(trainer.train_dataset).predictions)


def unmerged(make):
    model = merged(make)
    model.unmerge_adapter()
    return model


def switched_on_again(make):
    model = switched_off(make)
    model.enable_adapter_layers()
    return model


def added(make):
    import peft

    model = make.model("float32")
    model.add_adapter(peft.LoraConfig(r=2, target_modules=["q_proj"]))
    return model


def frozen_with_a_trained_head(make):
    model = frozen(make)
    model.get_output_embeddings().requires_grad_(True)
    return model


def second_of_two(make):
    model = another_active(make)
    model.set_adapter("second")
    return model


def prompts(make):
    import peft

    given = {"task_type": "CAUSAL_LM", "num_virtual_tokens": 2}
    return peft.get_peft_model(make.model("float32"), peft.PromptTuningConfig(**given))


HEALTHY = {
    "LoRA": lambda m: m.lora("float32"),
    "loaded to be trained": lambda m: loaded(m, is_trainable=True),
    "merged and unmerged": unmerged,
    "switched off and on": switched_on_again,
    "add_adapter": added,
    "the second of two adapters": second_of_two,
    "two adapters at once": both_active,
    "a head alone": frozen_with_a_trained_head,
    "modules_to_save": lambda m: m.lora("float32", modules_to_save=["lm_head"]),
    "trained tokens": lambda m: m.lora("float32", trainable_token_indices=[3, 4]),
    "DoRA": lambda m: m.lora("float32", use_dora=True),
    "prompts": prompts,
    "all of it": lambda m: m.model("float32"),
}


@pytest.mark.parametrize("case", HEALTHY)
@pytest.mark.parametrize("checkpointing", [False, True])
def test_what_learns_is_left_alone(make, case: str, checkpointing: bool) -> None:
    options = {
        "gradient_checkpointing": checkpointing,
        "gradient_checkpointing_kwargs": {"use_reentrant": False} if checkpointing else None,
    }
    with make.trainer(HEALTHY[case](make), "", learning_rate=1e-2, **options) as trainer:
        assert not [name for name in patchkit.preflight(trainer).ids if name != "unfixed-bugs"]
        before = snapshot(trainer.model)
        trainer.train()
        assert changed(before, trainer.model)
        assert not [name for name in patchkit.preflight(trainer).ids if name != "unfixed-bugs"]


def optimizer_over(parameters, **options: Any):
    import torch

    return torch.optim.AdamW(parameters, lr=1e-2, **options)


def made_before_the_adapters(make):
    import peft

    model = make.model("float32")
    optimizer = optimizer_over(model.parameters())
    lora = peft.LoraConfig(r=2, target_modules=["q_proj"], task_type="CAUSAL_LM")
    return peft.get_peft_model(model, lora), optimizer


def made_for_another_copy(make):
    return make.lora("float32"), optimizer_over(make.lora("float32").parameters())


OTHER_PARAMETERS = {
    "made before the adapters": (
        made_before_the_adapters,
        "fp16",
        "No inf checks were recorded for this optimizer.",
    ),
    "made before the adapters, bf16": (made_before_the_adapters, "bf16", NOTHING_LEARNT),
    "made for another copy": (made_for_another_copy, "", NOTHING_LEARNT),
}


@pytest.mark.parametrize("case", OTHER_PARAMETERS)
def test_optimizer_of_other_parameters(make, case: str) -> None:
    build, precision, message = OTHER_PARAMETERS[case]
    model, optimizer = build(make)
    with make.trainer(model, precision) as trainer:
        trainer.optimizer = optimizer
        finding = patchkit.preflight(trainer)["optimizer-of-other-parameters"]
        raised = train_and_see(trainer)
    assert finding.severity is Severity.ERROR
    assert message in raised
    assert bool(message) is bool(raised)
    assert ("for this optimizer." if message else "changes nothing") in finding.why
    if raised:
        assert_explained(raised, finding.id)


def test_optimizers_that_are_meant(make, look) -> None:
    """Of some of what is trained, of inputs, of master weights, and dummies of layerwise ones."""
    import torch

    model = make.lora("float32")
    some = [parameter for parameter in model.parameters() if parameter.requires_grad][:2]
    prompt = torch.nn.Parameter(torch.zeros(2, 64))
    masters = [parameter.detach().float() for parameter in make.model("bfloat16").parameters()]

    class LayerWiseDummyOptimizer(torch.optim.SGD):
        """Named as Transformers names its own, which steps in hooks."""

    for subject, optimizer in [
        (model, optimizer_over(some)),
        (model, optimizer_over([*some, prompt])),
        (frozen(make), optimizer_over([prompt])),
        (make.model("bfloat16"), optimizer_over(masters)),
        (model, LayerWiseDummyOptimizer([torch.zeros(1)], lr=1.0)),
    ]:
        findings = look(subject, None, optimizer).ids
        assert not {"optimizer-of-other-parameters", "nothing-trained"} & set(findings)
    unfrozen = look(model, None, optimizer_over([prompt]))["optimizer-of-other-parameters"]
    assert unfrozen.severity is Severity.WARNING  # a prompt may be all that is meant


def test_a_model_on_its_way_to_adapters(make, look) -> None:
    """Frozen by `prepare_model_for_kbit_training`; the trainer's peft_config will add adapters."""
    import peft

    prepared = peft.prepare_model_for_kbit_training(make.model("bfloat16", "4bit"))
    assert "nothing-trained" not in look(prepared, make.args("bf16"))
    assert "nothing-trained" not in look(frozen(make))
    assert "nothing-trained" in look(loaded(make), make.args("bf16"))


def vision(make, **options: Any):
    import peft
    import transformers

    size = {"hidden_size": 32, "intermediate_size": 32, "num_attention_heads": 2}
    config = transformers.ViTConfig(
        image_size=8, patch_size=4, num_hidden_layers=2, num_labels=2, **size
    )
    model = transformers.ViTForImageClassification(config)
    lora = peft.LoraConfig(r=2, target_modules="all-linear", exclude_modules="classifier")
    return peft.get_peft_model(model, peft.LoraConfig(**{**lora.to_dict(), **options}))


def images() -> list[dict[str, Any]]:
    import torch

    return [{"pixel_values": torch.ones(3, 8, 8) * number, "labels": 1} for number in range(8)]


REENTRANT = {
    "reentrant": ({"use_reentrant": True}, {}, NO_GRAPH),
    "not reentrant": ({"use_reentrant": False}, {}, None),
    "reentrant, a trained head": (
        {"use_reentrant": True},
        {"modules_to_save": ["classifier"]},
        NOTHING_LEARNT,
    ),
}


@pytest.mark.parametrize("case", REENTRANT)
def test_checkpointing_of_a_vision_model(make, case: str) -> None:
    """Its input is no embedding of tokens, for which Transformers 5 sets the hook by itself."""
    kwargs, lora, message = REENTRANT[case]
    model = vision(make, **lora)
    given = {"gradient_checkpointing_kwargs": kwargs, "remove_unused_columns": False}
    with (
        make.trainer(
            model, "", gradient_checkpointing=True, learning_rate=1e-2, **given
        ) as trainer,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        trainer.train_dataset = images()
        findings = patchkit.preflight(trainer)
        assert ("checkpointing-cuts-the-graph" in findings) is (message is not None)
        before = {name: tensor for name, tensor in snapshot(model).items() if "lora_" in name}
        try:
            trainer.train()
            raised = ""
        except RuntimeError as error:
            raised = f"RuntimeError: {error}"
        now = dict(model.named_parameters())
        learnt = any(not bool((before[name] == now[name]).all()) for name in before)
    assert learnt is (message is None)
    assert (message or "") in raised
    if message is not None:
        assert (message or "only the head learns") in findings["checkpointing-cuts-the-graph"].why
    if raised:
        assert_explained(raised, "checkpointing-cuts-the-graph")


def test_checkpointing_is_repaired(make) -> None:
    given = {"gradient_checkpointing_kwargs": {"use_reentrant": True}}
    given["remove_unused_columns"] = False
    model = vision(make)
    with (
        make.trainer(
            model, "", gradient_checkpointing=True, learning_rate=1e-2, **given
        ) as trainer,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        trainer.train_dataset = images()
        findings = patchkit.preflight(trainer, fix=True)
        assert findings["checkpointing-cuts-the-graph"].fixed
        before = snapshot(model)
        trainer.train()
        assert changed(before, model)


@pytest.mark.parametrize("reentrant", [True, False])
@pytest.mark.parametrize("fed_by_hook", [True, False])
def test_checkpointing_of_a_loop_of_your_own(
    make, look, reentrant: bool, fed_by_hook: bool
) -> None:
    import torch

    model = make.lora("float32")
    inner = model.get_base_model()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        inner.gradient_checkpointing_enable({"use_reentrant": reentrant})
    inner.get_input_embeddings()._forward_hooks.clear()
    if fed_by_hook:
        inner.enable_input_require_grads()
    doomed = reentrant and not fed_by_hook
    assert ("checkpointing-cuts-the-graph" in look(model)) is doomed
    ids = torch.arange(4, 20)[None]
    loss = model.train()(input_ids=ids, labels=ids).loss
    if doomed:
        with pytest.raises(RuntimeError, match="element 0 of tensors"):
            loss.backward()
    else:
        loss.backward()


@pytest.mark.parametrize("by_default", [True, False])
def test_checkpointing_of_a_text_model(make, by_default: bool) -> None:
    """Transformers 5 is not reentrant by default, and newer releases set the hook; 4 does neither."""
    kwargs = None if by_default else {"use_reentrant": True}
    given = {"gradient_checkpointing": True, "gradient_checkpointing_kwargs": kwargs}
    with (
        make.trainer(make.lora("float32"), "", learning_rate=1e-2, **given) as trainer,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        said = "checkpointing-cuts-the-graph" in patchkit.preflight(trainer)
        if said:
            assert NO_GRAPH in train_and_see(trainer)
        else:
            before = snapshot(trainer.model)
            trainer.train()
            assert changed(before, trainer.model)


def test_inference_tensors(make, look) -> None:
    import peft
    import torch
    import transformers

    lora = peft.LoraConfig(r=2, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
    ids = torch.arange(4, 20)[None]
    for context, doomed in ((torch.inference_mode, True), (torch.no_grad, False)):
        config = make.model("float32").config
        with context():
            model = transformers.AutoModelForCausalLM.from_config(config)
        model.requires_grad_(False)
        model = peft.get_peft_model(model, lora)
        assert ("inference-tensors" in look(model, make.args("bf16"))) is doomed
        try:
            model(input_ids=ids, labels=ids).loss.backward()
            raised = ""
        except RuntimeError as error:
            raised = f"RuntimeError: {error}"
        assert ("Inference tensors cannot be saved for backward" in raised) is doomed
        if doomed:
            assert_explained(raised, "inference-tensors")
