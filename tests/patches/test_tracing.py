"""What can be traced, compiled or run on the meta device without patchkit can be with it.

Each module is put through each tool before `apply()` and after it, made anew: what worked before
must work after, and come to the same. Nothing here meets a bug that a patch fixes, but the last
tests.
"""

from __future__ import annotations

import ast
import copy
import functools
import re
import textwrap
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import patchkit
from patchkit.catalogue import entries as catalogue
from patchkit.lab import quantized, shapes
from patchkit.patch import Rewrite

from .snippets import numbers

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


def model(family: str, head: str | None = None, dtype=torch.float32):
    # A second layer would be traced like the first, and take as long.
    layers = "num_layers" if family == "t5" else "num_hidden_layers"
    return Logits(shapes.build(family, head, **{layers: 1}).to(dtype)), (shapes.words(),)


def lora(base: nn.Module, inputs: torch.Tensor, **options):
    config = peft.LoraConfig(r=2, target_modules=["0"], init_lora_weights=False, **options)
    return peft.get_peft_model(nn.Sequential(base), config), (inputs,)


loaded = functools.cache(quantized.load_tiny)


def adapted(config: type, quantization: str, **options):
    """An adapter on the keys of a small quantized model, by itself."""
    options = {"target_modules": ["k_proj"], "task_type": "CAUSAL_LM", **options}
    whole = peft.get_peft_model(copy.deepcopy(loaded(quantization)), config(**options))
    layer = whole.base_model.model.model.layers[0].self_attn.k_proj
    return layer, (numbers(2, layer.in_features),)


def llama_with_lora(quantization: str | None = None):
    whole = copy.deepcopy(loaded(quantization)) if quantization else model("llama")[0].model
    whole.model.layers = whole.model.layers[:1]
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
NORMS = ("LlamaRMSNorm", "Qwen3RMSNorm", "T5LayerNorm")
HEADS = (
    "AlbertSOPHead",
    "BigBirdForQuestionAnsweringHead",
    "T5DenseActDense",
    "T5DenseGatedActDense",
)
MODULES: dict[str, Callable[[], tuple[nn.Module, tuple[torch.Tensor, ...]]]] = {
    **{name: functools.partial(norm, name) for name in NORMS},
    "LlamaRMSNorm in half precision": lambda: norm("LlamaRMSNorm", HALF),
    "T5LayerNorm in half precision": lambda: norm("T5LayerNorm", HALF),
    "LlamaRMSNorm, half weight": lambda: norm("LlamaRMSNorm", weight=HALF),
    **{name: functools.partial(head, name) for name in HEADS},
    "Llama in half precision": lambda: model("llama", dtype=HALF),
    "Llama that classifies": lambda: model("llama", "SequenceClassification"),
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
        compiled_ahead_of_time,
        compiled,
        vmap,
        make_fx,
    )
}
BY_DYNAMO = {"export_strictly", "compiled", "compiled_ahead_of_time"}
# Early releases of PyTorch compile none of the models in one graph.
COMPILED = BY_DYNAMO if torch.__version__ >= "2.13" else set()
# What is known to work without patchkit, so that the comparison compares something.
KNOWN_TO_WORK: dict[str, set[str]] = {
    **{name: set(TOOLS) for name in (*NORMS, *HEADS) if name != "T5LayerNorm"},
    "T5LayerNorm": set(TOOLS) - {"symbolic_trace"},
    "LlamaRMSNorm in half precision": set(TOOLS),
    "LlamaRMSNorm, half weight": set(TOOLS),
    **{name: {"eager", *COMPILED} for name in ("Llama in half precision", "Llama with LoRA", "T5")},
    **{
        name: set(TOOLS) - {"script", "symbolic_trace"} - BY_DYNAMO | COMPILED
        for name in ("LoRA on Linear", "LoRA on half Linear", "modules_to_save in float16")
    },
    "Linear4bit": {"eager", "trace", *COMPILED},
    "4-bit Llama with LoRA": {"eager", *COMPILED},
    "Linear8bitLt without bias": {"eager", *COMPILED},
}
# A 4-bit layer that packs itself for a CPU does so anew in each call of its exported program.
PACKED_AGAIN = {(name, "export_strictly") for name in MODULES if "4bit" in name or "4-bit" in name}
# One of each kind. Dynamo traces the others for `compiled_ahead_of_time`, in half the time.
EXPORTED_STRICTLY = {
    "LlamaRMSNorm",
    "T5DenseActDense",
    "Llama that classifies",
    "LoRA on Linear",
    "(IA)3 on Linear8bitLt",
    "Linear4bit",
    "Linear8bitLt without bias",
    "modules_to_save",
}
# The copies that are trained are float32 with patchkit, and round once less.
ROUNDED_OTHERWISE = {"modules_to_save in float16": 2e-3, "modules_to_save in bfloat16": 2e-2}


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
    """What is left when the module is gone."""
    if isinstance(value, tuple):
        return tuple(map(_comparable, value))
    return value.detach() if isinstance(value, torch.Tensor) else value


