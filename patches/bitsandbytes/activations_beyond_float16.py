"""An 8-bit model without outlier threshold gives NaN where a bfloat16 activation is beyond 65504.

`BitsAndBytesConfig(load_in_8bit=True, llm_int8_threshold=0.0)` and activations that bfloat16 holds
and float16 does not: `MatMul8bitLt` casts its input to float16 (and logs `inputs will be cast from
torch.bfloat16 to float16 during quantization`) before it looks for the largest number of each row.
It finds infinity, and the row comes out as infinities and NaN. With the usual threshold of 6.0 such
activations count as outliers, which are computed in their own dtype.

Fix: rows beyond float16's range are halved until they fit, and their scales doubled as often.
Powers of two round nothing: the result is what statistics in float32 would give. All other rows
are divided by one.

Why: a branch on values would wait for the GPU, and clamping would change results.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, helper, operand, replace

QUANTIZES = Pattern("M.int8_vectorwise_quant(R.to(torch.float16), threshold=S.threshold)")


def scale_into_range(node: ast.AST) -> list[Edit]:
    match node:
        case ast.Call(
            func=quantize,
            args=[ast.Call(func=ast.Attribute(value=rows))],
            keywords=[ast.keyword(value=threshold)],
        ):
            call, activations, outliers = map(operand, (quantize, rows, threshold))
            quantizer = helper(f"{__package__}._int8_rows:quantize_rows")
            # A compiled forward is left as it is: fetching the helper would break its graph.
            return [
                replace(
                    node,
                    f"({call}({activations}.half(), threshold={outliers})"
                    " if torch.compiler.is_compiling()"
                    f" else {quantizer}({call}, {activations}, {outliers}))",
                )
            ]
    raise AssertionError(ast.dump(node))


PATCH = Patch(
    id="bitsandbytes-8bit-overflow",
    title="8-bit layers take activations beyond float16's range",
    affects={"bitsandbytes": ">=0.46"},
    changes=(
        Rewrite(
            "bitsandbytes.autograd._functions:MatMul8bitLt.forward",
            Rule(QUANTIZES, scale_into_range, names=("int8_vectorwise_quant", "float16")),
        ),
    ),
    upstream=(
        "https://github.com/bitsandbytes-foundation/bitsandbytes/issues/1868",
        "https://github.com/bitsandbytes-foundation/bitsandbytes/pull/1985",
    ),
    symptom="not finite",
    caution="Without outlier threshold, bfloat16 and float32 inputs are read twice more, to find "
    "the largest number of each row and to scale. A compiled forward stays as it is.",
)


def reproduce() -> None:
    """One row beyond float16's range in bfloat16, outside training."""
    import torch
    from bitsandbytes.nn import Linear8bitLt

    from patchkit.authoring import device

    layer = Linear8bitLt(64, 64, bias=False, has_fp16_weights=False, threshold=0.0)
    layer = layer.to(device()).eval()
    inputs = torch.linspace(-1, 1, 128, dtype=torch.bfloat16, device=device()).reshape(2, 64)
    inputs[1] *= 2.0**18
    with torch.no_grad():
        outputs = layer(inputs)
    assert outputs.isfinite().all(), (
        f"of 2 rows, {int((~outputs.isfinite()).any(1).sum())} not finite"
    )
