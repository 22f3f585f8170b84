"""Copies of half-precision modules that PEFT trains: what becomes float32, and what goes through them."""

from __future__ import annotations

import copy
import pickle

import peft
import pytest
import torch
import transformers
from patchkit.patches.peft import _trained_copies

import patchkit
from patchkit.lab.reproduce import train_in_temporary_folder
from patchkit.precision.layer_input import UPCAST

from ..due import only_if_due

ID = "peft-modules-to-save-dtype"
IDS = torch.arange(8).reshape(2, 4)

pytestmark = [only_if_due(ID), pytest.mark.usefixtures("nothing_stays_applied")]


def base(dtype=torch.float16, *, tied: bool = False, head: str = "causal"):
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=32, hidden_size=32, intermediate_size=32, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=2, tie_word_embeddings=tied, num_labels=2,
        pad_token_id=0,
    )  # fmt: skip
    kind = {
        "causal": transformers.LlamaForCausalLM,
        "reward": transformers.LlamaForSequenceClassification,
    }[head]
    return kind(config).to(dtype).eval()


def adapted(model=None, *, patched: bool = True, modules=("lm_head", "embed_tokens"), **options):
    if patched:
        patchkit.apply(only=ID, strict=True)
    torch.manual_seed(1)
    config = peft.LoraConfig(
        r=2, target_modules=["q_proj"], modules_to_save=list(modules),
        task_type=options.pop("task", "CAUSAL_LM"), inference_mode=options.pop("inference", False),
    )  # fmt: skip
    return peft.get_peft_model(base() if model is None else model, config, **options).eval()


def dtypes(model) -> set[str]:
    return {
        str(parameter.dtype)[6:]
        for name, parameter in model.named_parameters()
        if "modules_to_save" in name
    }


def marked(model) -> int:
    return sum(UPCAST in vars(module) for module in model.modules())


@pytest.mark.parametrize("modules", [["score"], ["score", "embed_tokens"]], ids=len)
def test_training(modules: list[str]) -> None:
    options = {"checkpoint": "fp16", "quantization": "none", "lora": {"modules_to_save": modules}}
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        train_in_temporary_folder("reward", **options)
    patchkit.apply(only=ID, strict=True)
    outcome = train_in_temporary_folder("reward", **options)
    assert set(outcome.trainable_dtypes_after) == {"float32"}
    assert outcome.changed


@pytest.mark.parametrize("autocast", [None, torch.float16, torch.bfloat16])
def test_the_same_numbers_in_the_same_dtypes(autocast) -> None:
    """Before anything is trained the copies are equal to what they were copied from.

    Under autocast an embedding's output has the dtype of its copy, as without the patch.
    """

    def run(model):
        states = []
        model.get_input_embeddings().register_forward_hook(lambda *a: states.append(a[-1].dtype))
        with torch.no_grad(), torch.autocast("cpu", autocast, enabled=autocast is not None):
            return model(IDS).logits, states

    before, _ = run(adapted(patched=False))
    model = adapted()
    assert dtypes(model) == {"float32"}
    after, states = run(model)
    assert after.dtype == before.dtype
    assert states == [torch.float32 if autocast else torch.float16]
    torch.testing.assert_close(after, before, rtol=2**-6, atol=2**-6)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_where_a_framework_makes_all_that_is_trained_float32_nothing_differs(dtype) -> None:
    """Nothing is due there: losses and gradients are those without the patch, bit by bit."""

    def steps(*, patched: bool) -> list[torch.Tensor]:
        model = adapted(base(dtype), patched=patched).train()
        trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
        for parameter in trained:
            parameter.data = parameter.data.to(torch.float32)
        with torch.no_grad():  # a float16 would not hold it
            model.get_input_embeddings().weight[0] *= 1e7
        optimizer = torch.optim.AdamW(trained, lr=1e-3)
        scaler = torch.amp.GradScaler("cpu", init_scale=1.0, enabled=dtype == torch.float16)
        found = []
        for _ in range(3):
            with torch.autocast("cpu", dtype):
                loss = model(IDS, labels=IDS).loss
            scaler.scale(loss).backward()
            found += [loss.detach(), *(parameter.grad.clone() for parameter in trained)]
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
        return found

    plain = steps(patched=False)
    assert all(tensor.isfinite().all() for tensor in plain)
    assert all(map(torch.equal, plain, steps(patched=True)))


