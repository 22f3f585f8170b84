"""Count the dtypes of a model by kinds of modules."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from patchkit.inspection.anatomy import Parameter, look_at

if TYPE_CHECKING:
    import torch

_ADAPTERS = {"lora_A": "LoRA A", "lora_B": "LoRA B", "lora_magnitude_vector": "DoRA magnitudes"}
_HEADS = frozenset({"lm_head", "score"})


@dataclass(frozen=True)
class KindDtypes:
    """The dtypes of one kind of module.

    Args:
        kind: its name for readers, such as "LoRA A" or "norms".
        trained: whether these parameters are trained.
        dtypes: name of a dtype to its number of tensors or layers.
    """

    kind: str
    trained: bool
    dtypes: dict[str, int]


def dtypes_by_kind(model: torch.nn.Module) -> tuple[KindDtypes, ...]:
    """Count dtypes, trained kinds first; 4-bit weights as stored, as unpacked and as computed."""
    anatomy = look_at(model)
    counts: dict[tuple[str, bool], Counter[str]] = {}

    def count(kind: str, trained: bool, dtype: torch.dtype | None) -> None:
        name = "not set" if dtype is None else str(dtype).removeprefix("torch.")
        counts.setdefault((kind, trained), Counter())[name] += 1

    bits = {f"{layer.name}.weight": layer for layer in anatomy.quantized}
    for parameter in anatomy.parameters:
        layer = bits.get(parameter.name)
        if layer is None:
            count(_kind(model, parameter), parameter.trainable, parameter.dtype)
            continue
        count(f"{layer.bits}-bit weights stored in", parameter.trainable, parameter.dtype)
        if layer.bits == 4:
            count("4-bit weights unpack to", parameter.trainable, layer.state_dtype)
            count("4-bit layers compute in", parameter.trainable, layer.compute_dtype)
    kinds = [KindDtypes(kind, trained, dict(names)) for (kind, trained), names in counts.items()]
    return tuple(sorted(kinds, key=lambda kind: not kind.trained))


def _kind(model: torch.nn.Module, parameter: Parameter) -> str:
    *owner, _ = parts = parameter.name.split(".")
    for part, kind in _ADAPTERS.items():
        if part in parts:
            return kind
    if not _HEADS.isdisjoint(parts):
        return "head"
    name = type(model.get_submodule(".".join(owner))).__name__
    for part, kind in (("Norm", "norms"), ("Embedding", "embedding"), ("Linear", "linear layers")):
        if part in name:
            return kind
    return "others"
