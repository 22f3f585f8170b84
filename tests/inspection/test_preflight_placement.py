"""Adapters beside their base, and FSDP's groups: what is found is what torch refuses."""

from __future__ import annotations

import copy
import datetime
import inspect
import re
from collections.abc import Iterator

import pytest

from patchkit.inspection.findings import Severity

from .conftest import assert_explained


@pytest.mark.parametrize("part", ["base_layer", "lora_A"])
def test_adapters_elsewhere(make, look, part: str) -> None:
    """The meta device stands in for a GPU."""
    model = make.lora("bfloat16")
    layer = model.base_model.model.model.layers[1].self_attn.v_proj
    assert "adapters-elsewhere" not in look(model, make.args("bf16"))
    getattr(layer, part).to("meta")
    error = look(model, make.args("bf16"))["adapters-elsewhere"]
    assert error.severity is Severity.ERROR
    assert "layers.1.self_attn.v_proj.lora_A" in error.found
    assert "layers.0" not in error.found
    assert not error.fixable  # nothing can be moved from or to the meta device


def test_all_in_one_place(make, look) -> None:
    assert "adapters-elsewhere" not in look(make.lora("bfloat16").to("meta"), make.args("bf16"))


def test_layers_in_several_places(make, look) -> None:
    """As `device_map` spreads them: each adapter beside its own base."""
    model = make.lora("bfloat16")
    model.base_model.model.model.layers[1].to("meta")
    assert "adapters-elsewhere" not in look(model, make.args("bf16"))


def test_offloaded_layers_are_brought_in_by_their_hook(make, look) -> None:
    from accelerate.hooks import AlignDevicesHook, add_hook_to_module

    model = make.lora("bfloat16")
    layer = model.base_model.model.model.layers[0].self_attn.q_proj
    weights = {"weight": layer.base_layer.weight.detach()}
    hook = AlignDevicesHook(execution_device="cpu", offload=True, weights_map=weights)
    add_hook_to_module(layer.base_layer, hook)
    assert layer.base_layer.weight.device.type == "meta"
    assert "adapters-elsewhere" not in look(model, make.args("bf16"))


@pytest.fixture
def one_process() -> Iterator[None]:
    import torch.distributed as dist

    dist.init_process_group(
        "gloo", store=dist.HashStore(), rank=0, world_size=1, timeout=datetime.timedelta(seconds=60)
    )
    yield
    dist.destroy_process_group()


def frozen_norms_in_float32(model):
    for name, parameter in model.named_parameters():
        if "layernorm" in name:
            parameter.data = parameter.data.float()
    return model


def first_block_in_float32(model):
    model.model.layers[0].float()
    return model


def storage(make, dtype: str):
    import peft
    import torch
    import transformers

    from patchkit.lab import tiny

    config = transformers.BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_compute_dtype=torch.bfloat16,
        bnb_4bit_quant_storage=getattr(torch, dtype),
    )
    model = transformers.AutoModelForCausalLM.from_pretrained(
        tiny.build_causal_lm(make.folder / "model"),
        torch_dtype="bfloat16",
        quantization_config=config,
    )
    lora = peft.LoraConfig(r=2, target_modules=["q_proj"], task_type="CAUSAL_LM")
    return peft.get_peft_model(model, lora)


FSDP1 = {
    "LoRA, its float32 leaves apart": (lambda m: m.lora("bfloat16"), False),
    "one dtype": (lambda m: m.model("float32"), False),
    "one dtype in each block": (lambda m: first_block_in_float32(m.model("bfloat16")), False),
    "float32 norms in a block": (lambda m: frozen_norms_in_float32(m.lora("bfloat16")), True),
    "trained rows in the root": (
        lambda m: m.lora("bfloat16", trainable_token_indices=[3, 4]),
        True,
    ),
    "QLoRA, packed in bfloat16": (lambda m: storage(m, "bfloat16"), False),
    "QLoRA, packed in bytes": (lambda m: storage(m, "uint8"), True),
}