def test_a_layer_norm_on_a_cpu_gets_the_dtype_that_it_takes() -> None:
    """There the cast is due: without it the CPU's kernel refuses what CUDA's autocast casts."""

    def loss(*, patched: bool) -> torch.Tensor:
        torch.manual_seed(0)
        config = transformers.GPT2Config(
            vocab_size=32, n_embd=32, n_layer=1, n_head=2, n_positions=8, bos_token_id=0,
            eos_token_id=0,
        )  # fmt: skip
        model = transformers.GPT2LMHeadModel(config).half()
        config = peft.LoraConfig(r=2, target_modules=["c_attn"], modules_to_save=["wte"])
        if patched:
            patchkit.apply(only=ID, strict=True)
        model = peft.get_peft_model(model, config)
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.data = parameter.data.float()
        with torch.autocast("cpu", torch.float16):
            return model(input_ids=IDS % 8, labels=IDS % 8).loss

    with pytest.raises(RuntimeError, match="mixed dtype"):
        loss(patched=False)
    assert loss(patched=True).isfinite()


def test_generation_and_gradients_without_autocast() -> None:
    model = adapted()
    assert model.generate(input_ids=IDS, max_new_tokens=2).shape[1] > IDS.shape[1]
    model(IDS).logits.float().sum().backward()
    trained = {
        name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad
    }
    assert all(parameter.grad.dtype == torch.float32 for parameter in trained.values())
    assert any("embed_tokens" in name for name in trained)


CASES = {
    "not_wanted": ({"autocast_adapter_dtype": False}, {}, "float16"),
    "float32_base": ({}, {"dtype": torch.float32}, "float32"),
    "bfloat16_not_wanted": (
        {"autocast_adapter_dtype": False},
        {"dtype": torch.bfloat16},
        "bfloat16",
    ),
    "bfloat16_inference": ({"inference": True}, {"dtype": torch.bfloat16}, "bfloat16"),
    "inference": ({"inference": True}, {}, "float16"),
}


@pytest.mark.parametrize("case", CASES)
def test_left_alone(case: str) -> None:
    options, model, expected = CASES[case]
    found = adapted(base(**model), **options)
    assert dtypes(found) == {expected}
    assert not marked(found)
    assert torch.equal(
        found(IDS).logits, adapted(base(**model), patched=False, **options)(IDS).logits
    )


def test_large_copies_of_a_bfloat16_model_are_left_alone(monkeypatch) -> None:
    monkeypatch.setattr(_trained_copies, "SMALL", 32 * 32)
    assert dtypes(adapted(base(torch.bfloat16))) == {"float32"}
    monkeypatch.setattr(_trained_copies, "SMALL", 32 * 32 - 1)
    assert dtypes(adapted(base(torch.bfloat16))) == {"bfloat16"}


def test_bfloat16_copies_by_choice() -> None:
    patchkit.apply(only=ID, strict=True, adapter_cast="bf16")
    assert dtypes(adapted(base(torch.bfloat16), patched=False)) == {"bfloat16"}
    assert dtypes(adapted(patched=False)) == {"float32"}


