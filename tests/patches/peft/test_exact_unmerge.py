"""Base weights after adapters were merged into them and taken out again."""

from __future__ import annotations

import copy
import gc
import io
import warnings
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import peft
import pytest
import torch

import patchkit
from patchkit.lab import quantized

from ..due import only_if_due

PATCH = "peft-exact-unmerge"
pytestmark = [
    only_if_due(PATCH),
    pytest.mark.filterwarnings("ignore:(Merge|Unmerge|Already|All adapters)"),
    pytest.mark.filterwarnings("ignore:.*SHiRA|.*VBLoRA|.*random_mask"),
]
CHANGED = "base weights were changed while adapters were merged"

LORA = {"r": 4, "init_lora_weights": False}
BOTH = {"target_modules": ["linear", "convolution"]}
#: Adapters with the configuration of each; those that a release does not have are skipped.
ADAPTERS: dict[str, tuple[str, dict[str, Any]]] = {
    "lora": ("LoraConfig", {**LORA, "target_modules": ["linear", "embedding", "convolution"]}),
    "dora": (
        "LoraConfig",
        {**LORA, "use_dora": True, "target_modules": ["linear", "embedding", "convolution"]},
    ),
    "lora-bias": ("LoraConfig", {**LORA, "lora_bias": True, "target_modules": ["linear"]}),
    "attention": ("LoraConfig", {**LORA, "target_modules": ["attention"]}),
    "adalora": (
        "AdaLoraConfig",
        {"total_step": 10, "init_lora_weights": False, "target_modules": ["linear"]},
    ),
    "ia3": ("IA3Config", {**BOTH, "feedforward_modules": [], "init_ia3_weights": False}),
    "loha": ("LoHaConfig", {**BOTH, "r": 4, "init_weights": False}),
    "lokr": ("LoKrConfig", {**BOTH, "r": 4, "init_weights": False}),
    "oft": ("OFTConfig", {**BOTH, "oft_block_size": 4, "init_weights": False}),
    "boft": ("BOFTConfig", {**BOTH, "boft_block_size": 4, "init_weights": False}),
    "hra": ("HRAConfig", {**BOTH, "r": 4, "init_weights": False}),
    "vera": ("VeraConfig", {"r": 4, "target_modules": ["linear"], "init_weights": False}),
    "randlora": ("RandLoraConfig", {"r": 4, "target_modules": ["linear"], "init_weights": False}),
    "fourierft": ("FourierFTConfig", {"n_frequency": 9, "target_modules": ["linear"]}),
    "shira": ("ShiraConfig", {"r": 4, "target_modules": ["linear"]}),
    "road": ("RoadConfig", {"group_size": 8, "target_modules": ["linear"], "init_weights": False}),
    "deft": ("DeftConfig", {"r": 4, "target_modules": ["linear"]}),
}


class Model(torch.nn.Module):
    """One layer of each kind."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(32, 64)
        self.linear = torch.nn.Linear(64, 64)
        self.convolution = torch.nn.Conv2d(4, 8, 3)
        self.attention = torch.nn.MultiheadAttention(64, 4, batch_first=True)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        states = self.linear(self.embedding(tokens))
        return self.attention(states, states, states)[0]


class Experts(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up = torch.nn.Parameter(torch.randn(4, 16, 32))
        self.down = torch.nn.Parameter(torch.randn(4, 32, 16))

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        return torch.einsum("ti,eio,eoi->ti", states, self.up, self.down)


@pytest.fixture
def patched() -> Iterator[None]:
    with patchkit.patched(only=PATCH, strict=True):
        yield


def adapted(kind: str = "lora", dtype: torch.dtype = torch.bfloat16, **options: Any) -> Any:
    name, arguments = ADAPTERS[kind]
    if not hasattr(peft, name):
        pytest.skip(f"PEFT {peft.__version__} has no {name}")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = getattr(peft, name)(**{**arguments, **options})
        model = peft.get_peft_model(Model().to(dtype), config)
        randomize(model)
    return model


def randomize(model: Any) -> None:
    """Make each adapter change what it is merged into."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.add_(0.05 * torch.randn_like(parameter))


