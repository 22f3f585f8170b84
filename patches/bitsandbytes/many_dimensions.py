"""An 8-bit layer outside of training refuses activations of more than three dimensions.

`RuntimeError: The size of tensor a (12) must match the size of tensor b (64) at non-singleton
dimension 2`, on a GPU (read, not run) `Only two or three dimensional matrices are supported for
argument A`. Latent attention gives its projections four: DeepSeek-V2 and V3, Kimi Linear, GLM 4
MoE Lite, MiniCPM3 and others cannot predict in 8-bit. `MatMul8bitLt` makes a matrix of three
dimensions, and of no other number. In training on a CPU another function computes, which takes any.

Fix: activations of more dimensions become a matrix, too.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, replace

HAS_THREE = Pattern("len(X) == 3")


def has_three_or_more(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Compare)
    return [replace(node, f"len({HAS_THREE.holes(node)['X']}) > 2")]


RULE = Rule(HAS_THREE, has_three_or_more, names=("len", "reshape"))
PRODUCT = "bitsandbytes.autograd._functions:MatMul8bitLt"

PATCH = Patch(
    id="bitsandbytes-8bit-dimensions",
    title="8-bit layers take activations of any number of dimensions outside of training",
    affects={"bitsandbytes": ">=0.46.1"},
    changes=(Rewrite(f"{PRODUCT}.forward", RULE, sites=2), Rewrite(f"{PRODUCT}.backward", RULE)),
    harmless={"bitsandbytes.autograd._functions:MatMul8bitFp.backward": ""},  # it takes any number
    upstream=("https://github.com/bitsandbytes-foundation/bitsandbytes/issues/980",),
    symptom="must match the size of tensor b|view size is not compatible|Only two or three dimens",
    messages=(
        "Only two or three dimensional matrices are supported for argument A",
        "must match the size of tensor b",
    ),
)


def reproduce() -> None:
    """Give a layer four dimensions, and take the gradient of its input."""
    import torch
    from bitsandbytes.nn import Linear8bitLt

    from patchkit.authoring import device

    layer = Linear8bitLt(64, 32, bias=False, has_fp16_weights=False, threshold=6.0)
    layer = layer.to(device()).eval()
    inputs = torch.linspace(-1, 1, 2 * 3 * 4 * 64, dtype=torch.bfloat16, device=device())
    inputs = inputs.reshape(2, 3, 4, 64).requires_grad_()
    outputs = layer(inputs)
    rows = layer(inputs.detach().reshape(-1, 64))
    assert torch.equal(outputs, rows.reshape(2, 3, 4, 32))
    outputs.float().sum().backward()
    assert inputs.grad is not None
    assert inputs.grad.isfinite().all()