@pytest.mark.parametrize("autocast", [False, True])
def test_small_copies_of_a_bfloat16_model(autocast: bool) -> None:
    """The same numbers come out in the same dtype before training, and updates are kept."""

    def scores(model):
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            return model(IDS).logits

    options = {"modules": [], "task": "SEQ_CLS"}
    plain = adapted(base(torch.bfloat16, head="reward"), patched=False, **options)
    model = adapted(base(torch.bfloat16, head="reward"), **options)
    assert (dtypes(plain), dtypes(model)) == ({"bfloat16"}, {"float32"})
    assert scores(model).dtype == scores(plain).dtype == torch.bfloat16
    torch.testing.assert_close(scores(model), scores(plain), rtol=2**-6, atol=2**-6)
    kept = []
    for trained in (plain, model):
        head = trained.base_model.model.score.modules_to_save["default"].weight
        before = head.detach().clone()
        optimizer = torch.optim.AdamW([head], lr=1e-6)
        trained(IDS).logits.float().square().sum().backward()
        optimizer.step()
        kept.append(float((head != before).float().mean()))
    assert kept[0] < 0.5 < kept[1] == 1, kept
    assert model.merge_and_unload().score.weight.dtype == torch.bfloat16


@pytest.mark.parametrize("variable", ["ACCELERATE_USE_FSDP", "ACCELERATE_USE_DEEPSPEED"])
def test_left_alone_where_parameters_are_sharded(monkeypatch, variable: str) -> None:
    monkeypatch.setenv(variable, "true")
    assert dtypes(adapted()) == {"float16"}


def test_a_copy_that_the_user_cast_is_called_as_before() -> None:
    model = adapted(patched=False)
    for name, parameter in model.named_parameters():
        if "modules_to_save" in name:
            parameter.data = parameter.data.float()
    patchkit.apply(only=ID, strict=True)
    with torch.autocast("cpu", torch.float16):
        assert model.get_input_embeddings()(IDS).dtype == torch.float32
    with pytest.raises(RuntimeError, match="dtype"):
        model.base_model.model.lm_head(torch.ones(1, 32).half())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_a_model_that_is_cast_as_a_whole_later(dtype) -> None:
    model = adapted().to(dtype)
    assert dtypes(model) == {str(dtype)[6:]}
    assert model.get_input_embeddings()(IDS).dtype == dtype
    assert model(IDS).logits.dtype == dtype


def test_a_classifier() -> None:
    model = adapted(base(head="reward"), modules=[], task="SEQ_CLS")
    assert dtypes(model) == {"float32"}
    assert model(IDS).logits.dtype == torch.float16


@pytest.mark.parametrize("head", ["lm_head", "score"])
def test_the_patch_of_heads_leaves_a_copy_alone_that_casts_for_itself(head: str) -> None:
    """Both patches look at a float32 head; the logits keep the dtype of the model."""
    kind, options = {
        "lm_head": ("causal", {"modules": ["lm_head"]}),
        "score": ("reward", {"modules": [], "task": "SEQ_CLS"}),
    }[head]
    expected = adapted(base(torch.bfloat16, head=kind), **options)(IDS).logits
    assert expected.dtype == torch.bfloat16
    patchkit.apply(only=[ID, "transformers-lm-head-dtype"])
    logits = adapted(base(torch.bfloat16, head=kind), patched=False, **options)(IDS).logits
    assert logits.dtype == torch.bfloat16
    assert torch.equal(logits, expected)


def test_norms() -> None:
    model = adapted(modules=["norm"])
    assert dtypes(model) == {"float32"}
    assert model(IDS).logits.dtype == torch.float16


def test_saved_and_loaded(tmp_path) -> None:
    model = adapted()
    head = model.base_model.model.lm_head.modules_to_save["default"].weight
    head.data += 1e-5
    model.save_pretrained(tmp_path)
    again = peft.PeftModel.from_pretrained(base(), tmp_path, is_trainable=True)
    loaded = again.base_model.model.lm_head.modules_to_save["default"].weight
    assert dtypes(again) == {"float32"}
    assert torch.allclose(loaded.half(), head.half())
    assert dtypes(peft.PeftModel.from_pretrained(base(), tmp_path)) == {"float16"}
    patchkit.revert()
    plain = peft.PeftModel.from_pretrained(base(), tmp_path)
    assert torch.equal(plain.base_model.model.lm_head.weight, head.half())


