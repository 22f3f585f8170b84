"""The scales of an 8-bit layer are lost when its weight is moved after its first forward.

`'NoneType' object has no attribute 'unsqueeze'` in the forward after that. The first forward of
`Linear8bitLt` takes the scales from the weight into the state of the layer. A copy of the weight
that `.to(device)` makes says that it has packed numbers, and has no scales; the next forward takes
those as well, in place of what the state has. DoRA on a CPU does that in each of its own
forwards: PEFT assigns `module.weight = module.weight.to(device)`.

Fix: a weight without scales leaves those of the state in place.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, replace

TAKEN = Pattern("self.state.SCB = self.weight.SCB")


def keep_scales(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Assign)
    scales = "self.weight.SCB"
    return [replace(node.value, f"{scales} if {scales} is not None else self.state.SCB")]


RULE = Rule(TAKEN, keep_scales, names=("state", "SCB"))

SOURCE = "bitsandbytes/nn/modules.py"

PATCH = Patch(
    id="bitsandbytes-8bit-scales",
    title="8-bit layers keep their scales when their weight is moved",
    affects={"bitsandbytes": ">=0.48.2"},
    changes=(Rewrite("bitsandbytes.nn.modules:Linear8bitLt.init_8bit_state", RULE),),
    harmless={
        # It has looked whether the weight has scales.
        "bitsandbytes.nn.modules:Linear8bitLt._load_from_state_dict": "",
        # Its weights are not quantized before they are multiplied.
        "bitsandbytes.nn.modules:SwitchBackLinearBnb.init_8bit_state": "",
    },
    upstream=("https://github.com/bitsandbytes-foundation/bitsandbytes/blob/0.50.2/" + SOURCE,),
    symptom="'NoneType' object has no attribute 'unsqueeze'",
    messages=("'NoneType' object has no attribute 'unsqueeze'",),
)


def reproduce() -> None:
    """Call an 8-bit layer, move its weight to where it is, and call it again."""
    import torch
    from bitsandbytes import nn as quantized

    from patchkit.authoring import device

    torch.manual_seed(0)
    layer = quantized.Linear8bitLt(16, 16, has_fp16_weights=False)
    layer = layer.to(device())
    x = torch.randn(2, 16, device=device(), dtype=torch.float16)
    before = layer(x)
    layer.weight = layer.weight.to(device())
    assert torch.equal(layer(x), before)
