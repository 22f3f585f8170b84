"""A quantized model with a plain layer of your own cannot be loaded from where it was saved.

Such a layer is a head that you replaced (`model.classifier = torch.nn.Linear(...)`), or one that
PEFT trained with `modules_to_save` and left there when it merged. The saved configuration does not
name it, so loading expects packed weights. Transformers 5 puts the plain weight into a packed
layer, and the first forward raises `AssertionError` with `quantization state not initialized`, or
`'Parameter' object has no attribute 'CB'`. Transformers 4 raises `Cannot copy out of meta tensor;
no data!` in 4-bit, and in 8-bit packs what you had left plain, without a word.

Fix: `save_pretrained` of a model in 4-bit or 8-bit adds the plain layers that loading would pack to
`llm_int8_skip_modules` of its configuration. What is saved can be loaded with patchkit and without
it.

Why: the configuration is the only place that loading asks. A layer that Transformers keeps plain
anyway is not named, so the configuration of a model that nobody changed stays as it is.
"""

from patchkit.authoring import Patch, Wrap

from ._quantized_head import before_saving

PATCH = Patch(
    id="transformers-plain-layer-saved",
    title="A quantized model is saved with the names of its plain layers",
    affects={"transformers": ">=4.57.1", "bitsandbytes": ">=0.48.2"},
    changes=(Wrap("transformers.modeling_utils:PreTrainedModel.save_pretrained", before_saving),),
    upstream=(
        "https://github.com/huggingface/peft/issues/1720",
        "https://github.com/huggingface/transformers/pull/30779",
    ),
    symptom="a plain layer was saved, and a packed one was loaded|no data!|state not initialized"
    "|no attribute 'CB'",
    messages=(
        "Cannot copy out of meta tensor; no data!",
        "quantization state not initialized. Please call .cuda() or .to(device) on the",
        "'Parameter' object has no attribute 'CB'",
    ),
)


def reproduce() -> None:
    """Replace a layer of a model in 8-bit and in 4-bit, save the model and load it."""
    import torch

    from patchkit.lab import quantized

    for kind in ("8bit", "4bit"):
        model = quantized.load_tiny(kind)
        mlp = model.model.layers[0].mlp
        packed = mlp.up_proj
        mlp.up_proj = torch.nn.Linear(packed.in_features, packed.out_features, bias=False)
        mlp.up_proj.to(torch.bfloat16)
        layer = quantized.reload(model, dtype="bfloat16").model.layers[0].mlp.up_proj
        assert type(layer) is torch.nn.Linear, (
            "a plain layer was saved, and a packed one was loaded"
        )
        assert torch.equal(layer.weight, mlp.up_proj.weight)
