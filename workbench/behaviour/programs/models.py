"""Models: made, called, saved, loaded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import facts, tiny


def _ids() -> Any:
    import torch

    return torch.tensor([[1, 6, 8, 2], [1, 6, 0, 0]])


def outputs() -> Iterator[tuple[str, Any]]:
    ids = _ids()
    for made in (
        tiny.llama(),
        tiny.t5(),
        tiny.bert(),
        tiny.bert("BertModel"),
        tiny.bert("BertForMaskedLM"),
    ):
        made.eval()
        name = type(made).__name__
        more = {"labels": ids} if "T5" in name else {}
        found = made(input_ids=ids, **more)
        yield f"{name} keys", list(found.keys())
        yield f"{name} logits", found[1] if "T5" in name else found[0]
        yield (
            f"{name} tuple",
            [type(part).__name__ for part in made(input_ids=ids, return_dict=False, **more)],
        )
        more = {"output_hidden_states": True, "output_attentions": True, **more}
        found = made(input_ids=ids, **more)
        for key, value in found.items():
            if isinstance(value, tuple):
                yield f"{name} {key}", [len(value), *value[:1]]
    made = tiny.llama()
    yield "loss", sorted(made(input_ids=ids, labels=ids).keys())
    yield "cache", type(made(input_ids=ids).past_key_values).__name__
    yield "in training", sorted(made.train()(input_ids=ids, labels=ids).keys())


def cache() -> Iterator[tuple[str, Any]]:
    found = tiny.llama()(input_ids=_ids()).past_key_values
    yield "length", len(found)
    yield "iterated", [len(part) for part in found]
    yield "first layer", [len(found[0]), found[0][0]]


def dtypes() -> Iterator[tuple[str, Any]]:
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    folder = tiny.saved(tiny.llama().to(torch.bfloat16))
    yield (
        "config",
        json.loads(Path(folder, "config.json").read_text()).get("torch_dtype", "no such key"),
    )
    loaded = AutoModelForCausalLM.from_pretrained(folder)
    yield "plain", str(loaded.dtype)
    yield "buffers", sorted({str(buffer.dtype) for buffer in loaded.buffers()})
    yield "config's dtype", str(loaded.config.torch_dtype)
    for dtype in ("auto", torch.float16, torch.float32, "bfloat16"):
        yield (
            f"asked for {dtype}",
            str(AutoModelForCausalLM.from_pretrained(folder, torch_dtype=dtype).dtype),
        )
    yield "default after", str(torch.get_default_dtype())
    config = AutoConfig.from_pretrained(folder)
    yield "from_config", str(AutoModelForCausalLM.from_config(config).dtype)
    yield "config alone", str(config.torch_dtype)


def loading() -> Iterator[tuple[str, Any]]:
    from transformers import AutoModel, AutoModelForCausalLM, AutoModelForSequenceClassification

    folder = tiny.saved()
    made = AutoModelForCausalLM.from_pretrained(folder)
    yield "type", type(made).__name__
    yield "training", made.training
    yield "attention", made.config._attn_implementation
    yield "use_cache", made.config.use_cache
    yield "name", made.config._name_or_path
    yield "trainable", all(parameter.requires_grad for parameter in made.parameters())
    yield "names", [name for name, _ in made.named_parameters()]
    yield "state", sorted(made.state_dict())
    yield "buffers", sorted(name for name, _ in made.named_buffers())
    yield "tied", made.config.tie_word_embeddings
    scored, info = AutoModelForSequenceClassification.from_pretrained(
        folder, num_labels=3, output_loading_info=True
    )
    yield (
        "info",
        {key: sorted(map(str, value)) for key, value in info.items() if not isinstance(value, str)},
    )
    yield "labels", [scored.config.num_labels, scored.config.id2label, scored.config.pad_token_id]
    yield "score", scored(input_ids=_ids()).logits
    yield "base", AutoModel.from_pretrained(folder)
    yield "problem", scored.config.problem_type
    yield "generation", made.generation_config.to_diff_dict().keys() - {"transformers_version"}
    for name in [
        "max_length",
        "do_sample",
        "temperature",
        "top_p",
        "pad_token_id",
        "eos_token_id",
        "use_cache",
    ]:
        yield f"generation {name}", getattr(made.generation_config, name)


def mismatched() -> Iterator[tuple[str, Any]]:
    from transformers import BertForSequenceClassification

    folder = tiny.saved(tiny.bert(num_labels=2))
    made = BertForSequenceClassification.from_pretrained(
        folder, num_labels=4, ignore_mismatched_sizes=True
    )
    yield "classifier", made.classifier.weight.shape[0]
    BertForSequenceClassification.from_pretrained(folder, num_labels=4)
    yield "without being asked", True


def problems() -> Iterator[tuple[str, Any]]:
    import torch

    for labels in (torch.tensor([0, 1]), torch.tensor([0.5, 0.1]), torch.tensor([[1.0, 0.0]] * 2)):
        made = tiny.bert(num_labels=1 if labels.shape == (2,) and labels.is_floating_point() else 2)
        made(input_ids=_ids(), labels=labels)
        yield f"labels {labels.dtype} {list(labels.shape)}", made.config.problem_type


def configurations() -> Iterator[tuple[str, Any]]:
    from transformers import AutoConfig, LlamaConfig

    folder = tiny.saved()
    yield "saved keys", tiny.keys_of(Path(folder, "config.json"))
    made = AutoConfig.from_pretrained(folder, foo=3, use_cache=False)
    yield "given", [made.use_cache, tiny.read(made, "foo")]
    made, unused = AutoConfig.from_pretrained(folder, foo=3, return_unused_kwargs=True)
    yield "unused", unused
    made.anything = 5
    yield "own attribute", made.to_dict()["anything"]
    yield "labels", LlamaConfig(id2label={0: "a", 1: "b", 2: "c"}).num_labels
    yield "labels the other way", LlamaConfig(id2label={0: "a", 1: "b"}).label2id
    yield "no labels", [LlamaConfig().id2label, LlamaConfig().label2id]
    yield "equal", LlamaConfig() == LlamaConfig()
    yield "get", tiny.read(made, "pretraining_tp")
    yield "head size", tiny.read(made, "head_dim")
    made.num_labels = 7
    yield "set labels", len(made.id2label)
    for name in (
        "rope_theta",
        "rope_scaling",
        "torch_dtype",
        "use_return_dict",
        "output_attentions",
    ):
        yield name, tiny.read(made, name)


def embeddings() -> Iterator[tuple[str, Any]]:
    for tied in (False, True):
        made = tiny.llama(tie_word_embeddings=tied)
        resized = made.resize_token_embeddings(43)
        yield (
            f"tied {tied}",
            [resized.weight.shape[0], made.lm_head.weight.shape[0], made.config.vocab_size],
        )
        yield f"tied {tied} same", made.lm_head.weight is made.model.embed_tokens.weight
        made.resize_token_embeddings(43, pad_to_multiple_of=8)
        yield f"tied {tied} multiple", made.lm_head.weight.shape[0]
        yield f"tied {tied} parameters", made.num_parameters()
        yield f"tied {tied} trainable", made.num_parameters(only_trainable=True)
    made.enable_input_require_grads()
    yield "gradients of inputs", made.get_input_embeddings()(_ids()).requires_grad


def checkpointing() -> Iterator[tuple[str, Any]]:
    made = tiny.llama()
    yield "before", made.is_gradient_checkpointing
    made.gradient_checkpointing_enable()
    yield "after", made.is_gradient_checkpointing
    yield "reentrant", _reentrant(made)
    made.train()
    yield "cache", made(input_ids=_ids()).past_key_values
    made.gradient_checkpointing_disable()
    yield "disabled", made.is_gradient_checkpointing


def _reentrant(made: Any) -> Any:
    for module in made.modules():
        function = getattr(module, "_gradient_checkpointing_func", None)
        if function is not None:
            return facts.of(getattr(function, "keywords", {}).get("use_reentrant", "not given"))
    return "no function"


def saving() -> Iterator[tuple[str, Any]]:
    from transformers import AutoModelForCausalLM

    for name, made in (
        ("llama", tiny.llama()),
        ("tied", tiny.llama(tie_word_embeddings=True)),
        ("t5", tiny.t5()),
    ):
        made.save_pretrained(name)
        yield f"{name} files", tiny.files(name)
    tiny.llama().save_pretrained("shards", max_shard_size="10KB")
    yield "shards", tiny.files("shards")
    tiny.llama().save_pretrained("state", state_dict=tiny.llama().state_dict())
    yield "loaded", AutoModelForCausalLM.from_pretrained("shards")
    from safetensors import safe_open

    with safe_open("llama/model.safetensors", "pt") as file:
        yield "names", sorted(file.keys())
        yield "metadata", file.metadata()
