"""After a merge into a 4-bit base its weights dequantize to float32, where it was bfloat16.

`merge_adapter()`, `merge_and_unload()` and `unmerge_adapter()` dequantize the weight, add the
float32 product of the adapter, and quantize the float32 sum: the new quant state says float32. So
`model.dequantize()` gives a model of twice the size, a checkpoint saved from it says float32 for
ever after, kernels that read the state meet a dtype that they do not expect, and each backward
pass dequantizes to float32 and casts.

Fix: the new quant state dequantizes to the dtype of the old one. The sum is still made and
quantized in float32: the packed weights are the same, bit for bit.

Why: the patch wraps the call that makes the new weight, while `peft-4bit-merge-requantized` edits
the arguments inside it, so either works without the other. A quant state that was not made by this
call is left alone.
"""

import ast

from patchkit.authoring import Edit, Patch, Rewrite, Rule, helper, insert_after, span

LIKE = "requantized_like"


def quantizes_again(node: ast.AST) -> bool:
    """`layer.weight = bnb.nn.Params4bit(…).to(weight.device)`."""
    match node:
        case ast.Assign(
            targets=[ast.Attribute(attr="weight")],
            value=ast.Call(
                func=ast.Attribute(
                    attr="to", value=ast.Call(func=ast.Attribute(attr="Params4bit"))
                ),
                args=[ast.Attribute(attr="device", value=ast.Name())],
            ),
        ):
            return True
    return False


def keep_state(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Assign)
    assert isinstance(node.value, ast.Call)
    old = ast.unparse(node.value.args[0]).removesuffix(".device")
    start, _ = span(node.value)
    like = helper(f"patchkit.precision.quant_state:{LIKE}")
    return [Edit(start, start, f"{like}({old}, "), insert_after(node.value, ")")]


RULE = Rule(quantizes_again, keep_state, names=("Params4bit", "device"))

# DoRA's part of LoRA, and OFT from 0.21, cast the sum themselves; OFT of 0.20 fails to make its
# 4-bit layers. RandLoRA, PVeRA and VeRA keep the old state, and quantize nothing, where
# `peft-4bit-merge-requantized` is not applied.
KNOWN = {
    "lora": "",
    "oft": ">=0.16,<0.20",
    "road": ">=0.18",
    "hira": ">=0.20",
    "randlora": ">=0.16",
    "pvera": ">=0.19",
    "vera": "<0.20",
}
METHODS = ("merge", "unmerge")

PATCH = Patch(
    id="peft-merge-quant-state",
    title="A merge into a 4-bit base keeps the dtype that it dequantizes to",
    affects={"peft": ">=0.15", "bitsandbytes": ">=0.46"},
    changes=tuple(
        Rewrite(f"peft.tuners.{tuner}.bnb:Linear4bit.{method}", RULE, affects=versions)
        for tuner, versions in KNOWN.items()
        for method in METHODS
    ),
    harmless={
        "peft.tuners.oft.bnb:Linear4bit.*": ">=0.20",
        # The tuners that quantize here give it the sum in the dtype of the old state.
        "peft.utils.quantization_utils:Bnb4bitBackend.set_base_weight": "",
    },
    upstream=(
        "https://github.com/huggingface/peft/pull/851",
        "https://github.com/unslothai/unsloth/pull/4005",
    ),
    symptom="dequantizes? to torch.float32",
    caution="bitsandbytes 0.47 and 0.48 round more on a CPU when they dequantize to half "
    "precision: there merged weights are rounded as all others are.",
)


def reproduce() -> None:
    """Merge LoRA weights into a 4-bit model in bfloat16."""
    import peft
    import torch

    from patchkit.lab import quantized

    config = peft.LoraConfig(r=4, target_modules=["q_proj"], init_lora_weights=False)
    with quantized.saved_in_temporary_folder(dtype="bfloat16") as folder:
        model = quantized.load(folder)
    merged = peft.get_peft_model(model, config).merge_and_unload()
    weight = merged.model.layers[0].self_attn.q_proj.weight
    dtype = weight.quant_state.dtype
    assert dtype == torch.bfloat16, f"a bfloat16 base dequantizes to {dtype} after the merge"