@pytest.mark.parametrize("method", ["merge_and_unload", "unload"])
def test_merged(method: str) -> None:
    model = adapted()
    expected = model(IDS).logits
    merged = getattr(model, method)()
    assert {parameter.dtype for parameter in merged.parameters()} == {torch.float16}
    assert not marked(merged)
    torch.testing.assert_close(merged(IDS).logits, expected, rtol=2**-6, atol=2**-6)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("autocast", [False, True])
def test_a_norm_with_running_statistics(dtype: torch.dtype, autocast: bool) -> None:
    """The statistics have the dtype of the weight, which a norm under autocast asks for."""
    layers = (torch.nn.Linear(8, 8), torch.nn.BatchNorm1d(8))
    patchkit.apply(only=ID, strict=True)
    config = peft.LoraConfig(r=2, target_modules=["0"], modules_to_save=["1"])
    model = peft.get_peft_model(torch.nn.Sequential(*layers).to(dtype), config)
    with torch.autocast("cpu", dtype, enabled=autocast):
        model(torch.rand(4, 8, dtype=dtype))
    norm = model.base_model.model[1].modules_to_save["default"]
    assert norm.weight.dtype == norm.running_mean.dtype == norm.running_var.dtype == torch.float32
    assert norm.running_mean.any()
    merged = model.merge_and_unload()[1]
    assert merged.weight.dtype == merged.running_mean.dtype == merged.running_var.dtype == dtype
    assert merged.num_batches_tracked.dtype == torch.int64


def test_several_adapters() -> None:
    model = adapted(modules=["lm_head"])
    model.add_adapter("other", copy.deepcopy(model.peft_config["default"]))
    for adapter in ("default", "other"):
        # Up to PEFT 0.18, `add_adapter` casts nothing.
        found = {
            parameter.dtype
            for name, parameter in model.named_parameters()
            if f".{adapter}." in name
        }
        assert len(found) == 1
    model.set_adapter("other")
    assert model(IDS).logits.dtype == torch.float16
    with model.disable_adapter():
        assert torch.equal(model(IDS).logits, base()(IDS).logits)
    mixed = model(IDS, adapter_names=["default", "__base__"]).logits
    assert mixed.dtype == torch.float16
    model.delete_adapter("default")
    assert model(IDS).logits.dtype == torch.float16


def test_tied_embeddings_stay_as_peft_has_them() -> None:
    def shared(patched: bool) -> bool:
        model = adapted(base(tied=True), patched=patched).base_model.model
        head, embedding = model.lm_head, model.model.embed_tokens
        return head.modules_to_save["default"].weight is embedding.modules_to_save["default"].weight

    assert shared(patched=False) == shared(patched=True)


def test_copied_pickled_compiled_and_checkpointed() -> None:
    model = adapted()
    expected = model(IDS).logits
    for copied in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert torch.equal(copied(IDS).logits, expected)
    head = model.base_model.model.lm_head
    states = torch.randn(2, 32).half()
    compiled = torch.compile(head, backend="eager")
    assert torch.equal(compiled(states), head(states))
    model.train()
    model.gradient_checkpointing_enable({"use_reentrant": False})
    model(IDS).logits.float().sum().backward()


def test_the_way_back() -> None:
    """A model that is float32 by then stays so; the classes run what they ran."""
    from peft.tuners.tuners_utils import BaseTuner
    from peft.utils.other import ModulesToSaveWrapper

    def state():
        return (
            vars(BaseTuner)["_cast_adapter_dtype"],
            vars(ModulesToSaveWrapper)["unload_and_optionally_merge_module"],
            ModulesToSaveWrapper._forward_wrapped.__code__,
            ModulesToSaveWrapper._forward_wrapped_mixed_batch.__code__,
        )

    before = state()
    adapted()
    patchkit.revert()
    assert all(tensor is other for tensor, other in zip(before, state(), strict=True))
    assert dtypes(adapted(patched=False)) == {"float16"}
