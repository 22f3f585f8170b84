"""HRA on an 8-bit base computes nonsense, and on a 4-bit base it stops.

In 8-bit nothing is raised: the outputs of its layers are those of the integers that the weight is
packed in, without the scales of its rows, a hundred times too large and more. In 4-bit: `mat1 and
mat2 shapes cannot be multiplied (2048x1 and 64x64)`. HRA does not call its base layer, but
multiplies `weight.data` with its reflections by itself.

Fix: it multiplies the values of a packed weight, in float32, as its reflections are.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, helper, replace

DATA = Pattern("B.get_base_layer().weight.data")


def takes_weight(node: ast.AST) -> bool:
    """`weight = self.get_base_layer().weight.data`."""
    return isinstance(node, ast.Assign) and DATA(node.value)


def take_values(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Assign)
    base = f"{DATA.holes(node.value)['B']}.get_base_layer()"
    weight = f"{base}.weight"
    # Spelled out, so that a compiled forward of plain weights fetches no helper.
    is_plain = f"{weight}.is_floating_point() and not hasattr({weight}, 'quant_state')"
    values = helper(f"{__package__}._packed_values:values")
    return [replace(node.value, f"({weight}.data if {is_plain} else {values}({base}))")]


RULE = Rule(takes_weight, take_values, names=("get_base_layer", "weight", "data"))

PATCH = Patch(
    id="peft-hra-packed-base",
    title="HRA multiplies with the values of a quantized weight, not with its bytes",
    affects={"peft": ">=0.17.1", "bitsandbytes": ">=0.48.2"},
    changes=(Rewrite("peft.tuners.hra.layer:HRALinear.forward", RULE),),
    harmless={
        "peft.tuners.hra.layer:HRALinear.forward": "<0.17.1",
        # These take no quantized layer here.
        "peft.tuners.boft.layer:Linear.*": "",
        "peft.tuners.lora.intruders:*": "",
        "peft.tuners.oft.layer:*.*": "",
    },
    upstream=("https://github.com/huggingface/peft/blob/v0.21.2/src/peft/tuners/hra/layer.py",),
    symptom="the outputs of HRA are off by|shapes cannot be multiplied",
    messages=("mat1 and mat2 shapes cannot be multiplied",),
    caution="The values take the memory of the weight in float32 while a layer computes.",
)


def reproduce() -> None:
    """Compare an 8-bit model that HRA has not changed yet with its base."""
    import peft
    import torch

    from patchkit.lab import quantized, shapes

    model = quantized.load_tiny("8bit").eval()
    with torch.no_grad():
        expected = shapes.forward(model)
        config = peft.HRAConfig(r=4, target_modules=["q_proj", "up_proj"])
        outputs = shapes.forward(peft.get_peft_model(model, config))
    error = ((outputs - expected).norm() / expected.norm()).item()
    assert error < 0.2, f"the outputs of HRA are off by {error:.2f}, relative"
