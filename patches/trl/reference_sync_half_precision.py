"""A reference model or teacher in half precision does not follow the model that is trained.

No error, with `sync_ref_model=True` and a small `ref_model_mixup_alpha`, or with the EMA teacher of
SDPO and SDFT (`teacher_update_rate` is 0.05 and less): each synchronization moves the reference by
a share of its distance to the model, and in bfloat16 a move below 1/512 of a weight is rounded
away. At 0.05 a weight that has changed by less than some 4% never arrives, and few change as much.

Fix: the average is carried on in float32 beside the reference, which gets it rounded. Above 0.5 no
more than a unit in the last place is lost, and nothing is changed.

Why: a float32 copy costs memory, which stochastic rounding would not; but with that no two runs
would agree. TRL's default share, 0.6, is above 0.5 and gives the same bits as before. The copy is
held in a weak dictionary, and is freed with its model.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, helper, replace

UPDATE = Pattern("T.data.mul_(1.0 - A).add_(C.data, alpha=A)")


def updates_in_place(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and UPDATE(node)


def update_in_float32(node: ast.AST) -> list[Edit]:
    match node:
        case ast.Call(
            func=ast.Attribute(
                value=ast.Call(func=ast.Attribute(value=ast.Attribute(value=target)))
            ),
            args=[ast.Attribute(value=source)],
            keywords=[ast.keyword(value=alpha)],
        ):
            arguments = ", ".join(map(ast.unparse, (target, source, alpha)))
            move = helper(f"{__package__}._reference_average:move_towards")
            return [replace(node, f"{move}({arguments})")]
    raise AssertionError(ast.dump(node))


PATCH = Patch(
    id="trl-reference-sync-half-precision",
    title="A half-precision reference model follows the trained one",
    affects={"trl": ">=0.12"},
    changes=(
        Rewrite(
            "trl.trainer.callbacks:SyncRefModelCallback._sync_target_model",
            Rule(updates_in_place, update_in_float32, names=("mul_", "add_")),
        ),
    ),
    upstream=(
        "https://github.com/huggingface/trl/pull/1593",
        "https://github.com/huggingface/trl/pull/4935",
    ),
    symptom="reference model does not follow",
    caution="With an alpha of 0.5 or less, a half-precision reference model takes four more bytes "
    "for each parameter.",
)


def reproduce() -> None:
    """Move a bfloat16 model by 0.5% and synchronize its reference 100 times at 0.05."""
    from ._moving_averages import share_covered_by_reference

    covered = share_covered_by_reference("bfloat16", alpha=0.05, updates=100)
    assert covered > 0.9, f"the reference model does not follow: {covered:.0%} covered, not 99%"
