"""Gemma3n in 4-bit or 8-bit stops in its first training step, with a message about casts.

`RuntimeError: result type Float can't be cast to the desired output type unsigned char`, in 8-bit
`signed char`. In training AltUp clamps the weights of its `prediction_coefs` and `correction_coefs`
to `altup_coef_clip`, in place, and what stands in a quantized weight are packed bytes. Up to
Transformers 5.1 the second is clamped outside of training, too: there not even generation works. A
weight packed into a floating dtype (`bnb_4bit_quant_storage`) is clamped byte by byte, without a
word.

Fix: the values of a quantized weight are clamped, not the bytes. Later releases multiply with a
clamped copy of `correction_coefs`; where its weight is quantized, the layer itself is called after
the clamp, adapters included.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, helper, insert_after, replace

IN_PLACE = Pattern("L.weight.data.clamp_(A, B)")
COPIED = Pattern("L.weight.clamp(A, B)")


def clamps(node: ast.AST) -> bool:
    """`L.weight.data.clamp_(…)`, or `if … and …: weight = L.weight.clamp(…)` with an `else`."""
    match node:
        case ast.Expr(value=call):
            return IN_PLACE(call)
        case ast.If(
            test=ast.BoolOp(op=ast.And(), values=[_, _]),
            body=[ast.Assign(value=copy), *_],
            orelse=[_, *_],
        ):
            return COPIED(copy)
    return False


def clamp_values(node: ast.AST) -> list[Edit]:
    if isinstance(node, ast.Expr):
        call = ast.unparse(node.value)
        bytes_are_values = _unless_packed(IN_PLACE.holes(node.value))
        return [replace(node.value, f"{call} if {bytes_are_values} else None")]
    assert isinstance(node, ast.If)
    assert isinstance(node.body[0], ast.Assign)
    return [insert_after(node.test, f" and ({_unless_packed(COPIED.holes(node.body[0].value))})")]


def _unless_packed(code: dict[str, str]) -> str:
    """Return a condition that holds for plain weights, and clamps what is packed."""
    weight = f"{code['L']}.weight"
    clamp = helper(f"{__package__}._packed_clamp:clamp_packed")
    # Spelled out, so that a compiled forward of plain weights fetches no helper.
    return (
        f"{weight}.is_floating_point() and not hasattr({weight}, 'quant_state') "
        f"or not {clamp}({code['L']}, {code['A']}, {code['B']})"
    )


RULE = Rule(clamps, clamp_values, names=("weight", "altup_coef_clip"))

PATCH = Patch(
    id="transformers-gemma3n-packed-clamp",
    title="Gemma3n clamps the values of quantized weights, not their bytes",
    affects={"transformers": ">=4.53", "bitsandbytes": ">=0.46"},
    changes=tuple(
        Rewrite(f"transformers.models.gemma3n.modeling_gemma3n:Gemma3nTextAltUp.{method}", RULE)
        for method in ("predict", "correct")
    ),
    # The modeling file is generated from it, and nothing imports it.
    harmless={"transformers.models.gemma3n.modular_gemma3n:*.*": ""},
    upstream=(
        "https://github.com/huggingface/transformers/pull/43801",
        "https://github.com/huggingface/transformers/issues/45672",
    ),
    symptom="can't be cast to the desired output type",
    messages=(
        "result type Float can't be cast to the desired output type unsigned char",
        "result type Float can't be cast to the desired output type signed char",
        "result type Float can't be cast to the desired output type Byte",
    ),
    caution="A quantized weight with values beyond `altup_coef_clip` is quantized again, clamped, "
    "which rounds its other values again.",
)


def reproduce() -> None:
    """Take a training step through a tiny 4-bit Gemma3n."""
    import torch
    import transformers

    from patchkit.lab import quantized, shapes

    sizes = dict.fromkeys(("vocab_size", "vocab_size_per_layer_input", "hidden_size"), 64)
    config = transformers.Gemma3nTextConfig(
        **sizes,
        hidden_size_per_layer_input=8,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        laurel_rank=8,
        num_kv_shared_layers=0,
        layer_types=["full_attention"] * 2,
        activation_sparsity_pattern=[0.0] * 2,
        # On a CPU old releases of bitsandbytes quantize whole blocks of 64 only.
        altup_num_inputs=8,
        pad_token_id=0,
    )
    model = quantized.reload(
        transformers.Gemma3nForCausalLM(config), dtype="bfloat16", compute_dtype="bfloat16"
    )
    ids = shapes.words(model.device)
    loss = model.train()(input_ids=ids, labels=ids).loss
    loss.backward()
    assert torch.isfinite(loss), f"the loss is {loss.item()}"
