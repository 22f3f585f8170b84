"""With label smoothing the loss of a float16 model is `inf`.

Seen as `eval_loss: inf` under `fp16_full_eval`, or as an infinite training loss of a model that
computes in float16 without autocast: the negative log-likelihoods of all tokens of a batch are
added up in the dtype of the logits, and float16 ends at 65504. A batch of 64 x 256 tokens at a loss
of 4 is enough. In bfloat16 the sum is rounded to three digits.

Fix: the sum is float32, as that of the smoothed part has been since an earlier report.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, replace

MEAN = Pattern("N = N.sum() / D")


def averages_in_dtype_of_logits(node: ast.AST) -> bool:
    match node:
        case ast.Assign(targets=[ast.Name(id="nll_loss")]):
            return MEAN(node)
    return False


def sum_in_float32(node: ast.AST) -> list[Edit]:
    match node:
        case ast.Assign(value=ast.BinOp(left=ast.Call(func=ast.Attribute(value=losses)) as total)):
            name = ast.unparse(losses)
            dtype = f"torch.promote_types({name}.dtype, torch.float32)"
            return [replace(total, f"{name}.sum(dtype={dtype})")]
    raise AssertionError(ast.dump(node))


PATCH = Patch(
    id="transformers-label-smoothing-overflow",
    title="Label smoothing adds up losses in float32",
    affects={"transformers": ">=4.46.3"},
    changes=(
        Rewrite(
            "transformers.trainer_pt_utils:LabelSmoother.__call__",
            Rule(averages_in_dtype_of_logits, sum_in_float32, names=("masked_fill_", "sum")),
        ),
    ),
    upstream=("https://github.com/huggingface/transformers/issues/10674",),
    symptom="the loss of finite logits is inf",
    caution="The loss of a bfloat16 model is no longer rounded to bfloat16.",
)


def reproduce() -> None:
    """Evaluate a model in float16 with label smoothing, on 4096 tokens at a loss of about 40."""
    import math

    from ._label_smoothing import half_precision_evaluation_loss

    loss = half_precision_evaluation_loss("float16")
    assert math.isfinite(loss), f"the loss of finite logits is {loss}"
