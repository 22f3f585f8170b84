"""A 4-bit layer without a compute dtype computes for ever in the dtype of its first input.

After a float32 warm-up, bfloat16 activations are computed in float32: slow, and nobody asked for
it. After a bfloat16 warm-up, float32 activations are rounded to bfloat16, and what comes back says
float32. `Linear4bit.set_compute_type` runs once and writes what it saw into `compute_dtype`, where
it looks like the user's choice from then on. (Transformers always gives its layers a compute dtype:
those are not concerned.)

Fix: where none was given, none is written down, and each input is computed in its own dtype, as
float16 inputs always were. The warnings about slow inference stay.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, replace

WRITES_DOWN = Pattern("M.compute_dtype = X.dtype")


def keep_unset_dtype(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Assign)
    chosen, dtype = ast.unparse(node.targets[0]), ast.unparse(node.value)
    return [replace(node.value, f"(None if {chosen} is None else {dtype})")]


PATCH = Patch(
    id="bitsandbytes-compute-dtype-frozen",
    title="A 4-bit layer without a compute dtype computes each input in its own dtype",
    affects={"bitsandbytes": ">=0.46"},
    changes=(
        Rewrite(
            "bitsandbytes.nn.modules:Linear4bit.set_compute_type",
            Rule(WRITES_DOWN, keep_unset_dtype, names=("compute_dtype",)),
        ),
    ),
    upstream=(
        "https://github.com/bitsandbytes-foundation/bitsandbytes/pull/1623",
        "https://github.com/bitsandbytes-foundation/bitsandbytes/pull/2077",
    ),
    symptom="float32 activations were computed in bfloat16",
    caution="After a float32 warm-up a layer without a compute dtype computed half-precision "
    "inputs in float32; it computes them in half precision now. Give `compute_dtype` to have one "
    "dtype for all inputs.",
)


def reproduce() -> None:
    """Compute the same float32 input before and after one in bfloat16."""
    import torch
    from bitsandbytes.nn import Linear4bit

    from patchkit.authoring import device

    layer = Linear4bit(64, 64, bias=False, quant_type="nf4").to(device())
    warmed_up = Linear4bit(64, 64, bias=False, quant_type="nf4").to(device())
    warmed_up.weight = layer.weight
    inputs = torch.linspace(-1, 1, 128, device=device()).reshape(2, 64)
    with torch.no_grad():
        warmed_up(inputs.bfloat16())
        same = torch.equal(warmed_up(inputs), layer(inputs))
    assert same, "float32 activations were computed in bfloat16, the dtype of the first input"
