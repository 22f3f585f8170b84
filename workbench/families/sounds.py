"""Make sound for any model that takes it, as waves or as their spectra."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .images import Batch, parameters

_SAMPLES = 4800
"""Of a wave: 0.3 seconds."""
_FRAMES = 64
_PARTS = (None, "audio_config", "encoder_config", "encoder")
_MEL = ("num_mel_bins", "input_feat_per_channel", "feature_projection_input_dim", "input_dim")


def sounds(model: Any, rows: int) -> Iterator[Batch]:
    """Yield sound for some rows, in each form that a model may take."""
    import torch

    wanted = parameters(model.forward)
    if "input_values" in wanted:
        yield {"input_values": torch.randn(rows, _SAMPLES)}
    if "input_features" in wanted:
        mel = int(_attribute(model, _MEL) or 80)
        longest = _attribute(model, ("max_source_positions",))
        if longest:  # some take a spectrum of one length only, twice that of the positions
            yield {"input_features": torch.randn(rows, mel, 2 * int(longest))}
        spectra = {"input_features": torch.randn(rows, _FRAMES, mel)}
        yield spectra | {"attention_mask": torch.ones(rows, _FRAMES, dtype=torch.long)}
        yield spectra
        yield {"input_features": torch.randn(rows, mel, _FRAMES)}


def _attribute(model: Any, names: tuple[str, ...]) -> Any:
    """Return the first of these attributes that a configuration or a part of it has."""
    for part in _PARTS:
        owner = getattr(model.config, part, None) if part else model.config
        for name in names:
            value = getattr(owner, name, None)
            if value is not None:
                return value
    return None
