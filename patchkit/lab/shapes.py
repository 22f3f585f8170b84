"""Build tiny models of many families, for tests that must hold in all; nothing is loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

_DECODER: dict[str, Any] = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
_OPT: dict[str, Any] = {**_DECODER, "ffn_dim": 48, "word_embed_proj_dim": 32}
_T5: dict[str, Any] = {
    "vocab_size": 64,
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 48,
    "num_layers": 2,
    "num_heads": 4,
    "decoder_start_token_id": 0,
    "pad_token_id": 0,
    "eos_token_id": 2,
}

_FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("Llama", _DECODER),
    "mistral": ("Mistral", _DECODER),
    "qwen2": ("Qwen2", _DECODER),
    "qwen3": ("Qwen3", _DECODER),
    "gemma2": ("Gemma2", _DECODER),
    "gemma3": ("Gemma3", _DECODER),
    "phi3": ("Phi3", _DECODER),
    "gpt_oss": ("GptOss", {**_DECODER, "num_local_experts": 2, "num_experts_per_tok": 1}),
    "opt": ("OPT", _OPT),
    "t5": ("T5", _T5),
}

FAMILIES: tuple[str, ...] = tuple(_FAMILIES)
"""The names that `build` knows; not every release of Transformers has each."""


def build(family: str, head: str | None = None, **options: Any) -> PreTrainedModel:
    """Build a float32 model of two layers with random weights, in evaluation mode.

    Args:
        family: one of `FAMILIES`.
        head: the last word of its class, such as "SequenceClassification"; that of a language model
            if None.
        options: arguments of its configuration, over the usual ones.

    Raises:
        LookupError: this release of Transformers does not have the family.
    """
    import torch
    import transformers

    name, shape = _FAMILIES[family]
    library: Any = transformers
    suffix = "TextConfig" if family == "gemma3" else "Config"
    config = getattr(library, name + suffix, None)
    if config is None:
        raise LookupError(f"Transformers {library.__version__} has no {name}")
    head = head or ("ConditionalGeneration" if family == "t5" else "CausalLM")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model: PreTrainedModel = getattr(library, f"{name}For{head}")(
            config(**{**shape, **options})
        )
    return model.eval()


def norms_in_float32(model: torch.nn.Module) -> list[str]:
    """Give all norms of a model float32 weights, and return their names."""
    norms = {
        name: module for name, module in model.named_modules() if "Norm" in type(module).__name__
    }
    for norm in norms.values():
        norm.float()
    return list(norms)


def words(device: torch.device | str = "cpu") -> torch.Tensor:
    """Return the input of the models: two rows of eight tokens."""
    import torch

    return torch.arange(3, 19, device=device).reshape(2, 8)


def forward(model: PreTrainedModel) -> torch.Tensor:
    """Return the logits for `words`."""
    ids = words(model.device)
    inputs: dict[str, Any] = {"input_ids": ids, "attention_mask": ids.bool().long()}
    if model.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = ids
    logits: torch.Tensor = model(**inputs).logits
    return logits


def generate(model: PreTrainedModel) -> torch.Tensor:
    """Generate four tokens greedily."""
    generator: Any = model
    ids = words(model.device)
    tokens: torch.Tensor = generator.generate(
        ids, attention_mask=ids.bool().long(), max_new_tokens=4, do_sample=False
    )
    return tokens
