"""fp16 training of half-precision parameters dies in the gradient scaler, with no word of help.

`ValueError: Attempting to unscale FP16 gradients.` (or, for bfloat16 gradients on CUDA,
`NotImplementedError: "_amp_foreach_non_finite_check_and_unscale_cuda" not implemented for
'BFloat16'`) comes up on the first step: the model was loaded in half precision and is fine-tuned
whole, or PEFT's `modules_to_save` are copies of half-precision modules, or some code cast the
adapters. Accelerate hands the parameters to the scaler without looking at them.

Fix: they are looked at when model and optimizer are prepared, and become float32 there, before
the optimizer has any state; or, by policy, training stops with their names. A batch norm whose
weights and statistics are then of several dtypes, or are bfloat16, becomes float32 as a whole: it
takes float16 beside no other.

Why: at `prepare` the scaler first gets the parameters, and no wrapper has sorted them into buckets
by dtype yet. The guard assigns `parameter.data` and never replaces a parameter. It does nothing if
the optimizer has state already, or if FSDP (whose scaler takes float16), DeepSpeed or Megatron
holds the parameters.
"""

from patchkit.authoring import Patch, Wrap
from patchkit.precision.gradscaler import GRADSCALER_GUARD, before_prepare

PATCH = Patch(
    id="accelerate-gradscaler-guard",
    title="fp16 training holds float32 trainable parameters",
    affects={"accelerate": ">=1.0.1"},
    changes=(
        Wrap("accelerate.accelerator:Accelerator.prepare", before_prepare),
        Wrap(
            "accelerate.accelerator:Accelerator.prepare_optimizer",
            before_prepare,
            parameters=("optimizer",),
        ),
    ),
    upstream=(
        "https://github.com/huggingface/peft/issues/341",
        "https://github.com/pytorch/pytorch/issues/127176",
    ),
    symptom="Attempting to unscale FP16 gradients|not implemented for 'BFloat16'",
    messages=(
        "Attempting to unscale FP16 gradients.",
        "\"_amp_foreach_non_finite_check_and_unscale_cuda\" not implemented for 'BFloat16'",
    ),
    caution="The upcast parameters take twice the memory, and so do their gradients and optimizer "
    "states. Where FSDP or DeepSpeed trains, nothing is done.",
    settings=(GRADSCALER_GUARD,),
)


def reproduce() -> None:
    """Fine-tune a float16 model whole, in fp16, with a bare Accelerator."""
    import torch
    from accelerate import Accelerator

    from patchkit.lab import cuda_fp16

    cuda_fp16.install()
    accelerator = Accelerator(mixed_precision="fp16")
    model = torch.nn.Linear(8, 8).half()
    model, optimizer = accelerator.prepare(model, torch.optim.AdamW(model.parameters(), lr=0.1))
    before = model.weight.detach().clone()
    loss = model(torch.ones(2, 8, device=accelerator.device)).float().pow(2).mean()
    accelerator.backward(loss)
    optimizer.step()
    assert model.weight.dtype == torch.float32, model.weight.dtype
    assert not torch.equal(model.weight, before)
