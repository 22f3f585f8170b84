"""What can be traced, compiled or run on the meta device without patchkit can be with it.

Each module is put through each tool before `apply()` and after it, made anew: what worked before
must work after, and come to the same. Nothing here meets a bug that a patch mends, but the last
tests.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

import patchkit
from patchkit.lab import quantized_adapters, shapes

pytest.importorskip("transformers")
peft = pytest.importorskip("peft")
bitsandbytes = pytest.importorskip("bitsandbytes")

pytestmark = pytest.mark.filterwarnings("ignore")


class Logits(nn.Module):
    """A model that takes tokens and gives one tensor."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens):
        asked = {"decoder_input_ids": tokens} if self.model.config.is_encoder_decoder else {}
        return self.model(tokens, use_cache=False, **asked)[0]


def numbers(*shape: int, dtype=torch.float32) -> torch.Tensor:
    return torch.linspace(-1, 1, torch.Size(shape).numel()).reshape(shape).to(dtype)


def norm(name: str, dtype=torch.float32, weight=None):
    """A norm, and an input of a dtype; its weight has the same, if none is said."""
    import importlib

    family = name.removesuffix("RMSNorm").removesuffix("LayerNorm").lower()
    module = importlib.import_module(f"transformers.models.{family}.modeling_{family}")
    layer = getattr(module, name)(16)
    nn.init.uniform_(layer.weight)
    return layer.to(weight or dtype), (numbers(2, 16, dtype=dtype),)


def head(name: str):
    import transformers
    from transformers.models.albert import modeling_albert
    from transformers.models.big_bird import modeling_big_bird
    from transformers.models.t5 import modeling_t5

    options: dict[str, Any] = {"num_labels": 3}
    if name == "AlbertSOPHead":
        config = transformers.AlbertConfig(hidden_size=16, classifier_dropout_prob=0.0, **options)
        return modeling_albert.AlbertSOPHead(config), (numbers(2, 16),)
    if name == "BigBirdForQuestionAnsweringHead":
        config = transformers.BigBirdConfig(hidden_size=16, intermediate_size=16, **options)
        return modeling_big_bird.BigBirdForQuestionAnsweringHead(config), (numbers(2, 3, 16),)
    config = transformers.T5Config(d_model=16, d_ff=24, dropout_rate=0.0)
    return getattr(modeling_t5, name)(config), (numbers(2, 16),)


def model(family: str, head: str | None = None, dtype=torch.float32, **options):
    return Logits(shapes.build(family, head, **options).to(dtype)), (shapes.words(),)


def lora(base: nn.Module, inputs: torch.Tensor, **options):
    config = peft.LoraConfig(r=2, target_modules=["0"], init_lora_weights=False, **options)
    return peft.get_peft_model(nn.Sequential(base), config), (inputs,)


def adapted(config: type, **options):
    """An adapter on the keys of a small quantized model, by itself."""
    whole = quantized_adapters.load(options.pop("quantization"))
    options = {"target_modules": ["k_proj"], "task_type": "CAUSAL_LM", **options}
    whole = peft.get_peft_model(whole, config(**options))
    layer = whole.base_model.model.model.layers[0].self_attn.k_proj
    size = layer.in_features
    return layer, (numbers(2, size, dtype=torch.bfloat16),)


def llama_with_lora(quantization: str | None = None):
    whole = quantized_adapters.load(quantization) if quantization else shapes.build("llama")
    config = peft.LoraConfig(
        r=2, target_modules=["q_proj", "v_proj"], init_lora_weights=False, task_type="CAUSAL_LM"
    )
    return Logits(peft.get_peft_model(whole, config)), (shapes.words(),)


def linear_4bit(dtype=torch.float32, **options):
    layer = bitsandbytes.nn.Linear4bit(
        64, 64, quant_type="nf4", **{"compute_dtype": dtype, **options}
    )
    return layer.to("cpu"), (numbers(2, 64, dtype=dtype),)


def linear_8bit(threshold: float = 0.0, dtype=torch.bfloat16, **options):
    layer = bitsandbytes.nn.Linear8bitLt(
        64, 64, has_fp16_weights=False, threshold=threshold, **options
    )
    return layer.to("cpu"), (numbers(2, 64, dtype=dtype),)


def trained_copy(dtype=torch.float32):
    base = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8)).to(dtype)
    config = peft.LoraConfig(r=2, target_modules=["0"], modules_to_save=["1"])
    return peft.get_peft_model(base, config), (numbers(2, 8, dtype=dtype),)


