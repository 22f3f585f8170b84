"""`merge_adapter()` and then `unmerge_adapter()` do not give the base weights back.

A training with adapters that generates with vLLM merges them before each transfer of weights, and
unmerges them after it. Merging rounds the sum to the dtype of the base, and unmerging subtracts
from the rounded sum: part of a bfloat16 base is another one after the first pair, and the errors
add up from pair to pair. In 4-bit and 8-bit each half of a pair quantizes anew. Nothing is said,
the adapters go on to train on a base that moves, and what is saved does not fit the base that it
was trained from. An `nn.MultiheadAttention` with LoRA merges and unmerges in every forward.

A merge that raises, such as one with `safe_merge=True`, may leave the layer half merged, too.

Fix: a merge keeps the base weights of the layer, and the unmerge puts them back, bit for bit,
unless they were changed in between. A merge that raises leaves the layer as it was. Layers of LoRA
do so by themselves; those of other methods where the model merges and unmerges all of its layers.
`merge_and_unload()` keeps nothing.

Why: TRL merges whole models, but Diffusers merges single layers, a forward with disabled adapters
unmerges its own layer, and `MultiheadAttention` merges in each forward. Each kind of layer has its
own `merge` and `unmerge`; editing all 85 functions made the import of TRL's SFT trainer a fifth
longer. So the layers of LoRA are edited. Layers of other methods are restored when the model
unmerges them; one that is unmerged alone subtracts. The loop of a merge runs over a generator: if
an error ends the loop, Python closes the generator, which restores the layer.

A plain layer keeps a copy of its weight, since PEFT adds in place and others may hold that storage.
PEFT replaces a quantized parameter, so the old one is kept, with its attributes and the state of
its layer. Copies are in a weak dictionary and not on the layer, so no saved file grows and no
pickle needs patchkit.

Restoring a copy must not lose what somebody wrote to the weights in between. Version counters miss
writes through `.data`, which PEFT itself uses. So integer sums of the bits, along rows and columns,
are compared; they are the same on all devices and cost one pass over the weights. If they differ,
the adapters are subtracted, with a warning.
"""

import ast
from collections.abc import Iterator
from typing import Any

from patchkit.authoring import (
    Edit,
    Patch,
    Pattern,
    Rewrite,
    Rule,
    helper,
    insert_after,
    replace,
    span,
)

from ._base_weights import UNMERGE

CHOOSES = Pattern("N = check_adapters_to_merge(S, A)")
APPENDS = Pattern("S.merged_adapters.append(N)")
IS_LEFT = Pattern("len(S.merged_adapters) > 0")
HELPERS = f"{__package__}._base_weights"


def merging_loops(function: ast.FunctionDef) -> list[ast.For]:
    """Return the loops over the adapters that were chosen, or over what was made of each."""
    chosen = {CHOOSES.holes(node)["N"] for node in filter(CHOOSES, function.body)}
    loops = []
    for loop in function.body:
        match loop:
            case ast.For(iter=ast.Name(id=name)) if name in chosen and APPENDS.within(loop):
                loops.append(loop)
            case ast.For(iter=ast.Call(func=ast.Attribute(attr="items"))) if APPENDS.within(loop):
                loops.append(loop)
    return loops


def is_left_early(loop: ast.For) -> bool:
    return any(isinstance(node, (ast.Return, ast.Break)) for node in ast.walk(loop))


def merges(node: ast.AST) -> bool:
    match node:
        case ast.FunctionDef(name="merge", args=ast.arguments(args=[_, *_])):
            loops = merging_loops(node)
            return len(loops) == 1 and not is_left_early(loops[0]) and not keeps_its_own(node)
    return False


def keeps_its_own(function: ast.FunctionDef) -> bool:
    """Tell whether a layer has a copy of its base weight anyway."""
    attributes = (node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute))
    return any(name.endswith("_base_weight_before_merge") for name in attributes)


def keep_base(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.FunctionDef)
    (loop,) = merging_loops(node)
    start, _ = span(loop.iter)
    layer = node.args.args[0].arg
    keep = helper(f"{HELPERS}:keep_base")
    return [Edit(start, start, f"{keep}({layer}, "), insert_after(loop.iter, ")")]


def unmerges(node: ast.AST) -> bool:
    match node:
        case ast.While(test=test):
            return IS_LEFT(test)
    return False


def put_back(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.While)
    layer = IS_LEFT.holes(node.test)["S"]
    return [replace(node.test, helper(f"{HELPERS}:has_to_subtract") + f"({layer})")]


def calls_of_layers(function: ast.FunctionDef) -> Iterator[ast.Attribute]:
    """Yield `layer.merge` and `layer.unmerge` where they are called."""
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(), attr="merge" | "unmerge") as method):
                yield method


def merges_layers(node: ast.AST) -> bool:
    match node:
        case ast.FunctionDef(name="merge_adapter"):
            return any(True for _ in calls_of_layers(node))
    return False


def unmerges_layers(node: ast.AST) -> bool:
    match node:
        case ast.FunctionDef(name="unmerge_adapter"):
            return any(True for _ in calls_of_layers(node))
    return False


def keep_for_layers(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.FunctionDef)
    return [
        replace(method, helper(f"{HELPERS}:{method.attr}_of") + f"({ast.unparse(method.value)})")
        for method in calls_of_layers(node)
    ]


