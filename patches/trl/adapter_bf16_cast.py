"""fp16 QLoRA dies on its first optimizer step.

`NotImplementedError: "_amp_foreach_non_finite_check_and_unscale_cuda" not implemented for
'BFloat16'`: the trainer gave every trainable parameter of a quantized model bfloat16, whatever
precision was asked for, and `GradScaler` cannot unscale the bfloat16 gradients that follow.

Fix: the cast happens only where training is in bfloat16 and either the user chose it or the
parameters are sharded. Else adapters keep the float32 that PEFT gave them, which is what mixed
precision wants of the parameters that the optimizer holds.

Why: the loss of bf16 runs with float32 adapters is the same within bfloat16's noise, and updates
below 1/256 of a weight are not rounded away. Unsloth, too, ended by dropping the cast, after it had
tried a conditional one (unslothai/unsloth#4005).

Sharded parameters keep upstream's cast, because of what PyTorch demands. This was measured with two
processes on a CPU (torch 2.13.0, Accelerate 1.15.0, DeepSpeed 0.19.8):

- FSDP needs one dtype over all parameters of a flat group, frozen ones included, and raises when it
  wraps: `Must flatten tensors with uniform dtype but got torch.bfloat16 and torch.float32`. PEFT's
  wrap policy hides this for plain LoRA, whose layers get groups of their own.
  `trainable_token_indices`, LoRA on an embedding and (IA)3 fail without the cast.
- FSDP2 needs one dtype among the parameters that a group trains, and raises in the first forward:
  `FSDP expects uniform original parameter dtype`.
- DDP accepts a mixture.
- DeepSpeed with bf16 or fp16 casts the module itself. Without either, ZeRO-2 and ZeRO-3 fail on a
  mixture.

FSDP2 in fp16 is the exception: its plain `GradScaler` cannot take a step with bfloat16 gradients,
so the adapters stay float32. Both the arguments and the environment variable are checked for FSDP:
Transformers 5 sets no variable for `TrainingArguments(fsdp=...)`, and a launcher sets no argument.
"""

import ast

from patchkit.authoring import Edit, Patch, Rewrite, Rule, helper, insert_after, mentions
from patchkit.precision.adapters import ADAPTER_CAST

from ._bfloat16_cast import ALL_NAMED_PARAMETERS, ALL_PARAMETERS, CAST, TRAINERS

CONDITION = "should_cast_adapters"


def forced_cast(node: ast.AST) -> bool:
    """Match an `if` that does nothing but cast parameters, unconditionally."""
    match node:
        case ast.If(test=test, body=[ast.For(iter=parameters) as loop], orelse=[]):
            return (
                (ALL_PARAMETERS(parameters) or ALL_NAMED_PARAMETERS(parameters))
                and CAST.within(loop)
                and not (mentions(test, "bf16") or mentions(test, CONDITION))
            )
    return False


def require_wanted_cast(node: ast.AST) -> list[Edit]:
    # The line of the `if` stays as it is: Unsloth looks for its text.
    assert isinstance(node, ast.If)
    assert isinstance(node.body[0], ast.For)
    condition = helper(f"patchkit.precision.adapters:{CONDITION}") + "(args)"
    return [insert_after(node.body[0].iter, f" if {condition} else ()")]


RULE = Rule(forced_cast, require_wanted_cast, names=("bfloat16", "data"))

PATCH = Patch(
    id="trl-adapter-bf16-cast",
    title="QLoRA adapters keep the dtype PEFT gave them",
    affects={"trl": ">=0.26"},
    changes=(
        *(Rewrite(target, RULE, affects=versions) for target, versions in TRAINERS.items()),
        # A trainer that a later release adds and that has the same cast.
        Rewrite("trl.*_trainer:*Trainer.__init__", RULE),
    ),
    upstream=(
        "https://github.com/huggingface/trl/issues/4901",
        "https://github.com/pytorch/pytorch/issues/127176",
        "https://github.com/unslothai/unsloth/pull/4005",
    ),
    symptom="not implemented for 'BFloat16'",
    messages=("\"_amp_foreach_non_finite_check_and_unscale_cuda\" not implemented for 'BFloat16'",),
    caution="bf16 runs keep float32 adapters too: twice the memory for them, their gradients and "
    'their optimizer states. `apply(adapter_cast="bf16")` leaves upstream\'s cast in place there.',
    settings=(ADAPTER_CAST,),
)


def reproduce() -> None:
    """Train three fp16 QLoRA steps; the reward trainer's loss needs no Triton in any release."""
    from patchkit.authoring import train_in_temporary_folder

    result = train_in_temporary_folder("reward", precision="fp16", quantization="4bit")
    assert set(result.trainable_dtypes_after) == {"float32"}, result
    assert result.changed, result