HALF = torch.bfloat16
NORMS = ("LlamaRMSNorm", "MistralRMSNorm", "Qwen2RMSNorm", "Qwen3RMSNorm", "T5LayerNorm")
HEADS = (
    "AlbertSOPHead",
    "BigBirdForQuestionAnsweringHead",
    "T5DenseActDense",
    "T5DenseGatedActDense",
)
MODULES: dict[str, Callable[[], tuple[nn.Module, tuple[torch.Tensor, ...]]]] = {
    **{name: functools.partial(norm, name) for name in NORMS},
    **{f"{name} in half precision": functools.partial(norm, name, HALF) for name in NORMS},
    "LlamaRMSNorm, half weight": lambda: norm("LlamaRMSNorm", weight=HALF),
    **{name: functools.partial(head, name) for name in HEADS},
    "Llama": lambda: model("llama"),
    "Llama in half precision": lambda: model("llama", dtype=HALF),
    "Llama that classifies": lambda: model("llama", "SequenceClassification"),
    "Llama that answers": lambda: model("llama", "QuestionAnswering"),
    "T5": lambda: model("t5"),
    "Llama with LoRA": llama_with_lora,
    "4-bit Llama with LoRA": lambda: llama_with_lora("4bit"),
    "LoRA on Linear": lambda: lora(nn.Linear(8, 8), numbers(2, 8)),
    "LoRA on half Linear": lambda: lora(nn.Linear(8, 8).to(HALF), numbers(2, 8, dtype=HALF)),
    "LoRA on Embedding": lambda: lora(nn.Embedding(8, 8), torch.arange(6).reshape(2, 3)),
    "LoRA on Conv1d": lambda: lora(nn.Conv1d(8, 8, 3), numbers(2, 8, 5)),
    "LoRA on Linear4bit": lambda: lora(*_inner(linear_4bit())),
    "LoRA on Linear8bitLt": lambda: lora(*_inner(linear_8bit())),
    "(IA)3 on Linear4bit": lambda: adapted(
        peft.IA3Config, quantization="4bit", feedforward_modules=[]
    ),
    "(IA)3 on Linear8bitLt": lambda: adapted(
        peft.IA3Config, quantization="8bit", feedforward_modules=[]
    ),
    "VeRA on Linear4bit": lambda: adapted(peft.VeraConfig, quantization="4bit"),
    "Linear4bit": linear_4bit,
    "Linear4bit in half precision": lambda: linear_4bit(HALF),
    "Linear4bit without bias": lambda: linear_4bit(bias=False),
    "Linear4bit without compute dtype": lambda: linear_4bit(bias=False, compute_dtype=None),
    "Linear8bitLt": linear_8bit,
    "Linear8bitLt without bias": lambda: linear_8bit(bias=False),
    "Linear8bitLt with a threshold": lambda: linear_8bit(6.0, torch.float16, bias=False),
    "modules_to_save": trained_copy,
    "modules_to_save in bfloat16": lambda: trained_copy(HALF),
    "modules_to_save in float16": lambda: trained_copy(torch.float16),
}


def _inner(made):
    layer, (inputs,) = made
    return layer, inputs


def script(module, inputs):
    return torch.jit.script(module)(*inputs)


def trace(module, inputs):
    return torch.jit.trace(module, inputs, check_trace=False)(*inputs)


def symbolic_trace(module, inputs):
    """What it computes, and the graph node by node."""
    traced = torch.fx.symbolic_trace(module)
    return traced(*inputs), str(traced.graph)


def meta(module, inputs):
    return module.to("meta")(*(tensor.to("meta") for tensor in inputs))


def export(module, inputs):
    return torch.export.export(module, inputs, strict=False).module()(*inputs)


def export_strictly(module, inputs):
    return torch.export.export(module, inputs, strict=True).module()(*inputs)


def compiled(module, inputs):
    return torch.compile(module, backend="eager", fullgraph=True)(*inputs)


def compiled_ahead_of_time(module, inputs):
    return torch.compile(module, backend="aot_eager", fullgraph=True)(*inputs)


def vmap(module, inputs):
    return torch.func.vmap(module)(*inputs)


def make_fx(module, inputs):
    from torch.fx.experimental.proxy_tensor import make_fx

    return make_fx(module)(*inputs)(*inputs)


def eager(module, inputs):
    return module(*inputs)


TOOLS = {
    tool.__name__: tool
    for tool in (
        eager,
        script,
        trace,
        symbolic_trace,
        meta,
        export,
        export_strictly,
        compiled,
        compiled_ahead_of_time,
        vmap,
        make_fx,
    )
}
# What is known to work without patchkit, so that the comparison compares something.
KNOWN_TO_WORK = {
    **{name: set(TOOLS) for name in (*NORMS, *HEADS)},
    "LlamaRMSNorm in half precision": set(TOOLS),
    "LlamaRMSNorm, half weight": set(TOOLS),
    **{
        name: {"eager", "trace", "meta", "export", "compiled", "compiled_ahead_of_time", "make_fx"}
        for name in ("Llama", "Llama in half precision", "Llama with LoRA", "T5")
    },
    "LoRA on Linear": set(TOOLS) - {"script"},
    "LoRA on half Linear": set(TOOLS) - {"script"},
    "modules_to_save": set(TOOLS) - {"script"},
    "modules_to_save in float16": set(TOOLS) - {"script"},
    "Linear4bit": {"eager", "trace", "export", "compiled", "compiled_ahead_of_time"},
    "Linear8bitLt": {"eager", "trace"},
}


def outcome(module: str, tool: str) -> Any:
    """What a tool makes of a fresh module, or the error that it raises."""
    torch.manual_seed(0)
    torch._dynamo.reset()
    made, inputs = MODULES[module]()
    made.eval()
    try:
        with torch.no_grad():
            return _comparable(TOOLS[tool](made, inputs))
    except Exception as error:
        return error


def _comparable(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        described = (value.dtype, value.shape)
        return described if value.is_meta else (*described, value.detach().float().tolist())
    return tuple(map(_comparable, value)) if isinstance(value, (tuple, list)) else value


Outcomes = dict[tuple[str, str], Any]


def all_outcomes() -> Outcomes:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {(module, tool): outcome(module, tool) for module in MODULES for tool in TOOLS}


@pytest.fixture(scope="module")
def before() -> Outcomes:
    return all_outcomes()


@pytest.fixture(scope="module")
def after(before: Outcomes) -> Outcomes:
    with patchkit.patched():
        return all_outcomes()


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("module", MODULES)
def test_what_worked_works_and_comes_to_the_same(
    module: str, tool: str, before: Outcomes, after: Outcomes
) -> None:
    expected, got = before[module, tool], after[module, tool]
    if isinstance(expected, Exception):
        assert tool not in KNOWN_TO_WORK.get(module, ()), expected
        pytest.skip(f"it does not without patchkit either: {type(expected).__name__}")
    if isinstance(got, Exception):
        raise got
    assert got == expected