def merged_layers(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """Yield the expressions of layers that are merged."""
    for node in ast.walk(function):
        match node:
            case ast.Call(
                func=ast.Attribute(attr="merge", value=ast.Name() | ast.Attribute() as layer)
            ):
                yield layer


def unloads(node: ast.AST) -> bool:
    match node:
        case ast.FunctionDef(name=name) if "unload_and_optionally_merge" in name:
            return any(merged_layers(node))
    return False


def keep_nothing(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.FunctionDef)
    keep = helper(f"{HELPERS}:for_good")
    return [replace(layer, f"{keep}({ast.unparse(layer)})") for layer in merged_layers(node)]


MERGE = Rule(merges, keep_base, names=("merged_adapters", "append"))
UNMERGES = Rule(unmerges, put_back, names=("merged_adapters", "len"))
UNLOAD = Rule(unloads, keep_nothing, names=("merge",))
MERGE_ALL = Rule(merges_layers, keep_for_layers, names=("modules", "merge"))
UNMERGE_ALL = Rule(unmerges_layers, keep_for_layers, names=("modules", "unmerge"))

# Quantized layers exist only where their library does.
LAYERS = {
    "Linear": "",
    "Embedding": "",
    "_ConvNd": "",
    "MultiheadAttention": "",
    "ParamWrapper": ">=0.17",
}

# Each rewritten function costs the import of PEFT milliseconds, and other methods have dozens.
LORA = "peft.tuners.lora"
MODEL = "peft.tuners.tuners_utils:BaseTuner"

PATCH = Patch(
    id="peft-exact-unmerge",
    title="Unmerging adapters gives the base weights back, bit for bit",
    affects={"peft": ">=0.15"},
    changes=(
        *(
            Rewrite(f"{LORA}.layer:{layer}.{method}", rule, affects=versions)
            for layer, versions in LAYERS.items()
            for method, rule in (("merge", MERGE), ("unmerge", UNMERGES))
        ),
        *(
            Rewrite(f"{LORA}.{module}:*.{method}", rule)
            for module in ("bnb", "tp_layer")
            for method, rule in (("merge", MERGE), ("unmerge", UNMERGES))
        ),
        Rewrite(f"{MODEL}.merge_adapter", MERGE_ALL),
        Rewrite(f"{MODEL}.unmerge_adapter", UNMERGE_ALL),
        Rewrite("peft.tuners.*.model:*.unmerge_adapter", UNMERGE_ALL),
        # Only these merge a layer of LoRA.
        Rewrite(f"{LORA}.model:*._unload_and_optionally_merge", UNLOAD),
        Rewrite("peft.tuners.mixed.model:*._unload_and_optionally_merge", UNLOAD),
        Rewrite("peft.tuners.tuners_utils:*._unload_and_optionally_merge", UNLOAD),
        Rewrite(f"{LORA}.layer:*.unload_and_optionally_merge_module", UNLOAD),
    ),
    # Layers of other methods, which their models keep, and of other quantizers, which subtract.
    harmless={
        "peft.tuners.[!l]*:*.*": "",
        "peft.tuners.l[!o]*:*.*": "",
        "peft.tuners.lo[!r]*:*.*": "",
        "peft.tuners.lora.hqq:*.*": "",
        "peft.tuners.lora.torchao:*.*": "",
        "peft.utils.other:*.*": "",
    },
    upstream=(
        "https://github.com/huggingface/trl/issues/6688",
        "https://github.com/huggingface/trl/issues/3466",
        "https://github.com/huggingface/peft/pull/3706",
    ),
    symptom="base weights are other ones|the failed merge left",
    caution="While adapters are merged, base weights that are not quantized take twice their "
    'memory, and 4-bit and 8-bit ones that of the old and the new. `apply(unmerge="exact-cpu")` '
    'keeps the copies in the memory of the CPU, and `unmerge="upstream"` keeps none. '
    "`merge_and_unload()` keeps none either. Sharded and offloaded weights are unmerged as before.",
    settings=(UNMERGE,),
)


def reproduce() -> None:
    """Merge and unmerge a bfloat16 layer and a 4-bit one; merge a broken adapter."""
    import importlib.util
    import warnings

    import torch

    layers = {"bfloat16": torch.nn.Linear(64, 64).bfloat16()}
    if importlib.util.find_spec("bitsandbytes"):
        from bitsandbytes.nn import Linear4bit

        layers["4-bit"] = Linear4bit(64, 64, quant_type="nf4").to("cpu")
    for kind, layer in layers.items():
        model = _with_adapter(layer)
        before = layer.weight.data.clone()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(10):
                model.merge_adapter()
                model.unmerge_adapter()
        changed = (layer.weight.data != before).float().mean().item()
        assert not changed, (
            f"{changed:.0%} of the {kind} base weights are other ones than before the pairs"
        )

    layer = torch.nn.Linear(64, 64, bias=False)
    model = _with_adapter(layer, lora_bias=True)
    before = layer.weight.data.clone()
    try:
        model.merge_adapter()
    except (AttributeError, RuntimeError):  # there is no bias to add to
        assert torch.equal(layer.weight, before), "the failed merge left its weights in the base"


def _with_adapter(layer: Any, **options: Any) -> Any:
    import peft
    import torch

    torch.manual_seed(0)
    config = peft.LoraConfig(r=4, target_modules=["0"], init_lora_weights=False, **options)
    model = torch.nn.Sequential(layer)
    model.is_loaded_in_4bit = hasattr(layer, "quant_state")
    return peft.get_peft_model(model, config)