@pytest.mark.parametrize("case", FSDP1)
def test_fsdp1(make, look, monkeypatch, one_process, case: str) -> None:
    import torch
    from peft.utils.other import fsdp_auto_wrap_policy
    from torch.distributed.fsdp import FullyShardedDataParallel
    from torch.distributed.fsdp.wrap import ModuleWrapPolicy

    build, expected = FSDP1[case]
    model, args = build(make), make.args("bf16", learning_rate=1e-2)
    assert "mixed-dtypes-under-fsdp" not in look(model, args)
    monkeypatch.setenv("ACCELERATE_USE_FSDP", "true")
    findings = look(model, args)
    assert findings.ids == (["mixed-dtypes-under-fsdp"] if expected else [])
    if hasattr(model, "peft_config"):
        policy = fsdp_auto_wrap_policy(model)
    else:
        policy = ModuleWrapPolicy({type(model.model.layers[0])})
    try:
        FullyShardedDataParallel(
            model, auto_wrap_policy=policy, use_orig_params=True, device_id=torch.device("cpu")
        )
        raised = ""
    except ValueError as error:
        raised = str(error)
    assert bool(raised) is expected, raised
    if expected:
        assert raised.startswith(("Must flatten tensors with uniform dtype", "Cannot flatten int"))


def test_packed_weights_are_not_what_their_storage_says(make, look) -> None:
    import torch

    import patchkit

    model = storage(make, "bfloat16")
    patchkit.thread_dtype(model, torch.float16)
    assert any(parameter.dtype == torch.bfloat16 for parameter in model.parameters())
    assert not look(model, make.args("fp16")).ids


def half_of_the_adapters_in_bfloat16(model):
    import torch

    for name, parameter in model.named_parameters():
        if "lora_A" in name:
            parameter.data = parameter.data.to(torch.bfloat16)
    return model


FSDP2 = {
    "adapters of two dtypes": (
        lambda m: half_of_the_adapters_in_bfloat16(m.lora("bfloat16")),
        "",
        True,
    ),
    "adapters of two dtypes, 4-bit": (
        lambda m: half_of_the_adapters_in_bfloat16(storage(m, "bfloat16")),
        "bf16",
        True,
    ),
    "Accelerate makes them float32": (
        lambda m: half_of_the_adapters_in_bfloat16(m.lora("bfloat16")),
        "bf16",
        False,
    ),
    "one dtype": (lambda m: m.lora("bfloat16"), "", False),
}


@pytest.mark.parametrize("case", FSDP2)
def test_fsdp2(make, look, monkeypatch, one_process, case: str) -> None:
    import torch
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    build, precision, expected = FSDP2[case]
    model, args = build(make), make.args(precision, learning_rate=1e-2)
    monkeypatch.setenv("ACCELERATE_USE_FSDP", "true")
    monkeypatch.setenv("FSDP_VERSION", "2")
    findings = look(model, args)
    assert ("mixed-dtypes-under-fsdp" in findings) is expected
    if precision:
        return  # what Accelerate does before is not done here
    mesh = init_device_mesh("cpu", (1,))
    for layer in model.base_model.model.model.layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    ids = torch.arange(4, 8)[None]
    try:
        model(input_ids=ids)
        raised = ""
    except AssertionError as error:
        raised = str(error)
    assert ("FSDP expects uniform original parameter dtype" in raised) is expected, raised


