"""Models and rows that are large enough to be timed on a GPU, and tiny ones for a CPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from patchkit.lab import tiny, trainers
from patchkit.lab.reproduce import device

_LARGE = {
    "hidden_size": 2048,
    "intermediate_size": 5632,
    "num_hidden_layers": 8,
    "num_attention_heads": 16,
    "num_key_value_heads": 4,
    "max_position_embeddings": 1024,
}
_SMALL = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "max_position_embeddings": 256,
}


def is_large() -> bool:
    """Tell whether models are large, as they are on a GPU."""
    return device() == "cuda"


def save_causal_lm(folder: Path, dtype: str) -> Path:
    """Save a Llama with random weights where the trainers' recipes look for one."""
    import torch
    import transformers

    target = folder / "causal-lm"
    # The tiny model is made for its tokenizer, and its weights are written over.
    tokenizer = tiny.load_tokenizer(tiny.build_causal_lm(target, dtype=dtype))
    shape: dict[str, Any] = _LARGE if is_large() else _SMALL
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        **shape,
    )
    torch.manual_seed(0)
    with torch.device(device()):
        model = transformers.LlamaForCausalLM(config)
    model.to(getattr(torch, dtype)).save_pretrained(target)
    return target


def rows(number: int, words: int) -> list[dict[str, str]]:
    """Make texts in the vocabulary's order, which a model can learn."""
    known = tiny.WORDS
    return [
        {"text": " ".join(known[(5 * row + place) % len(known)] for place in range(words))}
        for row in range(number)
    ]


def add_recipe(name: str, number: int, words: int) -> None:
    """Add a trainer `sft` with longer texts to the lab's."""
    trainers.TRAINERS[name] = trainers.Recipe(
        "SFT", lambda: rows(number, words), args={"max_length": words + 2}
    )


def lora(model: Any, **options: Any) -> Any:
    """Put LoRA with random weights on a model's projections, for which it makes a difference."""
    import peft
    import torch

    torch.manual_seed(0)
    config = peft.LoraConfig(
        r=8,
        target_modules=["q_proj", "v_proj", "down_proj"],
        task_type="CAUSAL_LM",
        **{"init_lora_weights": False, **options},
    )
    return peft.get_peft_model(model, config)


def load(folder: Path, weights: str) -> Any:
    """Load a saved model by words such as "4-bit float16" or "bfloat16", onto the device."""
    quantization, _, dtype = weights.rpartition(" ")
    model: Any = tiny.load(
        folder, quantization="4bit" if quantization == "4-bit" else "none", dtype=dtype
    )
    return model if quantization else model.to(device())
