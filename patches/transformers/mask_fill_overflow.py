"""A mask is filled with the smallest number of another dtype, which it cannot hold.

`RuntimeError: value cannot be converted to type c10::Half without overflow` (or `c10::BFloat16`),
where models mask with `torch.finfo(x.dtype).min` of something else than the mask: of the queries
(DeBERTa under autocast, where the sum with a bias has made them float32), or of the hidden states
(Pegasus-X with half-precision weights under fp16, where its norms return float32). bfloat16 has
about the same range as float32, but its smallest number is another one.

Or nothing is raised, and nothing learned: LongT5 masks with -1e10, which is infinite when it is
added to float16 scores. The rows that fill its last block up are all masked, so their softmax is
NaN. They are cut off, but their gradients are not: all gradients are NaN, and in fp16 the scaler
skips every step.

Fix: what is filled in is the smallest number that both dtypes hold. Where the one upstream names
fits, it stays that one. What is added to float16 scores is finite.
"""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, replace, walk

SMALLEST = Pattern("torch.finfo(X.dtype).min")


class Fill(NamedTuple):
    """A tensor, the number that it is filled with, and the tensor whose dtype has that number."""

    tensor: str
    number: ast.expr
    other: str


def fill(node: ast.AST, method: str) -> tuple[str, ast.expr] | None:
    """Return the tensor and the number of `x.masked_fill(mask, number)` or `pad(x, …, number)`."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id=tensor), attr=attr), args=[_, number]
        ) if attr == method:
            return tensor, number
        case ast.Call(func=ast.Attribute(attr="pad"), args=[ast.Name(id=tensor), *_]) if (
            method == "pad"
        ):
            values = [word.value for word in node.keywords if word.arg == "value"]
            return (tensor, values[0]) if values else None
    return None


def filling_rule(method: str) -> Rule:
    """Make a rule for functions that fill a tensor by a method, or by `pad`."""

    def fills(function: ast.FunctionDef) -> Iterator[Fill]:
        """Yield what is filled with the smallest number of something else's dtype."""
        for node in walk(function):
            if found := fill(node, method):
                tensor, number = found
                smallest = value_of(number, function)
                if smallest is not None and SMALLEST(smallest):
                    other = SMALLEST.holes(smallest)["X"]
                    if other != tensor:
                        yield Fill(tensor, number, other)

    def site(node: ast.AST) -> bool:
        return isinstance(node, ast.FunctionDef) and any(True for _ in fills(node))

    def fit(node: ast.AST) -> list[Edit]:
        assert isinstance(node, ast.FunctionDef)
        return [replace(found.number, spell_out(found)) for found in fills(node)]

    return Rule(site, fit, names=("finfo", method), needs=("torch",))


def value_of(number: ast.expr, function: ast.FunctionDef) -> ast.expr | None:
    """Return an expression, or what the variable that it is was bound to, if that was only once."""
    if not isinstance(number, ast.Name):
        return number
    values = [
        node.value
        for node in walk(function)
        if isinstance(node, ast.Assign) and number.id in map(ast.unparse, node.targets)
    ]
    return values[0] if len(values) == 1 else None


def spell_out(found: Fill) -> str:
    number, tensor = ast.unparse(found.number), found.tensor
    return (
        f"({number} if not {tensor}.is_floating_point() "
        f"else max({number}, torch.finfo({tensor}.dtype).min))"
    )


def sums_with_masks(node: ast.AST) -> Iterator[ast.AugAssign]:
    """Yield `scores += bias` where a function masks with what is beyond float16: -1e10."""
    if not isinstance(node, ast.FunctionDef) or not any(map(is_beyond_float16, walk(node))):
        return
    for part in walk(node):
        match part:
            case ast.AugAssign(target=ast.Name(), op=ast.Add(), value=ast.Name()):
                yield part


def is_beyond_float16(node: ast.AST) -> bool:
    match node:
        case ast.Call(
            args=[*_, ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=float(number)))]
        ):
            return number > LARGEST
    return False


def add_finite_numbers(node: ast.AST) -> list[Edit]:
    return [
        replace(part.value, finite(ast.unparse(part.target), ast.unparse(part.value)))
        for part in sums_with_masks(node)
    ]


def finite(scores: str, bias: str) -> str:
    least = f"{bias}.clamp(min=torch.finfo({scores}.dtype).min / 2)"
    return f"({least} if {scores}.dtype == torch.float16 else {bias})"


LARGEST = 65504
"""The largest number of float16."""
RULES = {
    **{method: filling_rule(method) for method in ("masked_fill", "pad")},
    "sum": Rule(
        lambda node: any(True for _ in sums_with_masks(node)),
        add_finite_numbers,
        names=("where", "softmax"),
        needs=("torch",),
    ),
}

PATCH = Patch(
    id="transformers-mask-fill-overflow",
    title="Masks are filled with a number that their dtype holds",
    affects={"transformers": ">=4.46.3"},
    changes=tuple(
        Rewrite("transformers.models.*.modeling_*:*.*", rule, sites=None) for rule in RULES.values()
    ),
    upstream=(
        "https://github.com/huggingface/transformers/issues/35332",
        "https://github.com/huggingface/transformers/pull/35336",
    ),
    symptom="value cannot be converted to type .* without overflow",
    messages=(
        "value cannot be converted to type c10::Half without overflow",
        "value cannot be converted to type c10::BFloat16 without overflow",
        "value cannot be converted to type at::Half without overflow",
        "value cannot be converted to type at::BFloat16 without overflow",
    ),
)


def reproduce() -> None:
    """Run a tiny float16 Pegasus-X under bfloat16 autocast: its hidden states become float32."""
    import torch
    import transformers

    from patchkit.authoring import device
    from patchkit.lab import shapes

    config = transformers.PegasusXConfig(
        vocab_size=64,
        d_model=16,
        encoder_layers=2,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        num_global_tokens=2,
        block_size=4,
    )
    torch.manual_seed(0)
    model = transformers.PegasusXForConditionalGeneration(config).half().to(device())
    shapes.norms_in_float32(model)  # a CPU's norms take no float32 beside half-precision weights
    ids = torch.arange(3, 19, device=device()).reshape(2, 8)
    with torch.no_grad(), torch.autocast(device(), torch.bfloat16):
        logits = model(input_ids=ids, decoder_input_ids=ids).logits
    assert logits.isfinite().all()
