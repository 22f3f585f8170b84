"""Mamba in 4-bit or 8-bit stops in its first forward.

`RuntimeError: Expected size for first two dimensions of batch2 tensor to be: [2, 1] but got: [2,
64]`, in 8-bit `expected m1 and m2 to have the same dtype, but got: signed char != c10::BFloat16`.
The mixer computes `dt_proj.weight @ time_step`, since it adds the bias later, in float32, and what
stands in a quantized weight are packed bytes. Falcon Mamba and Jamba have a branch for quantized
models, and Mamba has none.

Fix: where the weight is packed, the layer is called, adapters included, and its bias subtracted
again, as in that branch.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, replace

PRODUCT = Pattern("L.weight @ X.transpose(1, 2)")


def multiplies_with_weight(node: ast.AST) -> bool:
    """`time_step = self.dt_proj.weight @ x.transpose(1, 2)`."""
    return isinstance(node, ast.Assign) and PRODUCT(node.value)


def call_packed_layer(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Assign)
    code = PRODUCT.holes(node.value)
    layer, x = code["L"], code["X"]
    is_plain = f"{layer}.weight.is_floating_point() and not hasattr({layer}.weight, 'quant_state')"
    called = f"({layer}({x}) - {layer}.bias).transpose(1, 2)"
    return [replace(node.value, f"({ast.unparse(node.value)} if {is_plain} else {called})")]


RULE = Rule(multiplies_with_weight, call_packed_layer, names=("dt_proj", "weight", "transpose"))

PATCH = Patch(
    id="transformers-mamba-packed-weight",
    title="Mamba calls its quantized time step projection, and multiplies with no packed bytes",
    affects={"transformers": ">=5.15", "bitsandbytes": ">=0.50"},
    changes=(Rewrite("transformers.models.mamba.modeling_mamba:MambaMixer.forward", RULE),),
    harmless={
        # Where nothing is quantized.
        "transformers.models.falcon_mamba.mod*:FalconMambaMixer.*": "",
        "transformers.models.jamba.mod*:JambaMambaMixer.*": "",
        # Only the kernels of mamba_ssm come here, and it was not run.
        "transformers.models.mamba.modeling_mamba:MambaMixer.cuda_kernels_forward": "<5.15",
    },
    upstream=(
        "https://github.com/huggingface/transformers/tree/v5.23.0/src/transformers/models/mamba",
    ),
    symptom="Expected size for first two dimensions of batch2 tensor|to have the same dtype",
    messages=(
        "Expected size for first two dimensions of batch2 tensor to be:",
        "expected m1 and m2 to have the same dtype, but got: signed char != c10::BFloat16",
    ),
)

TINY = {
    **dict.fromkeys(("vocab_size", "hidden_size", "time_step_rank"), 64),
    "num_hidden_layers": 2,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
"""A configuration whose layers bitsandbytes quantizes in whole blocks."""


def reproduce() -> None:
    """Take a training step through a tiny 4-bit Mamba."""
    import torch
    import transformers

    from patchkit.lab import quantized, shapes

    plain = transformers.MambaForCausalLM(transformers.MambaConfig(**TINY))
    model = quantized.reload(plain, dtype="bfloat16", compute_dtype="bfloat16")
    loss = model.train()(input_ids=shapes.words(), labels=shapes.words()).loss
    loss.backward()
    assert torch.isfinite(loss), f"the loss is {loss.item()}"
