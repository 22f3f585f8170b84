"""`init_lora_weights="orthogonal"` does not work on a quantized model.

`RuntimeError: Only Tensors of floating point and complex dtype can require gradients`, from
`get_peft_model`: the new LoRA weights are cast to the dtype of the base weight, and that of a 4-bit
or 8-bit layer is an integer.

Fix: where the base weight is no float, they are float32, as with the other initializations.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, replace

BASE_DTYPE = Pattern("self.get_base_layer().weight.dtype")


def takes_base_dtype(node: ast.AST) -> bool:
    match node:
        case ast.Assign(value=dtype):
            return BASE_DTYPE(dtype)
    return False


def use_float32_unless_floating(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Assign)
    dtype = ast.unparse(node.value)
    return [replace(node.value, f"{dtype} if {dtype}.is_floating_point else torch.float32")]


PATCH = Patch(
    id="peft-orthogonal-init-dtype",
    title="Orthogonal LoRA weights are floats on a quantized base",
    affects={"peft": ">=0.16"},
    changes=(
        Rewrite(
            "peft.tuners.lora.layer:LoraLayer.orthogonal_init",
            Rule(takes_base_dtype, use_float32_unless_floating, names=("get_base_layer", "dtype")),
        ),
    ),
    # Elsewhere it is the dtype of weights that are read or given back, or LoRA-GA's, which needs
    # the base weight itself to be a float.
    harmless={"peft.tuners.*:*.*": ""},
    upstream=(
        "https://github.com/huggingface/peft/pull/2498",
        "https://github.com/huggingface/peft/pull/2389",
    ),
    symptom="Only Tensors of floating point and complex dtype can require gradients",
    messages=("Only Tensors of floating point and complex dtype can require gradients",),
)


def reproduce() -> None:
    """Give a 4-bit model orthogonal LoRA weights, and take a step."""
    import peft

    from patchkit.lab import quantized

    model = quantized.load_tiny("4bit")
    config = peft.LoraConfig(
        r=4, init_lora_weights="orthogonal", target_modules=["q_proj"], task_type="CAUSAL_LM"
    )
    model = peft.get_peft_model(model, config)
    quantized.step(model)
    dtypes = {str(tensor.dtype) for tensor in model.parameters() if tensor.requires_grad}
    assert dtypes == {"torch.float32"}, dtypes