def adapted_quantized(folder: Path, **options: Any) -> Any:
    config = peft.LoraConfig(**{**LORA, "target_modules": ["q_proj", "down_proj"], **options})
    return peft.get_peft_model(quantized.load(folder), config)


def layers(model: Any) -> list[Any]:
    return [module for module in model.modules() if hasattr(module, "merged_adapters")]


def state(model: Any) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def changes(before: dict[str, torch.Tensor], model: Any) -> list[str]:
    """Return the names of the tensors that are not the same bit for bit."""
    now = model.state_dict()
    assert now.keys() == before.keys()
    return [name for name, tensor in before.items() if not is_same(tensor, now[name])]


def is_same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.dtype == other.dtype and torch.equal(as_bytes(one), as_bytes(other))


def as_bytes(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().contiguous().reshape(-1).view(torch.uint8)


def kept() -> int:
    from patchkit.patches.peft import _base_weights

    gc.collect()
    return len(_base_weights._kept)


def merge_and_unmerge(model: Any, pairs: int = 5) -> None:
    for _ in range(pairs):
        model.merge_adapter()
        model.unmerge_adapter()


@pytest.mark.parametrize("kind", ADAPTERS)
def test_kinds_of_adapters(patched, kind: str) -> None:
    for dtype in (torch.bfloat16, torch.float16, torch.float32):
        model = adapted(kind, dtype)
        before = state(model)
        model.merge_adapter()
        assert changes(before, model)
        model.unmerge_adapter()
        merge_and_unmerge(model)
        assert not changes(before, model)
        assert not kept()
        assert not any(getattr(layer, "_caches", None) for layer in layers(model))


@pytest.mark.parametrize("kind", ["lora", "dora", "attention", "loha"])
def test_without_the_patch(kind: str) -> None:
    model = adapted(kind)
    before = state(model)
    merge_and_unmerge(model)
    assert changes(before, model)


def test_merged_weights_are_as_before() -> None:
    merged = []
    for context in (warnings.catch_warnings(), patchkit.patched(only=PATCH, strict=True)):
        with context:
            model = adapted()
            model.merge_adapter()
            merged.append(state(model))
    assert all(is_same(tensor, merged[1][name]) for name, tensor in merged[0].items())


@pytest.mark.parametrize("options", [{}, {"bnb_4bit_use_double_quant": True}, {"bits": 8}], ids=str)
@pytest.mark.parametrize("use_dora", [False, True])
def test_quantized_bases(patched, saved, options: dict[str, Any], use_dora: bool) -> None:
    model = adapted_quantized(saved(**options), use_dora=use_dora)
    tokens = torch.arange(8).reshape(1, 8)
    before = state(model)
    base = layers(model)[0].base_layer
    weight, attributes = base.weight, dict(vars(base.weight))
    merge_and_unmerge(model)
    assert not changes(before, model)
    assert base.weight is weight
    assert vars(weight) == attributes
    assert getattr(base, "quant_state", None) is getattr(weight, "quant_state", None)
    assert not kept()
    if use_dora and "bits" in options:
        return  # on a CPU the second forward of such a layer fails, merged or not
    with torch.no_grad():
        expected = model(tokens).logits
        merge_and_unmerge(model)
        assert torch.equal(model(tokens).logits, expected)
        model.merge_adapter()
        model(tokens)  # which may pack the merged weights
        model.unmerge_adapter()
        assert torch.equal(model(tokens).logits, expected)


def test_quantized_base_without_the_patch(saved) -> None:
    model = adapted_quantized(saved())
    before = state(model)
    merge_and_unmerge(model)
    assert changes(before, model)


def test_with_the_patches_of_quantized_weights(saved) -> None:
    others = ["peft-merge-quant-state", "bitsandbytes-cpu-inference-packing"]
    tokens = torch.arange(8).reshape(1, 8)
    with patchkit.patched(only=[PATCH, *others]):
        model = adapted_quantized(saved()).eval()
        before = state(model)
        with torch.no_grad():
            expected = model(tokens).logits
            merge_and_unmerge(model)
            assert torch.equal(model(tokens).logits, expected)
        model.merge_adapter()
        assert layers(model)[0].base_layer.weight.quant_state.dtype == torch.bfloat16
        model.unmerge_adapter()
        assert not changes(before, model.train())


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("safe_merge", [True, False])
def test_several_adapters(patched, at_once: bool, safe_merge: bool) -> None:
    model = adapted("dora")
    model.add_adapter("other", peft.LoraConfig(**LORA, target_modules=["linear"]))
    before = state(model)
    names = [["default", "other"]] if at_once else [["default"], ["other"]]
    for _ in range(3):
        for chosen in names:
            model.merge_adapter(chosen, safe_merge=safe_merge)
        model.unmerge_adapter()
    assert not changes(before, model)
    assert not kept()


def test_adapters_that_a_layer_does_not_have(patched) -> None:
    model = adapted()
    model.add_adapter("other", peft.LoraConfig(**LORA, target_modules=["linear"]))
    model.merge_adapter(["other"])
    assert kept() == 1
    model.unmerge_adapter()


@pytest.mark.skipif(not hasattr(peft.tuners.lora.layer, "ParamWrapper"), reason="not in this PEFT")
def test_parameters(patched) -> None:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = torch.nn.Sequential(Experts()).bfloat16()
        config = peft.LoraConfig(**LORA, target_modules=[], target_parameters=["0.up", "0.down"])
        model = peft.get_peft_model(model, config)
    before = state(model)
    merge_and_unmerge(model)
    assert not changes(before, model)


def broken(model: Any, name: str = "default") -> Any:
    """Return a layer whose adapter is broken, with the model's other layers intact."""
    layer = model.base_model.model.linear
    with torch.no_grad():
        layer.lora_B[name].weight.fill_(torch.nan)
    return layer


def test_merge_that_raises(patched) -> None:
    model = adapted("dora")
    before = state(model)
    layer = broken(model)
    adapter = {name for name in before if "linear.lora_B" in name}
    with pytest.raises(ValueError, match="NaN"):
        model.merge_adapter(safe_merge=True)
    assert not layer.merged_adapters
    assert not layer._caches
    model.unmerge_adapter()
    assert set(changes(before, model)) == adapter


def changes_of_base(before: dict[str, torch.Tensor], model: Any) -> list[str]:
    """Leave out adapters: PEFT 0.17 casts theirs to and fro, and a NaN has many patterns."""
    return [name for name in changes(before, model) if "lora_" not in name]


def test_second_adapter_that_raises(patched) -> None:
    model = adapted("lora")
    model.add_adapter("other", peft.LoraConfig(**LORA, target_modules=["linear"]))
    layer = broken(model, "other")
    before = state(model)
    model.merge_adapter(["default"])
    merged = state(model)
    with pytest.raises(ValueError, match="NaN"):
        model.merge_adapter(["other"], safe_merge=True)
    assert layer.merged_adapters == ["default"]
    assert not changes_of_base(merged, model)
    model.unmerge_adapter()
    assert not changes_of_base(before, model)


@pytest.mark.parametrize("kind", ["loha", "ia3"])
def test_merge_of_another_method_that_raises(patched, kind: str) -> None:
    model = adapted(kind)
    layer = model.base_model.model.linear
    before = state(layer.base_layer)
    merge = layer.merge

    def merge_and_raise(**options: Any) -> None:
        merge(**options)
        raise MemoryError

    layer.merge = merge_and_raise
    with pytest.raises(MemoryError):
        model.merge_adapter()
    assert not layer.merged_adapters
    assert not changes(before, layer.base_layer)


def test_a_method_that_exchanges_modules(patched) -> None:
    """LN tuning puts its trained norm in the place of the base layer, and takes it back."""
    model = peft.get_peft_model(
        torch.nn.Sequential(torch.nn.LayerNorm(8)).bfloat16(),
        peft.LNTuningConfig(target_modules=["0"]),
    )
    randomize(model)
    layer = layers(model)[0]
    base, before = layer.base_layer, state(model)
    model.merge_adapter()
    assert layer.base_layer is not base
    assert not kept()
    model.unmerge_adapter()
    assert layer.base_layer is base
    assert not layer.merged_adapters
    assert not changes(before, model)


def test_merge_that_raises_half_way(patched) -> None:
    """A bias for a layer that has none: the weight is merged by then."""
    model = peft.get_peft_model(
        torch.nn.Sequential(torch.nn.Linear(8, 8, bias=False)).bfloat16(),
        peft.LoraConfig(**LORA, lora_bias=True, target_modules=["0"]),
    )
    before = state(model)
    with pytest.raises((AttributeError, RuntimeError)):
        model.merge_adapter()
    assert not changes(before, model)


def test_attention_trains_as_before() -> None:
    """PEFT merges and unmerges such a layer in each forward."""
    results = []
    for context in (warnings.catch_warnings(), patchkit.patched(only=PATCH, strict=True)):
        with context:
            model = adapted("attention")
            before = state(model)
            output = model(torch.arange(8).reshape(2, 4))
            output.float().pow(2).sum().backward()
            gradients = [p.grad.clone() for p in model.parameters() if p.grad is not None]
            results.append((output, gradients, changes(before, model)))
    (expected, without, changed), (output, gradients, unchanged) = results
    assert torch.equal(output, expected)
    assert all(map(torch.equal, gradients, without))
    assert len(gradients) == 4
    assert changed
    assert not unchanged


def test_disabled_adapters(patched) -> None:
    """A forward unmerges if adapters are disabled."""
    model = adapted()
    before = state(model)
    model.merge_adapter()
    with model.disable_adapter():
        model(torch.arange(4).reshape(1, 4))
    model.unmerge_adapter()
    assert not changes(before, model)


def test_merged_for_good_keeps_nothing(patched, monkeypatch: pytest.MonkeyPatch) -> None:
    from patchkit.patches.peft import _base_weights

    model = adapted()
    monkeypatch.setattr(_base_weights._Base, "of", None)
    merged = model.merge_and_unload()
    assert type(merged.linear) is torch.nn.Linear
    assert not kept()


@pytest.mark.parametrize(
    "change",
    [
        lambda weight: weight.detach().mul_(2),
        lambda weight: weight.data.add_(1),
        lambda weight: weight.data.copy_(weight.data.flip(0)),
        lambda weight: setattr(weight, "data", weight.data.float()),
        lambda weight: setattr(weight, "data", weight.data[:32].clone()),
    ],
    ids=["in place", "through data", "rows in another order", "dtype", "shape"],
)
def test_weights_changed_while_merged(patched, change: Callable[[torch.Tensor], Any]) -> None:
    """PEFT's subtraction keeps what the user has done."""

    def merge_and_change(model: Any) -> torch.Tensor:
        layer = model.base_model.model.linear
        layer.merge()
        change(layer.base_layer.weight)
        if layer.base_layer.weight.shape == (64, 64):
            layer.unmerge()
        return layer.base_layer.weight.data

    with patchkit.patched(exclude=PATCH):
        patchkit.revert(PATCH)
        expected = merge_and_change(adapted())
    model = adapted()
    with pytest.warns(UserWarning, match=CHANGED) if len(expected) == 64 else no_warning():
        assert is_same(merge_and_change(model), expected)


def no_warning() -> Any:
    return warnings.catch_warnings()


def test_state_loaded_while_merged(patched) -> None:
    model = adapted()
    before = state(model)
    model.merge_adapter()
    name = "base_model.model.linear.base_layer.weight"
    loaded = {name: before[name] + 1}
    model.load_state_dict(loaded, strict=False)
    with pytest.warns(UserWarning, match=CHANGED):
        model.unmerge_adapter()
    layer = model.base_model.model.linear
    assert is_same(
        layer.base_layer.weight, loaded[name] - layer.get_delta_weight("default").bfloat16()
    )
    assert changes(before, model) == [name]


def test_copies_of_a_merged_model(patched) -> None:
    model = adapted()
    before = state(model)
    model.merge_adapter()
    copied = copy.deepcopy(model)
    file = io.BytesIO()
    torch.save(model, file)
    with patchkit.patched(exclude=PATCH):
        unaware = io.BytesIO()
        torch.save(model, unaware)
    assert len(file.getvalue()) == len(unaware.getvalue())
    file.seek(0)
    loaded = torch.load(file, weights_only=False)
    model.unmerge_adapter()
    assert not changes(before, model)
    for other in (copied, loaded):
        other.unmerge_adapter()  # as PEFT does it: nothing was kept for them
        assert not any(layer.merged for layer in layers(other))


def test_what_is_kept_goes_with_the_layer(patched) -> None:
    model = adapted()
    model.merge_adapter()
    weight = weakref.ref(model.base_model.model.linear.base_layer)
    assert kept() == 3
    del model
    assert not kept()
    assert weight() is None


def test_reverted_while_merged() -> None:
    model = adapted()
    before = state(model)
    with patchkit.patched(only=PATCH, strict=True):
        model.merge_adapter()
    model.unmerge_adapter()
    assert not any(layer.merged for layer in layers(model))
    drifted = state(model)
    assert changes(before, model)
    with patchkit.patched(only=PATCH, strict=True):
        # What was kept before is no base of this merge.
        merge_and_unmerge(model, 1)
        assert not changes(drifted, model)
        assert not kept()


def test_merged_before_the_patch() -> None:
    model = adapted()
    model.merge_adapter()
    with patchkit.patched(only=PATCH, strict=True):
        model.unmerge_adapter()
        assert not kept()
    assert not any(layer.merged for layer in layers(model))


def test_memory(patched) -> None:
    """A copy takes what the merged weights take, and nothing once they are unmerged."""
    from patchkit.patches.peft import _base_weights

    model = adapted()
    model.merge_adapter()
    copies = [weight.data for base in _base_weights._kept.values() for weight in base.weights]
    bases = [layer.base_layer for layer in layers(model)]
    weights = [parameter for base in bases for parameter in base.parameters()]
    assert sum(copy.nbytes for copy in copies) == sum(weight.nbytes for weight in weights)
    model.unmerge_adapter()
    assert not kept()


def test_weights_sent_by_trl(patched) -> None:
    """The weights that TRL sends to vLLM are merged; the model's own are as before."""
    generation = pytest.importorskip("trl.generation.vllm_generation").VLLMGeneration
    if not hasattr(generation, "_iter_named_params"):
        pytest.skip("another TRL")
    from accelerate import Accelerator
    from trl.distributed import DistributedBackend

    model = adapted()
    before = state(model)
    sender = object.__new__(generation)
    sender.model, sender._dist = model, DistributedBackend(Accelerator(cpu=True))
    for _ in range(10):
        sent = {name: tensor.clone() for name, tensor in sender._iter_named_params()}
        assert not changes(before, model)
    assert not is_same(sent["linear.weight"], before["base_model.model.linear.base_layer.weight"])


@pytest.mark.parametrize("choice", ["exact", "exact-cpu", "upstream"])
def test_choices(choice: str) -> None:
    model = adapted()
    before = state(model)
    with patchkit.patched(only=PATCH, unmerge=choice):
        model.merge_adapter()
        assert kept() == (0 if choice == "upstream" else 3)
        model.unmerge_adapter()
    assert bool(changes(before, model)) == (choice == "upstream")


def test_sharded_weights_are_left_to_upstream(patched, monkeypatch) -> None:
    monkeypatch.setenv("ACCELERATE_USE_FSDP", "true")
    model = adapted()
    model.merge_adapter()
    assert not kept()
    monkeypatch.delenv("ACCELERATE_USE_FSDP")
    model.unmerge_adapter()
    model.base_model.model.linear.base_layer.weight.ds_id = 1
    model.merge_adapter()
    assert kept() == 2


def test_offloaded_weights_are_left_to_upstream(patched) -> None:
    from accelerate import cpu_offload

    model = adapted(target_modules=["linear"])
    cpu_offload(model, torch.device("cpu"))
    model.merge_adapter()
    assert not kept()
    model.unmerge_adapter()


def test_exact_revert() -> None:
    layer = peft.tuners.lora.layer.Linear
    before = layer.merge.__code__, layer.unmerge.__code__
    with patchkit.patched(only=PATCH, strict=True):
        assert layer.merge.__code__ is not before[0]
    assert (layer.merge.__code__, layer.unmerge.__code__) == before
