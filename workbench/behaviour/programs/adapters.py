"""PEFT: adapters made, saved, loaded and merged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import tiny


def _made(model: Any = None, **settings: Any) -> Any:
    import peft

    settings = {
        "r": 2,
        "target_modules": ["q_proj", "v_proj"],
        "task_type": "CAUSAL_LM",
        **settings,
    }
    return peft.get_peft_model(
        model if model is not None else tiny.llama(), peft.LoraConfig(**settings)
    )


def trained_parts() -> Iterator[tuple[str, Any]]:
    import torch

    for name, made in (
        ("plain", _made()),
        ("half", _made(tiny.llama().to(torch.bfloat16))),
        ("bias", _made(tiny.llama(attention_bias=True), bias="all")),
        ("kept whole", _made(modules_to_save=["embed_tokens"])),
        ("head", _made(target_modules=["lm_head"])),
        ("default modules", _made(target_modules=None)),
        ("all linear", _made(target_modules="all-linear")),
        ("classifier", _made(tiny.bert(), task_type="SEQ_CLS", target_modules=["query"])),
    ):
        parts = {
            key: str(value.dtype) for key, value in made.named_parameters() if value.requires_grad
        }
        yield f"{name} names", sorted(parts)
        yield f"{name} dtypes", sorted(set(parts.values()))
        yield f"{name} numbers", list(made.get_nb_trainable_parameters())
        yield f"{name} type", type(made).__name__
        yield f"{name} training", made.training
    yield "modules", sorted(made.peft_config["default"].target_modules)


def saved() -> Iterator[tuple[str, Any]]:
    import peft

    made = _made()
    made.save_pretrained("adapter")
    yield "files", tiny.files("adapter")
    yield "keys", tiny.keys_of("adapter/adapter_config.json")
    yield "state", sorted(peft.get_peft_model_state_dict(made))
    again = peft.PeftModel.from_pretrained(tiny.llama(), "adapter")
    yield (
        "loaded",
        [type(again).__name__, again.training, any(p.requires_grad for p in again.parameters())],
    )
    yield (
        "loaded to train",
        [
            p.requires_grad
            for name, p in peft.PeftModel.from_pretrained(
                tiny.llama(), "adapter", is_trainable=True
            ).named_parameters()
            if "lora_A" in name
        ],
    )
    resized = tiny.llama()
    resized.resize_token_embeddings(44)
    _made(resized, target_modules=["q_proj", "embed_tokens"]).save_pretrained("resized")
    yield "resized", sorted(_keys("resized"))


def _keys(folder: str) -> Any:
    from safetensors import safe_open

    with safe_open(str(Path(folder, "adapter_model.safetensors")), "pt") as file:
        return file.keys()


def merged() -> Iterator[tuple[str, Any]]:
    made = _made()
    merged = made.merge_and_unload()
    yield "type", type(merged).__name__
    yield "trainable", sorted({p.requires_grad for p in merged.parameters()})
    merged.save_pretrained("merged")
    yield "files", tiny.files("merged")
    made = _made()
    yield "unloaded", type(made.unload()).__name__
    made = _made()
    made.add_adapter("other", made.peft_config["default"])
    made.set_adapter("other")
    yield "active", made.active_adapter
    yield (
        "trainable after",
        sorted({name.split(".")[-2] for name, p in made.named_parameters() if p.requires_grad}),
    )
    made.add_weighted_adapter(["default", "other"], [0.5, 0.5], "mixed")
    yield "mixed", sorted(made.peft_config)


def prepared() -> Iterator[tuple[str, Any]]:
    import peft
    import torch

    made = tiny.llama().to(torch.float16)
    made.is_loaded_in_8bit = True
    made = peft.prepare_model_for_kbit_training(made)
    yield "dtypes", sorted({str(p.dtype) for p in made.parameters()})
    yield "trainable", any(p.requires_grad for p in made.parameters())
    yield "checkpointing", made.is_gradient_checkpointing
    yield "gradients", made.get_input_embeddings()(torch.tensor([[1]])).requires_grad
    yield "cache", made.config.use_cache


def in_four_bits() -> Iterator[tuple[str, Any]]:
    import torch
    from transformers import AutoModelForCausalLM, BitsAndBytesConfig

    folder = tiny.saved(tiny.llama(hidden_size=64, intermediate_size=128))
    for name, chosen in (
        ("plain", BitsAndBytesConfig(load_in_4bit=True)),
        (
            "half",
            BitsAndBytesConfig(
                load_in_4bit=True, bnb_4bit_compute_dtype=torch.bfloat16, bnb_4bit_quant_type="nf4"
            ),
        ),
    ):
        made = AutoModelForCausalLM.from_pretrained(
            folder, quantization_config=chosen, device_map={"": "cpu"}
        )
        yield f"{name} dtypes", {key: str(value.dtype) for key, value in made.named_parameters()}
        yield f"{name} layers", sorted({type(module).__name__ for module in made.modules()})
        yield f"{name} flags", [made.is_quantized, made.is_loaded_in_4bit]
        yield f"{name} dtype", str(made.dtype)
        yield f"{name} memory", made.get_memory_footprint()
        tuned = _made(made)
        yield (
            f"{name} adapter",
            sorted({str(p.dtype) for p in tuned.parameters() if p.requires_grad}),
        )


def prompts() -> Iterator[tuple[str, Any]]:
    import peft
    import torch

    for name in ("PromptTuning", "PrefixTuning", "PromptEncoder"):
        config = getattr(peft, f"{name}Config")(task_type="CAUSAL_LM", num_virtual_tokens=3)
        made = peft.get_peft_model(tiny.llama(), config)
        yield f"{name} logits", made(input_ids=torch.tensor([[1, 6]])).logits
        yield (
            f"{name} generated",
            list(
                made.generate(
                    input_ids=torch.tensor([[1, 6]]), max_new_tokens=2, eos_token_id=None
                ).shape
            ),
        )
        yield f"{name} state", sorted(peft.get_peft_model_state_dict(made))