def phimoe():
    import transformers

    size = {"vocab_size": 64, "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 2, "num_local_experts": 2}
    ids = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    return transformers.PhimoeForCausalLM(transformers.PhimoeConfig(**size, **heads, **ids))


def deepseek_v4():
    import transformers

    if not hasattr(transformers, "DeepseekV4Config"):
        pytest.skip("this Transformers has no DeepSeek V4")
    size = {"vocab_size": 64, "hidden_size": 32, "num_attention_heads": 4, "head_dim": 64}
    inner = {"q_lora_rank": 16, "o_lora_rank": 16, "o_groups": 8, "n_routed_experts": 4}
    layers = {"num_hidden_layers": 1, "layer_types": ["sliding_attention"]}
    rest = {"mlp_layer_types": ["moe"], "moe_intermediate_size": 32, "num_experts_per_tok": 2}
    config = transformers.DeepseekV4Config(**size, **inner, **layers, **rest)
    return transformers.DeepseekV4ForCausalLM(config)


def falcon():
    """Its Linear is one of its own, too, and returns a tensor."""
    import transformers

    size = {"vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    return transformers.FalconForCausalLM(transformers.FalconConfig(**size))


@pytest.mark.parametrize(
    ("build", "exclude", "raised"),
    [
        (phimoe, None, "'tuple' object has no attribute 'dtype'"),
        (phimoe, r".*\.router", ""),
        (deepseek_v4, None, "The size of tensor a (16) must match the size of tensor b (128)"),
        (deepseek_v4, r".*\.o_a_proj", ""),
        (falcon, None, ""),
    ],
)
def test_adapters_on_a_router(look, make, build, exclude: str | None, raised: str) -> None:
    import peft
    import torch

    model = build()
    own = any(type(part).__name__.endswith(("Router", "GroupedLinear")) for part in model.modules())
    if raised and not own:
        pytest.skip("this Transformers has a plain Linear there")
    given = {"r": 2, "target_modules": "all-linear", "task_type": "CAUSAL_LM"}
    model = peft.get_peft_model(model, peft.LoraConfig(**given, exclude_modules=exclude))
    findings = look(model, make.args("bf16"))
    assert ("adapter-on-router" in findings) is bool(raised)
    ids = torch.arange(4, 12)[None]
    if not raised:
        assert model(input_ids=ids).logits is not None
        return
    with pytest.raises((AttributeError, RuntimeError), match=re.escape(raised)) as error:
        model(input_ids=ids)
    assert_explained(error.value, "adapter-on-router")
    assert ".*\\." in findings["adapter-on-router"].change


@pytest.mark.parametrize("saved", [None, ["normalization"]])
def test_statistics_of_batch_norms_beside_adapters(look, make, tmp_path, saved) -> None:
    import peft
    import torch
    import transformers

    sizes = {"embedding_size": 8, "hidden_sizes": [8, 8], "depths": [1, 1]}
    base = transformers.ResNetForImageClassification(transformers.ResNetConfig(**sizes))
    pixels = torch.rand(2, 3, 32, 32)
    given = peft.LoraConfig(r=2, target_modules=["convolution"], modules_to_save=saved)
    model = peft.get_peft_model(copy.deepcopy(base), given)
    findings = look(model, make.args("bf16"))
    assert ("statistics-not-saved" in findings) is (saved is None)
    model.train()(pixels)
    model.save_pretrained(tmp_path)
    again = peft.PeftModel.from_pretrained(copy.deepcopy(base), tmp_path)
    with torch.no_grad():
        same = torch.allclose(model.eval()(pixels).logits, again.eval()(pixels).logits, atol=1e-5)
    assert same is (saved is not None)
    if saved is None:
        assert 'modules_to_save=["normalization"]' in findings["statistics-not-saved"].change


def test_statistics_are_named_so_that_peft_copies_the_norms_alone(look, make) -> None:
    """PEFT takes all layers whose name ends so: `1` would be `fc1` and blocks, too."""
    import peft
    import torch

    def block() -> torch.nn.Sequential:
        return torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4))

    model = torch.nn.ModuleDict(
        {"embed": block(), "fc1": torch.nn.Linear(4, 4), "head": torch.nn.Linear(4, 4)}
    )
    given = peft.LoraConfig(r=2, target_modules=["fc1"], modules_to_save=["head"])
    finding = look(peft.get_peft_model(model, given), make.args("bf16"))["statistics-not-saved"]
    assert finding.change == 'LoraConfig(…, modules_to_save=["embed.1", "head"])'


def test_statistics_without_adapters(look, make) -> None:
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4))
    assert "statistics-not-saved" not in look(model, make.args("bf16"))


DEVICE_MAPS = {
    "spread, several processes": ("none", {"model": 0, "lm_head": 1}, "MULTI_GPU", True),
    "spread, one process": ("none", {"model": 0, "lm_head": 1}, "NO", False),
    "another GPU": ("4bit", {"": 0}, "MULTI_GPU", True),
    "its own GPU": ("4bit", {"": 1}, "MULTI_GPU", False),
    "on the disk": ("4bit", {"model": 1, "lm_head": "disk"}, "NO", True),
}


