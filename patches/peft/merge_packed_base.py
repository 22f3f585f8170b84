"""Merging an adapter into an 8-bit or 4-bit base loses the adapter, or stops.

HRA and C3A merged into an 8-bit base: nothing is raised, and the merged model computes what the
base does, as if it had never been trained, or nonsense. Others stop: `result type Float can't be
cast to the desired output type Char` (LoHa, LoKr, FourierFT, WaveFT, GraLoRA and VB-LoRA, 8-bit),
`The size of tensor a (2048) must match the size of tensor b (64)` (the last four and C3A, 4-bit).
These layers add to `weight.data`, and what stands in a quantized weight are packed bytes; an 8-bit
layer goes on with its own copy of them.

Fix: while such a layer is merged or unmerged, its base has a plain weight, with the values of the
packed one in float32. The result is quantized again, as LoRA does it.
"""

from patchkit.authoring import Patch, Wrap

from ._plain_base import with_plain_base

LAYERS = {
    "peft.tuners.c3a.layer:C3ALinear": "",
    "peft.tuners.delora.layer:DeloraLinear": ">=0.18",
    "peft.tuners.fourierft.layer:FourierFTLinear": "",
    "peft.tuners.gralora.layer:Linear": ">=0.19",
    "peft.tuners.hra.layer:HRALinear": "",
    "peft.tuners.lycoris_utils:LycorisLayer": "",
    "peft.tuners.vblora.layer:Linear": "",
    "peft.tuners.waveft.layer:WaveFTLinear": ">=0.18",
}
"""To the releases that have the layer; all for none."""

PATCH = Patch(
    id="peft-merge-packed-base",
    title="Adapters that know plain weights only are merged into the values of quantized ones",
    affects={"peft": ">=0.17.1", "bitsandbytes": ">=0.48.2"},
    changes=tuple(
        Wrap(f"{layer}.{method}", with_plain_base, affects=affects)
        for layer, affects in LAYERS.items()
        for method in ("merge", "unmerge")
    ),
    upstream=("https://github.com/huggingface/peft/issues/2105",),
    symptom="the logits of the merged model are off by|output type Char|match the size of tensor",
    messages=(
        "result type Float can't be cast to the desired output type Char",
        "must match the size of tensor b",
    ),
    caution="Merged weights are quantized and rounded again. In 4-bit that can be more "
    "than a small adapter has changed, as with LoRA.",
)


def reproduce() -> None:
    """Merge a C3A adapter that changes the logits by their own size into an 8-bit base."""
    import peft
    import torch

    from patchkit.lab import quantized, shapes

    model = quantized.load_tiny("8bit").eval()
    config = peft.C3AConfig(block_size=16, target_modules=["q_proj", "up_proj"])
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(0)
        adapted = peft.get_peft_model(model, config)
        for name, parameter in adapted.named_parameters():
            if "c3a_kernel" in name:
                parameter.normal_(std=10)
        before = shapes.forward(adapted)
        merged = shapes.forward(adapted.merge_and_unload())
    error = ((merged - before).norm() / before.norm()).item()
    assert error < 0.2, f"the logits of the merged model are off by {error:.2f}, relative"
