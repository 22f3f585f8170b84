"""Processors of images and sounds, without torchvision."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import tiny

IMAGES = ("ViT", "CLIP", "ConvNext", "Deit", "Blip", "Detr", "SegFormer")


def _image(width: int = 40, height: int = 30) -> Any:
    import numpy
    from PIL import Image

    return Image.fromarray(
        numpy.arange(width * height * 3, dtype="uint8").reshape(height, width, 3)
    )


def images() -> Iterator[tuple[str, Any]]:
    import transformers

    for name in ("ViT", "CLIP", "ConvNext", "DeiT", "Blip"):
        made = getattr(transformers, f"{name}ImageProcessor")()
        found = made(_image())
        yield f"{name} one", found
        yield f"{name} inside", type(found["pixel_values"][0]).__name__
        yield f"{name} tensors", made([_image(), _image(20, 50)], return_tensors="pt")
        settings = made.to_dict()
        yield (
            f"{name} settings",
            {
                key: settings.get(key, "no such key")
                for key in (
                    "size",
                    "crop_size",
                    "do_resize",
                    "do_center_crop",
                    "do_rescale",
                    "do_normalize",
                    "resample",
                    "rescale_factor",
                    "image_mean",
                    "image_std",
                    "do_convert_rgb",
                )
            },
        )
        for key in ("size", "image_mean", "crop_size"):
            yield f"{name}.{key}", tiny.read(made, key)
        size = made.size
        yield f"{name} in its size", ["height" in size, "shortest_edge" in size]
        yield f"{name} size's own keys", sorted(map(str, size))
        yield f"{name} size, got", [size.get("height"), size.get("shortest_edge"), size.get("x", 3)]
        yield f"{name} size as a dict", dict(size)


def saved_images() -> Iterator[tuple[str, Any]]:
    import transformers

    made = transformers.ViTImageProcessor(size={"height": 16, "width": 16})
    made.save_pretrained("images")
    yield "files", tiny.files("images")
    yield "keys", tiny.keys_of("images/preprocessor_config.json")
    again = transformers.AutoImageProcessor.from_pretrained("images")
    yield "shape", again(_image(), return_tensors="pt")["pixel_values"]


def sounds() -> Iterator[tuple[str, Any]]:
    import numpy
    import transformers

    sound = numpy.zeros(1600, dtype="float32")
    made = transformers.WhisperFeatureExtractor(feature_size=4)
    yield "Whisper", made(sound, sampling_rate=16000)
    yield "Whisper tensors", made([sound, sound], sampling_rate=16000, return_tensors="pt")
    made = transformers.Wav2Vec2FeatureExtractor()
    yield "Wav2Vec2", made(sound, sampling_rate=16000)
    yield (
        "Wav2Vec2 padded",
        made([sound, sound[:800]], sampling_rate=16000, padding=True, return_tensors="pt"),
    )


def together() -> Iterator[tuple[str, Any]]:
    import transformers

    made = transformers.CLIPProcessor(transformers.CLIPImageProcessor(), _clip_tokenizer())
    yield "both", made(text=["a cat"], images=_image(), return_tensors="pt", padding=True)
    yield "text", made(text=["a cat"])
    yield "names", made.model_input_names
    yield "tokenizer", tiny.read(made, "tokenizer")
    made.save_pretrained("both")
    yield "files", tiny.files("both")
    for name in ("feature_extractor", "image_processor"):
        yield name, tiny.read(made, name)


def _clip_tokenizer() -> Any:
    import json
    from pathlib import Path

    import transformers

    Path("clip").mkdir(exist_ok=True)
    letters = sorted(set("acegtdo"))
    words = [
        "<|startoftext|>",
        "<|endoftext|>",
        *letters,
        *(f"{letter}</w>" for letter in letters),
        "ca",
        "cat</w>",
    ]
    Path("clip/vocab.json").write_text(
        json.dumps({word: number for number, word in enumerate(words)})
    )
    Path("clip/merges.txt").write_text("#version: 0.2\nc a\nca t</w>\n")
    return transformers.CLIPTokenizerFast.from_pretrained("clip")
