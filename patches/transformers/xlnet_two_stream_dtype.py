"""XLNet in half precision cannot generate: positions and what is to be predicted are float32.

`RuntimeError: expected m1 and m2 to have the same dtype, but got: float != c10::BFloat16` from
`generate`, and from all else that gives a `target_mapping`: its attention has a second stream then,
which multiplies float32 position embeddings with a half-precision weight. The first stream, alone,
casts them.

Fix: without autocast the positions get the dtype of the weight, and the mapping, of zeros and ones,
that of the queries.
"""

import ast

from patchkit.authoring import Edit, Patch, Rewrite, Rule, replace
from patchkit.precision.autocast import spell_out_autocast


def product(node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """Return the operand to cast and the one that says the dtype, of a product of the table."""
    match node:
        case ast.Call(
            func=ast.Attribute(attr="einsum"),
            args=[_, ast.Name() as left, (ast.Name() | ast.Attribute()) as right],
        ):
            match ast.unparse(right):
                case "self.r":
                    return left, right
                case "target_mapping":
                    return right, left
    return None


def cast(node: ast.AST) -> list[Edit]:
    operands = product(node)
    assert operands is not None
    given, other = map(ast.unparse, operands)
    return [
        replace(
            operands[0], f"({given} if {spell_out_autocast(given)} else {given}.to({other}.dtype))"
        )
    ]


RULE = Rule(lambda node: product(node) is not None, cast, names=("einsum",), needs=("torch",))

SOURCE = "src/transformers/models/xlnet/modeling_xlnet.py"

PATCH = Patch(
    id="transformers-xlnet-two-stream-dtype",
    title="XLNet generates in half precision",
    affects={"transformers": ">=4.46.3"},
    changes=(
        Rewrite(
            "transformers.models.xlnet.modeling_xlnet:XLNetRelativeAttention.forward", RULE, sites=3
        ),
    ),
    upstream=("https://github.com/huggingface/transformers/blob/v5.23.0/" + SOURCE,),
    symptom="expected scalar type|have the same dtype, but got",
    messages=(
        "expected m1 and m2 to have the same dtype, but got: float != c10::BFloat16",
        "expected m1 and m2 to have the same dtype, but got: float != c10::Half",
    ),
)


def reproduce() -> None:
    """Generate with a tiny XLNet that was cast to bfloat16."""
    import torch
    import transformers

    from patchkit.authoring import device
    from patchkit.lab import shapes

    torch.manual_seed(0)
    config = transformers.XLNetConfig(vocab_size=64, d_model=16, n_layer=1, n_head=2, d_inner=16)
    shapes.generate(transformers.XLNetLMHeadModel(config).bfloat16().to(device()).eval())
