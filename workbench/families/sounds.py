"""Make sound for any model that takes it, as waves or as their spectra."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .images import Batch, count_places, parameters

_SAMPLES = 4800
"""Of a wave: 0.3 seconds."""
_FRAMES = 64
_PARTS = (None, "audio_config", "encoder_config", "encoder")
_MEL = ("num_mel_bins", "input_feat_per_channel", "feature_projection_input_dim", "input_dim")
_TAKE = "get_audio_features"
_MASKS = ("input_features_mask", "padding_mask")
_STACKED = 4
"""Frames and their differences that some extractors join to one, and no configuration says."""


def sounds(model: Any, rows: int) -> Iterator[Batch]:
    """Yield sound for some rows, in each form that a model may take."""
    import torch

    wanted = parameters(model.forward)
    if "input_values" in wanted:
        yield {"input_values": torch.randn(rows, _SAMPLES)}
        yield {"input_values": torch.randn(rows, 1, _SAMPLES)}
        frames, mel = _attribute(model, ("max_length",)), _attribute(model, _MEL)
        if frames and mel:
            yield {"input_values": torch.randn(rows, int(frames), int(mel))}
    if "input_features" in wanted:
        mel = int(_attribute(model, _MEL) or 80)
        longest = _attribute(model, ("max_source_positions",))
        if longest:  # some take a spectrum of one length only, twice that of the positions
            yield {"input_features": torch.randn(rows, mel, 2 * int(longest))}
        frames = _frames(model)
        mask = {"attention_mask": torch.ones(rows, frames, dtype=torch.long)}
        for stacked in (_attribute(model, ("num_stacked_frames",)) or 1, _STACKED):
            spectra = {"input_features": torch.randn(rows, frames, mel * stacked)}
            yield spectra | mask
            yield spectra
        yield {"input_features": torch.randn(rows, mel, frames)}


def with_sounds(model: Any, words: Any) -> Iterator[Batch]:
    """Yield words with a sound for each row, in each form that a model of both may take."""
    import torch

    owners = (model, getattr(model, "model", None))
    take = next((getattr(owner, _TAKE) for owner in owners if hasattr(owner, _TAKE)), None)
    if take is None:
        return
    wanted = parameters(take)
    token = getattr(model.config, "audio_token_id", None)
    for sound in sounds(model, len(words)):
        features = {name: sound[name] for name in sound if name != "attention_mask"}
        length = _SAMPLES if "input_values" in features else _frames(model)
        mask = torch.ones(len(words), length, dtype=torch.bool)
        features |= {name: mask for name in _MASKS if name in wanted}
        try:
            with torch.no_grad():
                count = count_places(take(**features), len(words))
        except Exception:  # this model takes another form
            continue
        if token is None:  # as many words as there are places, which are added
            yield {"input_ids": words[:, :1].repeat(1, count), **features}
        else:
            places = torch.full((len(words), count), int(token))
            yield {"input_ids": torch.cat([words[:, :2], places, words[:, 2:]], dim=1), **features}


def _frames(model: Any) -> int:
    """Return the frames of a spectrum: some take whole windows of a length of their own."""
    return 2 * int(_attribute(model, ("n_window",)) or _FRAMES // 2)


def _attribute(model: Any, names: tuple[str, ...]) -> Any:
    """Return the first of these attributes that a configuration or a part of it has."""
    for part in _PARTS:
        owner = getattr(model.config, part, None) if part else model.config
        for name in names:
            value = getattr(owner, name, None)
            if value is not None:
                return value
    return None
