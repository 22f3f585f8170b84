"""Batched generation leaves the model that is being trained in half precision.

Under fp16 the first optimizer step of GRPO, RLOO or Online DPO raises `Attempting to unscale FP16
gradients.`; under bf16 training goes on in bfloat16 weights, which round most small updates away.
It happens with `use_transformers_continuous_batching=True` (`use_transformers_paged` in earlier
releases): the trainer calls `.to()` on the model before it generates, and `.to()` is in place.

Fix: the cast becomes a context manager beside the others that surround generation, and hands
every parameter its own tensor back at the end.

Why: without any cast, full fine-tuning fails: the cache follows the model's dtype, but
`generate_batch` runs in a thread of its own, which autocast does not reach. Buffers are left alone,
because rotary frequencies that were rounded to half precision do not come back. The cost is two
bytes for each parameter that is cast, while generation lasts.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, drop, helper, insert_after

TO_BFLOAT16 = Pattern("M.to(torch.bfloat16)")
TO_FLOAT16 = Pattern("M.to(torch.float16)")
IF_BF16 = Pattern("self.args.bf16")
IF_FP16 = Pattern("self.args.fp16")


def casts_model(node: ast.AST) -> bool:
    """Match `if bf16: cast`, `elif fp16: cast` of one model."""
    match node:
        case ast.If(
            test=bf16,
            body=[ast.Expr(value=first)],
            orelse=[ast.If(test=fp16, body=[ast.Expr(value=second)], orelse=[])],
        ):
            return (
                IF_BF16(bf16)
                and TO_BFLOAT16(first)
                and IF_FP16(fp16)
                and TO_FLOAT16(second)
                and _cast_model(first) == _cast_model(second)
            )
    return False


def _cast_model(call: ast.AST) -> str:
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Attribute)
    return ast.unparse(call.func.value)


def generation_under_cast(node: ast.AST) -> bool:
    """Match a `with` block in which the model is cast first."""
    match node:
        case ast.With(body=[first, *_]):
            return casts_model(first)
    return False


def cast_for_block_only(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.With)
    first = node.body[0]
    assert isinstance(first, ast.If)
    assert isinstance(first.body[0], ast.Expr)
    model = _cast_model(first.body[0].value)
    manager = helper(f"{__package__}._generation:half_precision_for_generation")
    last = node.items[-1]
    return [
        insert_after(last.optional_vars or last.context_expr, f", {manager}({model}, self.args)"),
        drop(first),
    ]


RULE = Rule(generation_under_cast, cast_for_block_only, names=("bfloat16", "generate_batch"))

KNOWN = {
    "trl.trainer.grpo_trainer:GRPOTrainer._generate_and_score_completions": ">=0.20,<0.24",
    "trl.trainer.grpo_trainer:GRPOTrainer._generate_single_turn": ">=0.24",
    "trl.trainer.rloo_trainer:RLOOTrainer._generate_and_score_completions": ">=0.22,<0.24",
    "trl.trainer.rloo_trainer:RLOOTrainer._generate_single_turn": ">=0.24",
    "trl.trainer.online_dpo_trainer:OnlineDPOTrainer._generate": ">=0.23,<0.26",
    "trl.experimental.online_dpo.online_dpo_trainer:OnlineDPOTrainer._generate": ">=0.26,<1.2",
}

PATCH = Patch(
    id="trl-generation-cast",
    title="Batched generation gives the trained parameters back as it found them",
    affects={"trl": ">=0.20"},
    changes=tuple(Rewrite(target, RULE, affects=versions) for target, versions in KNOWN.items()),
    upstream=(
        "https://github.com/huggingface/trl/pull/3471",
        "https://github.com/huggingface/trl/pull/5765",
    ),
    symptom="Attempting to unscale FP16 gradients",
    messages=("Attempting to unscale FP16 gradients.",),
    caution="While it generates, the model takes two more bytes for each parameter that is cast; "
    "upstream takes none, since it keeps no float32 weights to go back to. Buffers stay as they "
    "are.",
)


def reproduce() -> None:
    """Train GRPO in fp16 with continuous batching, which runs on a CPU as well."""
    import patchkit

    from ._generation import train_with_batched_generation

    # TRL 1.15 computes no loss without Triton, which is another bug.
    with patchkit.patched(only="trl-fused-loss-without-triton"):
        result = train_with_batched_generation("grpo", precision="fp16")
    assert set(result.trainable_dtypes_after) == {"float32"}, result
