"""A head of another dtype than the model before it stops the forward where no autocast is on.

`RuntimeError: expected m1 and m2 to have the same dtype, but got: c10::BFloat16 != float`: the head
is float32 on a half-precision model, for precise logits, or since PEFT trains it
(`modules_to_save`, which takes `score` and `classifier` unasked); or it is in half precision, and
the hidden states are float32 after `prepare_model_for_kbit_training`.

Fix: the hidden states are brought to the dtype of the head's weight. So the logits have that
dtype.

Why: only a call that would have raised is changed. A head whose `forward` is not torch's own casts
for itself and is left alone.
"""

from patchkit.authoring import Patch, Rewrite
from patchkit.precision.input_rule import layer_input_rule

HEADS = ("lm_head", "score", "classifier", "qa_outputs")
MODULES = ("transformers.models.*.modeling_*", "transformers.modeling_layers")
RULES = {head: layer_input_rule(head) for head in HEADS}

PATCH = Patch(
    id="transformers-lm-head-dtype",
    title="A head of another dtype than the model gives logits in its own dtype",
    affects={"transformers": ">=4.46.3"},
    changes=tuple(
        Rewrite(f"{modules}:*.forward", rule, sites=None)
        for modules in MODULES
        for rule in RULES.values()
    ),
    # Routers cast for themselves, and multiply in no head's dtype.
    harmless={"transformers.models.*:*Top1Router._compute_router_probabilities": ""},
    upstream=(
        "https://github.com/huggingface/trl/pull/6330",
        "https://github.com/NVIDIA-NeMo/Automodel/pull/3491",
        "https://github.com/unslothai/unsloth-zoo/pull/462",
    ),
    symptom="have the same dtype, but got",
    messages=(
        "expected m1 and m2 to have the same dtype, but got:",
        "mat1 and mat2 must have the same dtype, but got",
    ),
)


def reproduce() -> None:
    """Give a tiny bfloat16 Llama a float32 head."""
    import torch

    from patchkit.authoring import device
    from patchkit.lab import shapes

    model = shapes.build("llama").bfloat16().to(device())
    model.lm_head.float()
    logits = shapes.forward(model)
    assert logits.dtype == torch.float32, logits.dtype
