"""`cast_mixed_precision_params` destroys the weights of a 4-bit model.

What follows depends on the version of bitsandbytes: `AssertionError: Only support uint8 qweight`,
`Blockwise 4bit dequantization on CPU only supports uint8 storage`, `shape '[64, 32]' is invalid for
input of size 4096`, or, worst, nothing but other logits. The function casts every frozen parameter,
and packed bytes become the numbers 0 to 255 in half precision.

Fix: what bitsandbytes has packed is passed over.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, helper, replace

ALL_PARAMETERS = Pattern("M.parameters()")
FROZEN = Pattern("not P.requires_grad")


def casts_whatever_is_frozen(node: ast.AST) -> bool:
    match node:
        case ast.For(iter=parameters, body=[ast.If(test=test)]):
            return ALL_PARAMETERS(parameters) and FROZEN(test)
    return False


def pass_over_packed(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.For)
    plain = helper("patchkit.precision.parameters:is_plain_float")
    return [replace(node.iter, f"filter({plain}, {ast.unparse(node.iter)})")]


PATCH = Patch(
    id="peft-packed-weight-cast",
    title="Quantized weights are not cast with the frozen parameters around them",
    affects={"peft": ">=0.15"},
    changes=(
        Rewrite(
            "peft.utils.other:cast_mixed_precision_params",
            Rule(casts_whatever_is_frozen, pass_over_packed, names=("requires_grad", "to")),
        ),
    ),
    upstream=("https://github.com/huggingface/peft/pull/1318",),
    symptom="packed weights were cast|uint8|size of tensor|invalid for input of size",
    messages=(
        "Blockwise 4bit dequantization on CPU only supports uint8 storage, got",
        "must match the size of tensor b",
        "is invalid for input of size",
    ),
    caution="8-bit weights stay int8.",
)


def reproduce() -> None:
    """Cast a 4-bit model with an adapter for mixed precision, and compare its logits."""
    import peft
    import torch
    from peft.utils.other import cast_mixed_precision_params

    from patchkit.lab import quantized

    model = quantized.load_tiny("4bit", dtype="float16")
    config = peft.LoraConfig(r=4, target_modules=["q_proj"], task_type="CAUSAL_LM")
    model = peft.get_peft_model(model, config).train()
    ids = torch.arange(10, 20, device=model.device)[None]
    before = model(input_ids=ids).logits.detach()
    cast_mixed_precision_params(model, torch.float16)
    after = model(input_ids=ids).logits.detach()
    difference = (before - after).abs().max().item()
    assert difference == 0, f"logits changed by {difference:.2f}: packed weights were cast"
