"""Names of Transformers that were kept for older scripts, and went with its fifth release."""

from __future__ import annotations

from collections.abc import Iterator

from ..changes import Change, Moved

_GONE = "transformers 5.0.0"
_AUTO = "transformers.models.auto.modeling_auto"
_ARCHITECTURES = (
    "DecoderOnlyOutput",
    "EncoderDecoderOutput",
)
_OUTPUTS = {
    "Greedy": ("GreedySearch", "ContrastiveSearch", "Sample"),
    "Beam": ("BeamSearch", "BeamSample"),
}
_IMAGES = (
    "Beit",
    "CLIP",
    "ChineseCLIP",
    "ConditionalDetr",
    "ConvNext",
    "DPT",
    "DeformableDetr",
    "DeiT",
    "Detr",
    "Donut",
    "Flava",
    "GLPN",
    "ImageGPT",
    "LayoutLMv2",
    "LayoutLMv3",
    "Levit",
    "MaskFormer",
    "MobileNetV1",
    "MobileNetV2",
    "MobileViT",
    "OwlViT",
    "Perceiver",
    "PoolFormer",
    "Segformer",
    "ViT",
    "VideoMAE",
    "Vilt",
    "Yolos",
)
"""Models whose image processor was called a feature extractor."""
_HERE = {
    "infer_auto_device_map": "accelerate.infer_auto_device_map",
    "init_empty_weights": "accelerate.init_empty_weights",
    "dispatch_model": "accelerate.dispatch_model",
    "get_balanced_memory": "accelerate.utils.get_balanced_memory",
    "load_sharded_checkpoint": "transformers.trainer_utils.load_sharded_checkpoint",
    "CONFIG_NAME": "transformers.utils.CONFIG_NAME",
    "is_peft_available": "transformers.utils.is_peft_available",
    "is_safetensors_available": (
        "patchkit.legacy.replacements.availability.is_safetensors_available"
    ),
}
"""What `transformers.modeling_utils` imported from elsewhere."""


def _moved() -> Iterator[tuple[str, str]]:
    for family in _IMAGES:
        yield f"transformers.{family}FeatureExtractor", f"transformers.{family}ImageProcessor"
    for kind, searches in _OUTPUTS.items():
        for search in searches:
            for architecture in _ARCHITECTURES:
                beam = "Beam" if kind == "Beam" else ""
                to = f"transformers.generation.Generate{beam}{architecture}"
                yield f"transformers.generation.{search}{architecture}", to
                yield f"transformers.generation.utils.{search}{architecture}", to
    for name, to in _HERE.items():
        yield f"transformers.modeling_utils.{name}", to
    yield (
        f"{_AUTO}.MODEL_FOR_VISION_2_SEQ_MAPPING_NAMES",
        f"{_AUTO}.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES",
    )
    yield "transformers.trainer.nested_concat", "transformers.trainer_pt_utils.nested_concat"
    yield "transformers.trainer.nested_numpify", "transformers.trainer_pt_utils.nested_numpify"


ROWS: tuple[Change, ...] = tuple(Moved(name=name, to=to, gone=_GONE) for name, to in _moved())
