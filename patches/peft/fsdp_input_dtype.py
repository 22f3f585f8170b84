"""Under FSDP a model with adapters cannot generate: GRPO stops at its first prompt.

`RuntimeError: expected m1 and m2 to have the same dtype, but got: float != c10::BFloat16`. FSDP
computes in the dtype of the training, and keeps the weights of adapters in another one. In training
autocast brings the input to the dtype of the computation. `generate` calls the model below the
wrapper that turns autocast on. PEFT then casts the input of an adapter to the dtype in which its
weight is kept, and the weight that FSDP gathers for the product has that of the computation.

Fix: outside of autocast, the input of an adapter that is a unit of FSDP has the dtype in which
this unit computes. Where no process group is there, nothing is asked.

Why: autocast around `generate` would change the model's other operators, too. PEFT's wrap policy
makes each `lora_A` a unit of FSDP, and a unit knows the dtype in which it computes. So the one
function of PEFT that casts the input of adapters asks the unit. Under autocast it answers as
before.
"""

import ast
from typing import Any

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, replace

from ._sharded_adapters import dtype_of_computation

HAS_DTYPE = Pattern("X.dtype == dtype")


def compare_with_dtype_of_computation(node: ast.AST) -> list[Edit]:
    match node:
        case ast.Compare(left=ast.Attribute(value=ast.Name(x)), comparators=[wanted]):
            # torch.compile traces both, and most trainings have one process.
            alone = "not torch.distributed.is_available() or not torch.distributed.is_initialized()"
            module = f"torch.sys.modules[{dtype_of_computation.__module__!r}]"
            asked = f"{module}.dtype_of_computation(self, {x}, dtype)"
            return [replace(wanted, f"(dtype := dtype if {alone} else {asked})")]
    raise AssertionError(ast.dump(node))


RULE = Rule(HAS_DTYPE, compare_with_dtype_of_computation, names=("dtype", "to"), needs=("torch",))

PATCH = Patch(
    id="peft-fsdp-input-dtype",
    title="Under FSDP the input of an adapter has the dtype in which it computes",
    affects={"peft": ">=0.16"},
    changes=(Rewrite("peft.tuners.tuners_utils:BaseTunerLayer._cast_input_dtype", RULE),),
    # Arrow multiplies by the weights themselves, and calls no unit of FSDP.
    harmless={"peft.tuners.lora.arrow:ArrowLoraLinearLayer.*": ""},
    upstream=(
        "https://github.com/huggingface/peft/pull/2433",
        "https://github.com/huggingface/trl/issues/2796",
    ),
    symptom="to have the same dtype, but got",
    messages=("expected m1 and m2 to have the same dtype, but got:",),
)


def reproduce() -> None:
    """Call models with adapters below the wrapper of FSDP, as `generate` does."""
    import torch
    from torch import distributed

    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    try:
        for base, adapter in (("bfloat16", "float32"), ("float16", "bfloat16")):
            call_below_wrapper(getattr(torch, base), getattr(torch, adapter))
    finally:
        distributed.destroy_process_group()


def call_below_wrapper(base: Any, adapter: Any) -> None:
    """Call a model that FSDP computes in the dtype of its base, and not of its adapters."""
    import peft
    import torch
    from torch import nn
    from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision
    from torch.distributed.fsdp.wrap import CustomPolicy

    config = peft.LoraConfig(r=2, target_modules=["0"])
    model = peft.get_peft_model(nn.Sequential(nn.Linear(4, 4)).to(base), config)
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.data = parameter.data.to(adapter)
    wrapped = FullyShardedDataParallel(
        model,
        auto_wrap_policy=CustomPolicy(is_trained_layer),
        use_orig_params=True,
        mixed_precision=MixedPrecision(param_dtype=base),
        device_id=torch.device("cpu"),
    )
    inputs = torch.ones(1, 4, dtype=base)
    with torch.no_grad(), FullyShardedDataParallel.summon_full_params(wrapped, recurse=False):
        outputs = wrapped.module(inputs)
    assert outputs.dtype == base, outputs.dtype


def is_trained_layer(module: Any) -> bool:
    """Tell what PEFT's policy puts into units of their own."""
    weight = getattr(module, "weight", None)
    return not list(module.children()) and weight is not None and weight.requires_grad
