"""BEMA's moving average of a model in half precision does not follow it.

No error: the model that `BEMACallback` saves lags behind the training for good. Its average is
kept in the dtype of the parameters, and one update of it is a small share of the distance to them
(1% after 10,000 steps): in bfloat16 a change below 1/512 of a weight is rounded away, and with it
nearly every update.

Fix: the average and the starting point are kept in float32, as the model that they are written to
is in any case.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, insert_after

START = Pattern("T = P.detach().clone().to(self.device)")


def copies_in_dtype_of_parameter(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and START(node)


def copy_in_float32(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Assign)
    copied = ast.unparse(node.value).partition(".detach()")[0]
    return [insert_after(node.value, f".to(torch.promote_types({copied}.dtype, torch.float32))")]


PATCH = Patch(
    id="trl-bema-half-precision",
    title="BEMA averages the weights of a half-precision model in float32",
    affects={"trl": ">=0.22"},
    changes=(
        Rewrite(
            "trl.trainer.callbacks:BEMACallback.on_train_begin",
            Rule(copies_in_dtype_of_parameter, copy_in_float32, names=("detach", "clone")),
        ),
    ),
    upstream=(
        "https://github.com/huggingface/trl/pull/3855",
        "https://github.com/d8ahazard/sd_dreambooth_extension/pull/1415",
    ),
    symptom="moving average does not follow",
    caution="The two copies of a half-precision model take twice the memory, on the callback's "
    "device: the CPU, unless the user chose another.",
)


def reproduce() -> None:
    """Move a bfloat16 model by 0.5% and update the average 300 times."""
    from ._moving_averages import share_covered_by_bema

    covered = share_covered_by_bema("bfloat16", updates=300)
    assert covered > 0.9, f"the moving average does not follow: {covered:.0%} covered, not 97%"
