"""Language models of any kind by the name of a checkpoint, from Transformers before 5."""

from __future__ import annotations

from collections import OrderedDict

from transformers.models.auto import modeling_auto
from transformers.models.auto.auto_factory import _BaseAutoModelClass, _LazyAutoMapping
from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

_KINDS = ("CAUSAL_LM", "MASKED_LM", "SPEECH_SEQ_2_SEQ", "SEQ_TO_SEQ_CAUSAL_LM")
"""The last kind that a type of model has was the one that was loaded."""
_ALL_THE_SAME_CAUSAL = ("megatron-bert", "reformer")


def _names() -> dict[str, str]:
    kinds = [dict(getattr(modeling_auto, f"MODEL_FOR_{kind}_MAPPING_NAMES")) for kind in _KINDS]
    names = {name: cls for kind in kinds for name, cls in kind.items()}
    return names | {name: kinds[0][name] for name in _ALL_THE_SAME_CAUSAL if name in kinds[0]}


MODEL_WITH_LM_HEAD_MAPPING = _LazyAutoMapping(CONFIG_MAPPING_NAMES, OrderedDict(_names()))


class AutoModelWithLMHead(_BaseAutoModelClass):
    """A language model: one with an encoder, a masked one, or a causal one, as its type is."""

    _model_mapping = MODEL_WITH_LM_HEAD_MAPPING
