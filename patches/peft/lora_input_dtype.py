"""A LoRA layer on a half-precision base dies of a float32 input where no autocast is on.

`RuntimeError: expected m1 and m2 to have the same dtype, but got: float != c10::BFloat16` (with a
bias `mat1 and mat2 must have the same dtype`, in a convolution `Input type (float) and bias type
(c10::BFloat16) should be the same`). PEFT brings the input to the dtype of the adapter, and hands
the base layer what came in: float32 from a norm that is kept in float32, from an embedding, or from
pixels.

Fix: what the base layer is handed has the dtype of its weight. The adapter still gets the input as
it came. The output has the dtype that the base layer gives: that of its weight, merged or not, with
adapters enabled or not; quantized layers cast for themselves and keep upstream's.

Why: only a call that would have raised is changed. A base layer whose `forward` is not torch's own
casts for itself and is left alone.
"""

from patchkit.authoring import Patch, Rewrite
from patchkit.precision.input_rule import layer_input_rule

# MultiheadAttention is left out by the name: it has three inputs, none of them called x.
RULE = layer_input_rule("base_layer", "in_dtype_of_base", given=("x",))

PATCH = Patch(
    id="peft-lora-input-dtype",
    title="LoRA layers take an input of another dtype than their base weight",
    affects={"peft": ">=0.15"},
    changes=(
        Rewrite("peft.tuners.lora.layer:Linear.forward", RULE, sites=None),
        Rewrite("peft.tuners.lora.layer:_ConvNd.forward", RULE, sites=None),
        Rewrite("peft.tuners.lora.layer:LoraLayer._mixed_batch_forward", RULE, sites=None),
        # Layers of other kinds, and those that a later release adds.
        Rewrite("peft.tuners.lora.layer:*.forward", RULE, sites=None),
        Rewrite("peft.tuners.lora.layer:*._mixed_batch_forward", RULE, sites=None),
    ),
    upstream=(
        "https://github.com/huggingface/peft/issues/1515",
        "https://github.com/huggingface/transformers/issues/30914",
        "https://github.com/NVIDIA-NeMo/Automodel/pull/1622",
    ),
    symptom="have the same dtype, but got",
    messages=(
        "expected m1 and m2 to have the same dtype, but got:",
        "mat1 and mat2 must have the same dtype, but got",
    ),
)


def reproduce() -> None:
    """Give a bfloat16 layer with LoRA float32, forward and backward."""
    import peft
    import torch

    from patchkit.authoring import device

    base = torch.nn.Sequential(torch.nn.Linear(16, 16, bias=False)).bfloat16().to(device())
    model = peft.get_peft_model(base, peft.LoraConfig(r=4, target_modules=["0"]))
    x = torch.randn(2, 16, device=device(), requires_grad=True)
    output = model(x)
    output.sum().backward()
    assert output.dtype == torch.bfloat16, output.dtype
    assert x.grad is not None