def assert_same(expected: Any, got: Any, tolerance: float = 0.0) -> None:
    if isinstance(expected, tuple):
        for value, other in zip(expected, got, strict=True):
            assert_same(value, other, tolerance)
    elif isinstance(expected, torch.Tensor) and not expected.is_meta:
        torch.testing.assert_close(got, expected, rtol=tolerance, atol=tolerance)
    elif isinstance(expected, torch.Tensor):
        assert got.is_meta
        assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    else:
        assert got == expected


def outcomes(module: str) -> dict[str, Any]:
    """What each tool makes of a module."""
    found: dict[str, Any] = {}
    for tool in TOOLS:
        # What is compiled ahead of time is compiled in the same way before.
        again = tool == "compiled" and not isinstance(found["compiled_ahead_of_time"], Exception)
        left_out = tool == "export_strictly" and module not in EXPORTED_STRICTLY
        if not (again or left_out):
            found[tool] = outcome(module, tool)
    return found


@pytest.mark.parametrize("module", MODULES)
def test_what_worked_works_and_comes_to_the_same(module: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = outcomes(module)
        working = {tool for tool, result in before.items() if not isinstance(result, Exception)}
        assert KNOWN_TO_WORK.get(module, set()) & before.keys() <= working, before
        with patchkit.patched():
            after = {tool: outcome(module, tool) for tool in working}
    for tool, got in after.items():
        expected = before[tool]
        assert not isinstance(got, Exception), (tool, got)
        if (module, tool) not in PACKED_AGAIN:
            assert_same(expected, got, tolerance=ROUNDED_OTHERWISE.get(module, 0.0))


MISMATCHED: dict[str, Callable[[], tuple[nn.Module, tuple[torch.Tensor, ...]]]] = {
    **{name: functools.partial(norm, name, HALF, torch.float32) for name in NORMS},
    "T5DenseActDense": lambda: (head("T5DenseActDense")[0].to(HALF), (numbers(2, 16),)),
    "AlbertSOPHead": lambda: (head("AlbertSOPHead")[0].to(HALF), (numbers(2, 16),)),
    "LoRA on half Linear": lambda: lora(nn.Linear(8, 8).to(HALF), numbers(2, 8)),
}


@pytest.mark.parametrize("module", MISMATCHED)
def test_a_meta_forward_comes_to_the_dtypes_of_a_real_one(module: str) -> None:
    with patchkit.patched():
        layer, inputs = MISMATCHED[module]()
        real = layer(*inputs)
        assert meta(layer, inputs).dtype == real.dtype == HALF


def test_a_head_outside_of_autocast_on_the_meta_device() -> None:
    from patchkit.patches.trl._lm_head import WithoutAutocast

    layer = nn.Linear(4, 4, device="meta")
    layer.forward = WithoutAutocast(layer.forward)
    assert layer(torch.ones(2, 4, device="meta")).is_meta


def rewritten_text(text: str, rule) -> str:
    from patchkit.rewrite import functions_in_file
    from patchkit.rewrite.edit import apply_edits

    (source,) = functions_in_file(text, "model.py")
    edits = [edit for site in rule.plan(source) for edit in site]
    assert edits
    return "".join(apply_edits(source.lines, edits))


def rewritten(text: str, rule) -> dict[str, Any]:
    """The names that a module of that text has after a rule."""
    names: dict[str, Any] = {"torch": torch, "nn": nn}
    exec(rewritten_text(text, rule), names)
    return names


@pytest.mark.parametrize("given", ["x", "torch.ones(2, 4)", "ones"])
def test_the_weight_is_a_proxy_where_the_input_is_none(given: str) -> None:
    """torch.fx hands out proxies for parameters too."""
    from patchkit.precision.input_rule import layer_input_rule

    text = (
        "class Model(nn.Module):\n"
        "    def forward(self, x):\n"
        f"        ones = torch.ones(2, 4); return self.score({given}) + x\n"
    )
    kind = rewritten(text, layer_input_rule("score"))["Model"]
    model = kind()
    model.score = nn.Linear(4, 4)
    traced = torch.fx.symbolic_trace(model)
    x = numbers(2, 4)
    assert torch.equal(traced(x), model(x))


@pytest.mark.parametrize(
    ("statement", "walrus"),
    [
        ("return self.score(outputs[0])", False),
        ("logits = self.score(outputs[0]).float() + 1; return logits", False),
        (
            "return self.score(\n            outputs[\n                0\n            ]\n        )",
            False,
        ),
        ("return self.score(outputs[0]) + self.score(outputs[1])", True),
        ("return 1 + self.score(outputs[0])", True),
        ("return self.score(outputs[0]) if outputs else 0", True),
    ],
)
def test_an_input_is_computed_once_and_in_its_turn(statement: str, walrus: bool) -> None:
    from patchkit.precision.input_rule import layer_input_rule

    class Noted(tuple):
        def __getitem__(self, index):
            order.append(index)
            return tuple.__getitem__(self, index)

    text = f"class Model(nn.Module):\n    def forward(self, outputs):\n        {statement}\n"
    results, orders = [], []
    names: dict[str, Any] = {"torch": torch, "nn": nn}
    exec(text, names)
    for kind in (names["Model"], rewritten(text, layer_input_rule("score"))["Model"]):
        torch.manual_seed(0)
        model, order = kind(), []
        model.score = nn.Linear(4, 4)
        results.append(model(Noted([numbers(2, 4), numbers(2, 4) + 1])))
        orders.append(order)
    assert torch.equal(*results)
    assert orders[0] == orders[1]
    assert (":=" in rewritten_text(text, layer_input_rule("score"))) is walrus


FORWARDS = ("transformers-norm-output-dtype", "transformers-lm-head-dtype")
# With its decorators, as far as the next line that is no deeper.
FORWARD = re.compile(r"(?m)^(?:    [@#].*\n)*    def forward\(.*\n(?:(?: {5}.*|    \).*)?\n)*")


def test_torchscript_parses_whatever_it_parsed() -> None:
    """All forwards of Transformers that are rewritten; nothing is imported."""
    taken, refused = 0, []
    for qualname, upstream, fixed in _rewritten_forwards():
        if _parses(upstream):
            taken += 1
            if not _parses(fixed):
                refused.append(qualname)
    assert refused == []
    assert taken > 20


def _rewritten_forwards():
    """The qualified name of each, its text, and its text with the edits of all patches.

    Each text is looked at once: most models have copies of the functions of others.
    """
    import transformers

    folder = Path(transformers.__file__).parent
    changes = [
        change
        for identifier in FORWARDS
        for change in catalogue.load().entries[identifier].patch.changes
        if isinstance(change, Rewrite)
    ]
    seen = set()
    for path in (*folder.glob("models/*/modeling_*.py"), folder / "modeling_layers.py"):
        module = ".".join(path.relative_to(folder.parent).with_suffix("").parts)
        due = [change for change in changes if _matches(change, module)]
        for text in FORWARD.findall(path.read_text(encoding="utf-8")):
            if (text, *due) not in seen:
                seen.add((text, *due))
                yield from _edited(f"class {path.stem}:\n{text}", due)


def _edited(text: str, due: list[Rewrite]):
    from patchkit.rewrite import functions_in_file
    from patchkit.rewrite.edit import apply_edits

    due = [change for change in due if all(name in text for name in change.rule.names)]
    for source in functions_in_file(text, "model.py") if due else ():
        edits = [
            edit
            for change in due
            if change.rule.may_concern(source.code)
            for site in change.rule.plan(source)
            for edit in site
        ]
        if edits:
            part = slice(source.first - 1, source.last)
            lines = source.lines[part], apply_edits(source.lines, edits)[part]
            yield source.qualname, *map("".join, lines)


def _matches(change: Rewrite, module: str) -> bool:
    import fnmatch

    return fnmatch.fnmatchcase(module, str(change.target).partition(":")[0])


def _parses(text: str) -> bool:
    from torch._sources import SourceContext
    from torch.jit.frontend import FrontendError, build_def

    text = textwrap.dedent(text)
    (function,) = ast.parse(text).body
    context = SourceContext(text, "modeling.py", 0, 0, True, "forward")
    try:
        build_def(context, function, None, "forward", self_name="Module")
    except FrontendError:
        return False
    return True
