"""LoRA with `bias="all"` on a quantized model trains biases in half precision.

Under fp16 the first optimizer step raises `ValueError: Attempting to unscale FP16 gradients.`;
under bf16 nothing is said, and updates smaller than 1/256 of a bias are rounded away. The biases
were float32 when the optimizer was made: `Linear4bit.forward` and `Linear8bitLt.forward` assign
`bias.data`, in the dtype of the activations, in the first forward.

Fix: a float32 bias that is trained keeps its dtype, and what is added to the product is a copy in
the dtype that the layer computes in; its gradient reaches the float32 bias. Frozen biases are cast
in place as before, and so is one that a float32 activation makes wider.

Why: upstream's cast in place also widens half-precision biases, and fp16 training depends on that.
So only float32 biases are protected.
"""

import ast
from collections.abc import Iterator

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, mentions, operand, replace, span

IN_PLACE = Pattern("B.data = B.data.to(D)")
IN_COMPUTE_DTYPE = Pattern("B.to(M.compute_dtype)")
PRODUCTS = ("matmul", "matmul_4bit")


def casts_in_place(node: ast.AST) -> bool:
    """Match an `if` around nothing but the assignment of the bias."""
    match node:
        case ast.If(test=test, body=[cast], orelse=[]):
            return IN_PLACE(cast) and not mentions(test, "requires_grad")
    return False


def uses(node: ast.AST) -> Iterator[ast.expr]:
    """Yield where the bias is read for the product: to be cast, or handed over as it is."""
    for inner in ast.walk(node):
        match inner:
            case ast.Call() if IN_COMPUTE_DTYPE(inner) and mentions(inner, "bias"):
                yield inner
            case ast.Call(func=ast.Attribute(attr=name), keywords=keywords) if name in PRODUCTS:
                values = (keyword.value for keyword in keywords if keyword.arg == "bias")
                yield from (value for value in values if isinstance(value, ast.Attribute))


def forward_with_cast(node: ast.AST) -> bool:
    match node:
        case ast.FunctionDef(args=ast.arguments(args=[_, _])):
            return any(map(casts_in_place, ast.walk(node))) and any(uses(node))
    return False


def cast_a_copy(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.FunctionDef)
    _, activations = (parameter.arg for parameter in node.args.args)
    edits = []
    for cast in filter(casts_in_place, ast.walk(node)):
        assert isinstance(cast, ast.If)
        assert isinstance(cast.body[0], ast.Assign)
        assert isinstance(cast.body[0].targets[0], ast.Attribute)
        bias = operand(cast.body[0].targets[0].value)
        trained = f"{bias}.requires_grad and {bias}.dtype == torch.float32"
        start, end = span(cast.test)
        edits += [Edit(start, start, "("), Edit(end, end, f") and not ({trained})")]
    for use in uses(node):
        if isinstance(use, ast.Call):
            # Whichever dtype the layer computes in, the activations have it by now.
            edits.append(replace(use.args[0], f"{activations}.dtype"))
        else:
            bias = operand(use)
            edits.append(
                replace(use, f"(None if {bias} is None else {bias}.to({activations}.dtype))")
            )
    return edits


RULE = Rule(forward_with_cast, cast_a_copy, names=("bias", "data"))

PATCH = Patch(
    id="bitsandbytes-trainable-bias",
    title="Trainable float32 biases of quantized layers stay float32",
    affects={"bitsandbytes": ">=0.46"},
    changes=(
        Rewrite("bitsandbytes.nn.modules:Linear4bit.forward", RULE),
        Rewrite("bitsandbytes.nn.modules:Linear8bitLt.forward", RULE),
    ),
    upstream=(
        "https://github.com/unslothai/unsloth-zoo/pull/795",
        "https://github.com/huggingface/peft/issues/341",
    ),
    symptom="trained biases became float16|Attempting to unscale FP16 gradients",
    messages=("Attempting to unscale FP16 gradients.",),
    caution="A trained bias is cast in every forward, where upstream casts it once.",
)


def reproduce() -> None:
    """One forward and backward of both layers in float16, with a trained bias."""
    import torch
    from bitsandbytes.nn import Linear4bit, Linear8bitLt

    from patchkit.authoring import device

    half = []
    for layer in (
        Linear4bit(64, 64, compute_dtype=torch.float16, quant_type="nf4"),
        Linear8bitLt(64, 64, has_fp16_weights=False),
    ):
        layer = layer.to(device())
        assert layer.bias.requires_grad
        assert layer.bias.dtype == torch.float32
        inputs = torch.ones(1, 64, dtype=torch.float16, device=device(), requires_grad=True)
        layer(inputs).sum().backward()
        if layer.bias.dtype != torch.float32 or layer.bias.grad.dtype != torch.float32:
            half.append(type(layer).__name__)
    assert not half, f"trained biases became float16: {', '.join(half)}"
