"""On a CPU, training with the default loss stops before its first step.

`AttributeError: 'NoneType' object has no attribute 'apply'`, from the SFT, DPO, KTO, GRPO or RLOO
trainer, or `ModuleNotFoundError: No module named 'triton'` from the distillation trainer: the
losses are computed by Triton kernels, and TRL 1.15.0 has nothing else for a device or a platform
without Triton. 1.14 computed them in torch, and 1.16 does again.

Fix: where Triton is missing, or the model does not lie on a GPU, the same numbers are computed in
torch. On a GPU with Triton the kernels run as before. A model that a trainer was made with before
`apply()` keeps what it has.

Why: the patch replaces the call of the kernel, not the loss. As in the kernel, logits exist for one
stretch of tokens at a time, and the backward pass computes them again.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, helper, operand, replace, span

# 1.16 asks for the device in the first argument; up to 1.14 there is one argument less.
LOG_PROBS = Pattern("_ChunkedLogProbFunction.apply(H[M], W, B, L[M], T, C, S, G, O)")
DIVERGENCE = Pattern("ChunkedDivergenceFunction.apply")
HELPERS = f"{__package__}._fused_loss"


def makes_fused_forward(node: ast.AST) -> bool:
    """Match a function in which another one is defined that runs the kernel."""
    match node:
        case ast.FunctionDef(body=body):
            inner = [statement for statement in body if isinstance(statement, ast.FunctionDef)]
            return any(map(LOG_PROBS.within, inner))
    return False


def run_kernel_on_gpu_only(node: ast.AST) -> list[Edit]:
    (call,) = filter(LOG_PROBS, ast.walk(node))
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Attribute)
    kernel, weight = operand(call.func.value), operand(call.args[1])
    # The choice is spelled out, so that a compiled forward on a GPU has no new operations.
    runs = f"{kernel} is not None and {weight}.device.type in ('cuda', 'xpu')"
    fallback = helper(f"{HELPERS}:log_probs")
    return [replace(call.func, f"({kernel}.apply if {runs} else {fallback})")]


def imports_divergence_kernel(node: ast.AST) -> bool:
    match node:
        case ast.FunctionDef(body=body):
            return any(map(_kernel_import, body)) and DIVERGENCE.within(node)
    return False


def _kernel_import(node: ast.AST) -> bool:
    match node:
        case ast.ImportFrom(module="kernels.chunked_divergence"):
            return True
    return False


def import_kernel_on_gpu_only(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.FunctionDef)
    runs = helper(f"{HELPERS}:has_kernels_for") + "(student_lm_head_weight)"
    fallback = helper(f"{HELPERS}:divergence")
    (statement,) = filter(_kernel_import, node.body)
    (kernel,) = filter(DIVERGENCE, ast.walk(node))
    assert isinstance(statement, ast.ImportFrom)
    assert isinstance(kernel, ast.Attribute)
    start, _ = span(statement)
    return [
        Edit(start, start, f"if {runs}: "),
        replace(kernel, f"({ast.unparse(kernel)} if {runs} else {fallback})"),
    ]


PATCH = Patch(
    id="trl-fused-loss-without-triton",
    title="The default losses train on a CPU and without Triton",
    affects={"trl": ">=1.15,<1.16"},
    changes=(
        Rewrite(
            "trl.trainer.utils:add_fused_lm_head",
            Rule(
                makes_fused_forward,
                run_kernel_on_gpu_only,
                names=("_ChunkedLogProbFunction", "apply"),
            ),
        ),
        Rewrite(
            "trl.trainer.distillation_trainer:_chunked_divergence_loss",
            Rule(
                imports_divergence_kernel,
                import_kernel_on_gpu_only,
                names=("ChunkedDivergenceFunction", "apply"),
            ),
        ),
    ),
    upstream=(
        "https://github.com/huggingface/trl/issues/7244",
        "https://github.com/huggingface/trl/pull/7253",
    ),
    symptom="'NoneType' object has no attribute 'apply'|from Triton|active drivers",
    messages=("'NoneType' object has no attribute 'apply'",),
)


def reproduce() -> None:
    """Train SFT on the CPU with its default loss; an installed Triton has no kernel for it."""
    from patchkit.authoring import train_in_temporary_folder

    result = train_in_temporary_folder(
        "sft", precision="fp32", quantization="none", steps=2, args={"use_cpu": True}
    )
    assert result.changed, result