@pytest.mark.parametrize("case", DEVICE_MAPS)
def test_device_maps(make, look, monkeypatch, case: str) -> None:
    """Accelerate's own refusal, on a second GPU that is described."""
    import torch
    from accelerate import Accelerator
    from accelerate.utils import DistributedType

    quantization, device_map, kind, doomed = DEVICE_MAPS[case]
    model = make.lora("float32", quantization).get_base_model()
    model.hf_device_map = device_map
    accelerator = Accelerator(cpu=True)
    monkeypatch.setattr(Accelerator, "distributed_type", DistributedType[kind])
    monkeypatch.setattr(Accelerator, "device", torch.device("cuda", 1))
    findings = look(model, accelerator)
    assert ("device-map-refused" in findings) is doomed
    if not doomed:
        return
    of_a_number = "torch.device(current_device_index)" in inspect.getsource(
        accelerator.prepare_model
    )
    if case == "another GPU" and of_a_number and not torch.accelerator.is_available():
        return  # Accelerate before 1.13 makes a device of the number, which needs a GPU.
    with pytest.raises(ValueError, match="You can't train a model") as refused:
        accelerator.prepare_model(model)
    assert str(refused.value)[:90] in findings["device-map-refused"].why
    assert_explained(refused.value, "device-map-refused")


@pytest.mark.parametrize("use_orig_params", [True, False])
@pytest.mark.parametrize("trained", ["adapters", "norms", "all"])
def test_partly_trained_under_fsdp(
    make, monkeypatch, one_process, use_orig_params: bool, trained: str
) -> None:
    import torch
    from accelerate.utils import FullyShardedDataParallelPlugin
    from peft.utils.other import fsdp_auto_wrap_policy
    from torch.distributed.fsdp import FullyShardedDataParallel
    from torch.distributed.fsdp.wrap import ModuleWrapPolicy

    from patchkit.inspection.checks.placement import partly_trained_under_fsdp
    from patchkit.inspection.facts import TrainingFacts, gather
    from patchkit.inspection.subject import subject

    model = make.lora("float32") if trained == "adapters" else make.model("float32")
    if trained == "norms":
        for name, parameter in model.named_parameters():
            parameter.requires_grad = "layernorm" in name
    monkeypatch.setenv("ACCELERATE_USE_FSDP", "true")
    seen = gather(subject(model, make.args("", learning_rate=1e-2), None))
    plugin = FullyShardedDataParallelPlugin(use_orig_params=use_orig_params)
    state = type("State", (), {"fsdp_plugin": plugin})
    held = type("Held", (), {"state": state})
    parts = type(seen.subject)(model, seen.subject.args, held, None)
    finding = partly_trained_under_fsdp(
        TrainingFacts(parts, seen.anatomy, seen.hardware, engine="fsdp1")
    )
    if trained == "adapters":
        policy = fsdp_auto_wrap_policy(model)
    else:
        policy = ModuleWrapPolicy({type(model.model.layers[0])})
    doomed = trained == "norms" and not use_orig_params
    assert (finding is not None) is doomed, finding
    given = {"auto_wrap_policy": policy, "use_orig_params": use_orig_params}
    if not doomed:
        FullyShardedDataParallel(model, **given, device_id=torch.device("cpu"))
        return
    assert finding is not None
    said = "FSDP does not support wrapping such modules when use_orig_params=False"
    with pytest.raises(ValueError, match=said) as refused:
        FullyShardedDataParallel(model, **given, device_id=torch.device("cpu"))
    assert said in finding.why
    assert_explained(refused.value, finding.id)


@pytest.mark.parametrize("fused", [True, False])
def test_fused_step_under_fsdp(make, one_process, fused: bool) -> None:
    import torch
    from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler

    from patchkit.inspection.checks.gradients import fused_step_under_fsdp
    from patchkit.inspection.facts import TrainingFacts, gather
    from patchkit.inspection.subject import subject

    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.AdamW(model.parameters(), fused=fused)
    seen = gather(subject(model, None, optimizer))
    finding = fused_step_under_fsdp(
        TrainingFacts(
            seen.subject, seen.anatomy, seen.hardware, engine="fsdp1", mixed_precision="float16"
        )
    )
    assert (finding is not None) is fused
    scaler = ShardedGradScaler("cpu")
    scaler.scale(model(torch.ones(2, 4)).sum()).backward()
    scaler.unscale_(optimizer)
    if not fused:
        scaler.step(optimizer)
        return
    assert finding is not None
    with pytest.raises(RuntimeError, match="broadcast shape") as refused:
        scaler.step(optimizer)
    assert str(refused.value) in finding.why
    assert_explained(refused.value, finding.id)
