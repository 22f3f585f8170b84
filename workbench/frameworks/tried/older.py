"""Releases of frameworks that are a year old, each with the libraries of that year."""

from __future__ import annotations

from dataclasses import replace

from ..framework import Framework, Training
from . import llama_factory, ms_swift


def _older(framework: Framework, release: str) -> Framework:
    """Return a release as a framework of its own, which fine-tunes with LoRA."""
    return replace(
        framework,
        name=f"{framework.name}-{release}",
        title=f"{framework.title} {release}",
        version_set=f"{framework.version_set}-{release}",
        tasks={"sft": ("lora",)},
    )


def _swift_3(training: Training) -> list[str]:
    """Name the tuner as ms-swift did until 4.0."""
    words = ms_swift.FRAMEWORK.command(training)
    return ["--train_type" if word == "--tuner_type" else word for word in words]


FRAMEWORKS = (
    _older(llama_factory.FRAMEWORK, "0.9.4"),
    replace(_older(ms_swift.FRAMEWORK, "3.10.3"), command=_swift_3),
)
