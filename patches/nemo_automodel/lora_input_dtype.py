"""LoRA training stops in the first forward where no autocast is on.

`RuntimeError: expected m1 and m2 to have the same dtype, but got: float != c10::BFloat16` (with a
bias, `mat1 and mat2 must have the same dtype, but got Float and BFloat16`) from
`LinearLoRA.forward`: something before the layer, such as a norm that is kept in float32, gave it
float32, and its weights are bfloat16. A plain layer raises in its base, a quantized one in the
adapter, since bitsandbytes casts for itself.

Fix: the input is brought to the dtype of the base weight, or to the adapter's where the base is
quantized, before base, adapter or DoRA compute anything. The output has that dtype too.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, helper, mentions, require
from patchkit.precision.autocast import spell_out_autocast

OWN_FORWARD = "getattr(self, 'super_fwd', None)"
BASE = Pattern("R = F(X)")
CAST = "in_dtype_of_layer"


def first_use_of_input(node: ast.AST) -> bool:
    """Match the `if` that chooses between the forward of a quantized layer and a plain one."""
    match node:
        case ast.If(test=test, body=body):
            chooses = Pattern(OWN_FORWARD).within(test) and any(map(BASE, body))
            return chooses and not mentions(test, CAST)
    return False


def cast_before(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.If)
    (base,) = filter(BASE, node.body)
    match base:
        case ast.Assign(value=ast.Call(args=[ast.Name(id=x)])):
            # Spelled out, since torch.compile cannot trace a helper: none is called where the
            # layer worked before. The proxies of torch.fx are no tensors. TorchScript, which knows
            # no `:=`, takes none of these functions as they are.
            agree = (
                f"not isinstance({x}, torch.Tensor) or {x}.dtype is self.lora_A.weight.dtype and "
                f"({x}.dtype is self.weight.dtype or {OWN_FORWARD} is not None) "
                f"or {spell_out_autocast(x)}"
            )
            cast = helper(f"{__package__}._linear_lora:{CAST}")
            return require(node.test, f"({x} := {x} if {agree} else {cast}(self, {x})) is not None")
    raise AssertionError(ast.dump(base))


RULE = Rule(first_use_of_input, cast_before, names=("lora_A",), needs=("torch",))

PATCH = Patch(
    id="nemo-automodel-lora-input-dtype",
    title="LoRA layers take an input of another dtype",
    affects={"nemo-automodel": ">=0.1"},
    changes=(
        Rewrite("nemo_automodel.components._peft.lora:LinearLoRA.forward", RULE),
        Rewrite("nemo_automodel.components._peft.lora:TritonLinearLoRA.forward", RULE),
    ),
    upstream=(
        "https://github.com/NVIDIA-NeMo/Automodel/issues/1540",
        "https://github.com/NVIDIA-NeMo/Automodel/pull/1622",
        "https://github.com/NVIDIA-NeMo/Automodel/issues/1632",
    ),
    symptom="have the same dtype, but got",
    messages=(
        "expected m1 and m2 to have the same dtype, but got:",
        "mat1 and mat2 must have the same dtype, but got",
    ),
)


def reproduce() -> None:
    """Give a bfloat16 layer float32, forward and backward."""
    import torch
    from nemo_automodel.components._peft.lora import LinearLoRA

    from patchkit.authoring import device

    base = torch.nn.Linear(16, 16, bias=False).bfloat16()
    layer = LinearLoRA(base, dim=4, alpha=8).to(device())
    output = layer(torch.randn(2, 16, device=device()))
    output.sum().backward()
    assert output.dtype == torch.bfloat16, output.dtype
    assert layer.lora_B.weight.grad is not None
