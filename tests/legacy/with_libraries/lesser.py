# ruff: noqa: E402  (the layer has to be on first)
"""Names, keywords and methods that few scripts use, with the layer; prints what became of each as JSON."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any

import patchkit

warnings.simplefilter("ignore")
patchkit.apply(only=[], legacy=True)

import huggingface_hub
import torch
import transformers
from transformers import (
    BertConfig,
    BertModel,
    DynamicCache,
    EncoderDecoderCache,
    GenerationConfig,
    LlamaConfig,
    LlamaModel,
    PreTrainedModel,
    PreTrainedTokenizer,
)
from transformers.masking_utils import create_causal_mask
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

SIZES = {"hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 8}
MASK = torch.tensor([[1, 1, 0]])
LOW = torch.finfo(torch.float32).min


def encoder(**settings: Any) -> BertModel:
    return BertModel(BertConfig(vocab_size=9, **SIZES, **settings))


def cache() -> DynamicCache:
    states = torch.arange(6.0).view(1, 1, 3, 2)
    return DynamicCache.from_legacy_cache(((states, -states),))


def both_caches() -> Any:
    layer = torch.zeros(1, 1, 3, 2)
    both = EncoderDecoderCache.from_legacy_cache(((layer, layer, layer, layer + 1),))
    alone = EncoderDecoderCache.from_legacy_cache(both.self_attention_cache.to_legacy_cache())
    kept = both.to_legacy_cache()[0][3].sum().item()
    return [kept, len(alone.to_legacy_cache()[0]), len(EncoderDecoderCache.from_legacy_cache(None))]


def cropped() -> Any:
    filled = cache()
    filled.key_cache[0] = filled.key_cache[0][:, :, :1]
    return filled.key_cache[0].tolist()


def in_vain() -> Any:
    LlamaModel._prepare_decoder_attention_mask = lambda *args: None
    try:
        return LlamaModel(LlamaConfig(vocab_size=9, **SIZES)) and "made"
    finally:
        del LlamaModel._prepare_decoder_attention_mask


class Own(PreTrainedModel):
    config_class = LlamaConfig

    def prepare_inputs_for_generation(self, input_ids: Any, **kwargs: Any) -> Any:
        return {"input_ids": input_ids}


class NotOwn(PreTrainedModel):
    config_class = LlamaConfig


def positions() -> Any:
    Own(LlamaConfig(**SIZES))
    frequencies, factor = ROPE_INIT_FUNCTIONS["default"](LlamaConfig(**SIZES, rope_theta=100.0))
    return [frequencies.tolist(), factor]


class OwnTokenizer(PreTrainedTokenizer):
    def get_vocab(self) -> Any:
        return {"?": 0, "a": 1, "b": 2}

    vocab_size = 3

    def _tokenize(self, text: str, **kwargs: Any) -> Any:
        return list(text)

    def _convert_token_to_id(self, token: str) -> int:
        return self.get_vocab().get(token, 0)

    def _pad(
        self, encoded_inputs, max_length=None, padding_strategy=None, pad_to_multiple_of=None,
        return_attention_mask=None,
    ):  # fmt: skip
        return super()._pad(encoded_inputs, max_length, padding_strategy)


def own_loss() -> Any:
    from trl import GRPOTrainer

    class Own(GRPOTrainer):
        def compute_liger_loss(self, model: Any, inputs: Any) -> Any:
            return None

    return Own(encoder(), reward_funcs=[])


def mask() -> Any:
    made = create_causal_mask(
        config=LlamaConfig(**SIZES, attn_implementation="eager"),
        input_embeds=torch.zeros(1, 2, 8),
        attention_mask=None,
        cache_position=torch.arange(2),
        past_key_values=None,
    )
    return made.tolist()


PIECES: dict[str, Callable[[], Any]] = {
    "padded": lambda: OwnTokenizer(pad_token="?")(["a", "ab"], padding=True)["input_ids"],
    "mask": mask,
    "sizes of a layer": lambda: [
        getattr(LlamaModel(LlamaConfig(vocab_size=9, **SIZES)).layers[0].self_attn, name)
        for name in ("num_heads", "hidden_size")
    ],
    "positions of a layer": lambda: (
        LlamaModel(LlamaConfig(vocab_size=9, **SIZES)).layers[0].self_attn.rotary_emb
    ),
    "own loss": own_loss,
    "inverted": lambda: encoder().invert_attention_mask(MASK).tolist(),
    "of an encoder": lambda: encoder().get_extended_attention_mask(MASK, (1, 3)).tolist(),
    "of a decoder": lambda: (
        encoder(is_decoder=True).get_extended_attention_mask(MASK, (1, 3)).tolist()
    ),
    "of heads": lambda: [
        encoder().get_head_mask(None, 2),
        list(encoder().get_head_mask(torch.ones(2), 3).shape),
    ],
    "keys": lambda: [len(cache().key_cache), cache().value_cache[0].sum().item(), cropped()],
    "lengths": lambda: [
        cache().seen_tokens,
        cache().get_usable_length(9),
        cache().get_max_length(),
    ],
    "tuples": lambda: [len(layer) for layer in cache().to_legacy_cache()],
    "both caches": both_caches,
    "positions": positions,
    "generates": lambda: [
        hasattr(Own(LlamaConfig(**SIZES)), "generate"),
        hasattr(NotOwn(LlamaConfig(**SIZES)), "generate"),
    ],
    "in vain": in_vain,
    "forced": lambda: [GenerationConfig().forced_decoder_ids, LlamaConfig().forced_decoder_ids],
    "parallel": lambda: [encoder().is_parallelizable, encoder().model_parallel],
    "names by folder": lambda: [
        "LlamaTokenizer" in transformers._import_structure["models.llama"],
        "LlamaConfig" in transformers._import_structure["models.llama.configuration_llama"],
        "models.llama" in transformers._import_structure,
    ],
    "no such folder": lambda: transformers._import_structure["models.lla"],
    "owner of a repository": lambda: huggingface_hub.create_repo("name", organization="us"),
    "the same of the class": lambda: huggingface_hub.HfApi().create_repo("name", organization="us"),
    "owner of a model": lambda: encoder().push_to_hub("name", organization="us"),
    "token": lambda: huggingface_hub.hf_hub_download(
        "us/it", "file", use_auth_token="no", local_files_only=True
    ),
}


def became(piece: Callable[[], Any]) -> Any:
    try:
        return piece()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


print("\n" + json.dumps({name: became(piece) for name, piece in PIECES.items()}))
