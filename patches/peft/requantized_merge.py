"""RandLoRA, PVeRA and VeRA merged into a 4-bit base leave float32 numbers there.

After `merge_adapter()` or `merge_and_unload()` the weight is the float32 sum, in a `Params4bit`
that says that it is quantized. Whoever reads it next takes the sum for packed numbers. On a CPU the
next forward in evaluation raises `shape '[64, 64]' is invalid for input of size 32768`, with the
sizes of the layer, and `unmerge_adapter()` and the next merge raise much the same.

The new weight is made with all attributes of the old one, `bnb_quantized=True` among them, so
bitsandbytes does not quantize it. And before bitsandbytes accepted attributes of other libraries,
the merge itself raised for a model that Transformers 5 had loaded: `unexpected keyword argument
'_is_hf_initialized'`. PEFT fixed both in LoRA's layers, and the first in VeRA's from 0.20 on.

Fix: the new weight says that it is not quantized, and bitsandbytes quantizes it.

Why: `peft-merge-quant-state` edits the same statement, but not the same place: this patch changes
the attributes inside the call that makes the new weight, and the other wraps the call. Either works
without the other. The attributes are copied, because they belong to the old weight, which
`peft-exact-unmerge` puts back.
"""

import ast
from typing import Any

from patchkit.authoring import Edit, Patch, Rewrite, Rule, helper, replace


def old_attributes(node: ast.AST) -> ast.Name | None:
    """Return `kwargs` of `Params4bit(…, requires_grad=False, **kwargs)`, and None elsewhere."""
    match node:
        case ast.Call(
            func=ast.Attribute(attr="Params4bit"),
            args=[_],
            keywords=[
                ast.keyword(arg="requires_grad", value=ast.Constant(value=False)),
                ast.keyword(arg=None, value=ast.Name() as attributes),
            ],
        ):
            return attributes
    return None


def stays_unquantized(node: ast.AST) -> bool:
    return old_attributes(node) is not None


def quantize(node: ast.AST) -> list[Edit]:
    attributes = old_attributes(node)
    assert attributes is not None
    arguments = helper(f"{__package__}._requantized:to_be_quantized")
    return [replace(attributes, f"{arguments}({attributes.id})")]


RULE = Rule(stays_unquantized, quantize, names=("Params4bit",))

KNOWN = {"vera": "<0.20", "randlora": ">=0.16", "pvera": ">=0.19"}
METHODS = ("merge", "unmerge")

PATCH = Patch(
    id="peft-4bit-merge-requantized",
    title="RandLoRA, PVeRA and VeRA merged into a 4-bit base are quantized again",
    affects={"peft": ">=0.15", "bitsandbytes": ">=0.46.1"},
    changes=tuple(
        Rewrite(f"peft.tuners.{tuner}.bnb:Linear4bit.{method}", RULE, affects=versions)
        for tuner, versions in KNOWN.items()
        for method in METHODS
    ),
    upstream=(
        "https://github.com/huggingface/peft/pull/1370",
        "https://github.com/huggingface/peft/issues/2501",
    ),
    symptom="is invalid for input of size|CPU only supports uint8 storage, got torch.float32|"
    "to view Float as Byte|unexpected keyword argument '_is_hf_initialized'|"
    "not those of the merged layer",
    messages=(
        "is invalid for input of size",
        "Blockwise 4bit dequantization on CPU only supports uint8 storage, got torch.float32",
        "self.stride(-1) must be 1 to view Float as Byte (different element sizes), but got",
        "Params4bit.__new__() got an unexpected keyword argument '_is_hf_initialized'",
    ),
)


def reproduce() -> None:
    """Merge an adapter of each kind into a 4-bit layer, and run the layer."""
    import warnings

    import peft
    import torch

    for name in ("RandLoraConfig", "PveraConfig", "VeraConfig"):
        if not hasattr(peft, name):
            continue
        with torch.random.fork_rng(), warnings.catch_warnings():
            torch.manual_seed(0)
            warnings.simplefilter("ignore")
            model = _with_adapter(getattr(peft, name))
            expected = _merged_in_float32(model.base_model.model[0])
            merged = model.merge_and_unload()
        with torch.no_grad():
            columns = merged(torch.eye(64, device=expected.device)).T
        # Half of the widest gap between two values of NF4 is 15% of the largest in the block.
        error = ((columns - expected).abs().max() / expected.abs().max()).item()
        assert error < 0.16, f"the outputs are not those of the merged layer: {error:.0%} off"


def _with_adapter(cls: Any) -> Any:
    import peft
    import torch
    from bitsandbytes.nn import Linear4bit

    from patchkit.lab import reproduce

    layer = Linear4bit(64, 64, bias=False, quant_type="nf4", compute_dtype=torch.float32)
    model = torch.nn.Sequential(layer.to(reproduce.device()))
    model.is_loaded_in_4bit = True
    config = cls(target_modules=["0"], init_weights=False)
    return peft.get_peft_model(model, config).eval()


def _merged_in_float32(layer: Any) -> Any:
    from bitsandbytes.functional import dequantize_4bit

    weight = layer.get_base_layer().weight
    delta = layer.get_delta_weight("default").detach()
    return dequantize_4bit(weight.data, weight.quant_state) + delta.to(weight.device)
