"""A 4-bit checkpoint packed into bfloat16 storage is garbage once it is loaded, without a word.

FSDP wants 4-bit weights packed into the dtype of the others (`bnb_4bit_quant_storage`). Loaded in
any other dtype than that of the storage, which Transformers 4 does where none is given (float16),
the packed bytes are cast like numbers. In float16 all weights come out as others; in float32 there
are twice as many bytes, and they do not dequantize to the layer's shape.

Fix: weights that bitsandbytes has packed are not cast. Transformers 5 does not cast them.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, helper, require

IS_FLOATING = (Pattern("P.dtype.is_floating_point"), Pattern("torch.is_floating_point(P)"))
PACKED = "is_packed_weight"


def casts_any_float(node: ast.AST) -> bool:
    """`if param.dtype.is_floating_point and not …`, with a dtype to cast to inside."""
    match node:
        case ast.If(test=ast.BoolOp(op=ast.And(), values=[*_, tested, ast.UnaryOp(op=ast.Not())])):
            return any(pattern(tested) for pattern in IS_FLOATING)
    return False


def skip_packed(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.If)
    packed = helper(f"patchkit.precision.loading:{PACKED}")
    return require(node.test, f"not {packed}(model, param_name, hf_quantizer)")


RULE = Rule(casts_any_float, skip_packed, names=("is_floating_point",))

PATCH = Patch(
    id="transformers-packed-weight-cast",
    title="Packed 4-bit weights are loaded bit for bit",
    affects={"transformers": ">=4.46.3,<5", "bitsandbytes": ">=0.46"},
    changes=(
        Rewrite(
            "transformers.modeling_utils:_load_state_dict_into_meta_model", RULE, affects="<4.50"
        ),
        Rewrite("transformers.modeling_utils:_infer_parameter_dtype", RULE, affects=">=4.50"),
    ),
    upstream=(
        "https://github.com/bitsandbytes-foundation/bitsandbytes/issues/1310",
        "https://github.com/bitsandbytes-foundation/bitsandbytes/pull/1295",
    ),
    symptom="packed bytes",
)


def reproduce() -> None:
    """Pack 4-bit weights into bfloat16, save them, and load them in float16."""
    import torch

    from patchkit.lab import quantized

    storage = {"bnb_4bit_quant_storage": torch.bfloat16}
    with quantized.saved_in_temporary_folder(dtype="bfloat16", **storage) as folder:
        saved = quantized.packed_bytes(quantized.load(folder, dtype="bfloat16"))
        loaded = quantized.packed_bytes(quantized.load(folder, dtype="float16"))
    wrong = [name for name in saved if not torch.equal(saved[name], loaded[name])]
    assert not wrong, f"packed bytes of {len(wrong)} layers changed while loading: {wrong[0]}"
