"""`cast_lm_head_to_fp32=True` computes the logits of GRPO in bfloat16 all the same.

No error: the head's weights are float32 and its input is cast to float32, as the option says, but
the forward that trains runs under autocast, and autocast makes both bfloat16 (or float16) again
before they are multiplied. Log-probabilities are as coarse as without the option, while generation,
which runs without autocast, has the float32 logits: the very mismatch that the option is for.

Fix: the head runs outside of autocast.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, helper, replace

HOOK = Pattern("M.lm_head.register_forward_pre_hook(F)")
HELPERS = f"{__package__}._lm_head"


def runs_under_autocast(node: ast.AST) -> bool:
    """Match where the head gets a hook that casts its input, or a forward that casts both."""
    match node:
        case ast.Expr(value=call):
            return HOOK(call)
        case ast.Assign(
            targets=[ast.Attribute(value=ast.Name(id="lm_head"), attr="forward")], value=ast.Name()
        ):
            return True
    return False


def run_outside(node: ast.AST) -> list[Edit]:
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=head), args=[hook])):
            cast = helper(f"{HELPERS}:cast_input_outside_autocast")
            return [replace(node, f"{cast}({ast.unparse(head)}, {ast.unparse(hook)})")]
        case ast.Assign(value=ast.Name(id=forward) as value):
            return [replace(value, helper(f"{HELPERS}:WithoutAutocast") + f"({forward})")]
    raise AssertionError(ast.dump(node))


PATCH = Patch(
    id="trl-fp32-lm-head-autocast",
    title="A head cast to float32 computes in float32",
    affects={"trl": ">=0.25,<1.15"},
    # From there on the loss multiplies with the head's weight itself; its forward is not called.
    harmless={"trl.trainer.grpo_trainer:GRPOTrainer.__init__": ">=1.15"},
    changes=(
        Rewrite(
            "trl.trainer.grpo_trainer:GRPOTrainer.__init__",
            Rule(runs_under_autocast, run_outside, names=("lm_head", "cast_lm_head_to_fp32")),
        ),
    ),
    upstream=(
        "https://github.com/huggingface/trl/pull/4303",
        "https://github.com/huggingface/trl/pull/7077",
    ),
    symptom="logits of a float32 head are rounded to bfloat16",
    caution="The head's matrix products take the time and memory of float32, which the option "
    "asks for.",
)


def reproduce() -> None:
    """Look at the head's output in a bf16 step of GRPO with the option."""
    from ._lm_head import trained_logits_dtypes

    dtypes = trained_logits_dtypes(cast_lm_head_to_fp32=True)
    if not dtypes:
        raise RuntimeError("the loss does not call the head here: nothing is known of its dtype")
    rounded = dtypes - {"float32"}
    assert not rounded, f"logits of a float32 head are rounded to {', '.join(sorted(rounded))}"
