"""Which dtypes a model is made of, by kinds of modules."""

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
    """What one kind of module has.

    Args:
        kind: as a reader calls it, such as "LoRA A" or "norms".
        trained: whether these parameters are trained.
        dtypes: name of a dtype to the number of tensors or layers that have it.
    """

    kind: str
    trained: bool
    dtypes: dict[str, int]


def dtypes_by_kind(model: torch.nn.Module) -> tuple[KindDtypes, ...]:
    """What is trained first; 4-bit weights are told as stored, as unpacked and as computed with."""
    anatomy = look_at(model)
    found: dict[tuple[str, bool], Counter[str]] = {}

    def count(kind: str, trained: bool, dtype: torch.dtype | None) -> None:
        name = "not set" if dtype is None else str(dtype).removeprefix("torch.")
        found.setdefault((kind, trained), Counter())[name] += 1

    bits = {f"{layer.name}.weight": layer for layer in anatomy.quantized}
    for one in anatomy.parameters:
        layer = bits.get(one.name)
        if layer is None:
            count(_kind(model, one), one.trainable, one.dtype)
            continue
        count(f"{layer.bits}-bit weights stored in", one.trainable, one.dtype)
        if layer.bits == 4:
            count("4-bit weights unpack to", one.trainable, layer.state_dtype)
            count("4-bit layers compute in", one.trainable, layer.compute_dtype)
    kinds = [KindDtypes(kind, trained, dict(names)) for (kind, trained), names in found.items()]
    return tuple(sorted(kinds, key=lambda one: not one.trained))


def _kind(model: torch.nn.Module, one: Parameter) -> str:
    *owner, _ = parts = one.name.split(".")
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
