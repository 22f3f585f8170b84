"""Build tiny Llama models and their tokenizer from scratch, without a model hub."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

Head = Literal["causal", "reward"]
Quantization = Literal["4bit", "4bit-double", "8bit", "none"]

#: The words that the tokenizer knows: datasets for these models are made of them.
WORDS: tuple[str, ...] = tuple(
    consonant + vowel for consonant in "bcdfghjklmnprstvwz" for vowel in "aeiou"
)
_SPECIAL = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
_ROLES = ("system", "user", "assistant", ":")
_CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ message['role'] + ' : ' + message['content'] + ' ' + eos_token + ' ' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ 'assistant : ' }}{% endif %}"
)


def go_offline() -> None:
    """Tell the Hugging Face libraries, if not imported yet, to use no server and keep quiet."""
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE"):
        os.environ[name] = "1"
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")


def build_causal_lm(folder: Path, *, dtype: str = "float16", seed: int = 0) -> Path:
    """Save a tiny causal Llama and its tokenizer.

    Args:
        folder: The folder to save in; a model that is already there is kept.
        dtype: The dtype of the saved weights by its torch name, such as "float16".
        seed: Seed of the random weights.

    Returns:
        The folder.
    """
    return _build(folder, dtype=dtype, seed=seed, head="causal")


def build_reward_model(folder: Path, *, dtype: str = "float16", seed: int = 0) -> Path:
    """Save a tiny Llama with one score as its output; see `build_causal_lm`."""
    return _build(folder, dtype=dtype, seed=seed, head="reward")


def load(
    folder: Path,
    *,
    quantization: Quantization = "none",
    dtype: str = "float16",
    head: Head = "causal",
    compute_dtype: str | None = None,
    storage: str = "uint8",
) -> PreTrainedModel:
    """Load a saved model the way a QLoRA user does.

    Args:
        folder: A folder of `build_causal_lm` or `build_reward_model`.
        quantization: How bitsandbytes stores the linear layers' weights; "4bit" is nf4, and
            "4bit-double" has quantized scales as well.
        dtype: The dtype of all other weights.
        head: The model class to load.
        compute_dtype: The dtype that 4-bit layers compute in; `dtype` if None.
        storage: The dtype that 4-bit weights are stored in.
    """
    go_offline()
    import torch
    import transformers

    quantize_on_any_cpu()
    torch_dtype = getattr(torch, dtype)
    options: dict[str, Any] = {dtype_keyword(): torch_dtype}
    quantize: Any = transformers.BitsAndBytesConfig
    if quantization.startswith("4bit"):
        options["quantization_config"] = quantize(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_use_double_quant=quantization == "4bit-double",
            bnb_4bit_compute_dtype=getattr(torch, compute_dtype or dtype),
            bnb_4bit_quant_storage=getattr(torch, storage),
        )
    elif quantization == "8bit":
        options["quantization_config"] = quantize(load_in_8bit=True)
    loader: Any = transformers.AutoModelForCausalLM
    if head == "reward":
        loader = transformers.AutoModelForSequenceClassification
        options["num_labels"] = 1
    model: PreTrainedModel = loader.from_pretrained(folder, **options)
    return model


def load_tokenizer(folder: Path) -> PreTrainedTokenizerFast:
    go_offline()
    from transformers import PreTrainedTokenizerFast

    tokenizer: PreTrainedTokenizerFast = PreTrainedTokenizerFast.from_pretrained(folder)
    return tokenizer


def quantize_on_any_cpu() -> None:
    """Let Transformers before 4.53 quantize a model on a CPU.

    It asks for Intel's extension of PyTorch there. bitsandbytes from 0.46 on computes without it.
    """
    from transformers.integrations import bitsandbytes

    if hasattr(bitsandbytes, "is_ipex_available"):
        bitsandbytes.is_ipex_available = lambda: True


def dtype_keyword() -> str:
    """Return `from_pretrained`'s keyword for a dtype: an unknown one reaches the model's class."""
    import transformers

    major, minor = (int(part) for part in transformers.__version__.split(".")[:2])
    return "dtype" if (major, minor) >= (4, 56) else "torch_dtype"


def _build(folder: Path, *, dtype: str, seed: int, head: Head) -> Path:
    # The weights are written last: a folder left half-made has none, and is made again.
    if (folder / "model.safetensors").exists():
        return folder
    go_offline()
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, LlamaForSequenceClassification

    tokenizer = make_tokenizer()
    shape: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 4,
        "max_position_embeddings": 256,
        # The usual 0.02 leaves so narrow a model's logits near zero: its loss could hardly fall.
        "initializer_range": 0.1,
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
    }
    if head == "reward":
        shape["num_labels"] = 1
    config = LlamaConfig(**shape)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        cls: Any = LlamaForSequenceClassification if head == "reward" else LlamaForCausalLM
        model = cls(config).to(getattr(torch, dtype))
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
    return folder


def make_tokenizer() -> PreTrainedTokenizerFast:
    """Return the tokenizer of tiny models."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = (*_SPECIAL.values(), *_ROLES, *WORDS)
    words = models.WordLevel(
        {word: index for index, word in enumerate(vocabulary)}, unk_token=_SPECIAL["unk_token"]
    )
    tokenizer = Tokenizer(words)
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    cls: Any = PreTrainedTokenizerFast
    fast: PreTrainedTokenizerFast = cls(
        tokenizer_object=tokenizer,
        # Older releases hand Llama's generation every name that is listed here.
        model_input_names=["input_ids", "attention_mask"],
        model_max_length=256,
        **_SPECIAL,
    )
    fast.chat_template = _CHAT_TEMPLATE
    return fast
