"""Pipelines of tiny models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import facts, tiny


def _pipeline(task: str, model: Any, **settings: Any) -> Any:
    from transformers import pipeline

    return pipeline(
        task, model=model, tokenizer=tiny.tokenizer(mask_token="is"), device="cpu", **settings
    )


def generation() -> Iterator[tuple[str, Any]]:
    made = _pipeline("text-generation", tiny.llama(eos_token_id=None))
    found = made("the cat")
    yield "type", [type(found).__name__, type(found[0]).__name__, sorted(found[0])]
    ids = made("the cat", return_tensors=True)[0]["generated_token_ids"]
    yield "tokens", len(ids)
    ids = made("the cat", max_new_tokens=3, return_tensors=True)[0]["generated_token_ids"]
    yield "new tokens", [type(ids).__name__, len(ids)]
    text = made("the cat", max_new_tokens=3, return_full_text=False)[0]["generated_text"]
    yield "without the prompt", text.startswith("the cat")
    yield (
        "batch",
        facts.kind(
            [
                [type(part).__name__ for part in rows]
                for rows in made(["the", "a"], max_new_tokens=2)
            ]
        ),
    )
    yield (
        "messages",
        type(
            made([{"role": "user", "content": "the cat"}], max_new_tokens=2)[0]["generated_text"]
        ).__name__,
    )
    yield "ids", sorted(made("the cat", max_new_tokens=2, return_tensors=True)[0])
    yield (
        "sequences",
        len(made("the cat", max_new_tokens=2, num_return_sequences=2, do_sample=True)),
    )
    yield "dtype", str(made.model.dtype)
    yield "sampling", made.model.generation_config.do_sample


def classification() -> Iterator[tuple[str, Any]]:
    made = _pipeline("text-classification", tiny.bert())
    yield "one", facts.kind(made("the cat"))
    yield "two", facts.kind(made(["the cat", "a dog"]))
    yield "all", facts.kind(made("the cat", top_k=None))
    yield "best", facts.kind(made("the cat", top_k=1))
    yield "pair", facts.kind(made({"text": "the cat", "text_pair": "a dog"}))
    made = _pipeline("text-classification", tiny.bert(num_labels=1))
    yield "one label", facts.kind(made("the cat"))


def tokens() -> Iterator[tuple[str, Any]]:
    made = _pipeline("token-classification", tiny.bert("BertForTokenClassification"))
    found = made("the cat")
    yield "plain", [type(found).__name__, [sorted(row) for row in found]]
    for strategy in ("simple", "first"):
        found = _pipeline(
            "ner", tiny.bert("BertForTokenClassification"), aggregation_strategy=strategy
        )("the cat")
        yield strategy, [sorted(row) for row in found]
    yield "empty", made(["the", "a"])[0] is not None


def masks() -> Iterator[tuple[str, Any]]:
    made = _pipeline("fill-mask", tiny.bert("BertForMaskedLM"))
    found = made("the cat is red")
    yield "one", [len(found), sorted(found[0])]
    yield "two", [type(part).__name__ for part in made("the is cat is red")]


def features() -> Iterator[tuple[str, Any]]:
    made = _pipeline("feature-extraction", tiny.bert("BertModel"))
    found = made("the cat")
    yield "nested", [type(found).__name__, len(found), len(found[0]), len(found[0][0])]
    yield "tensors", made("the cat", return_tensors=True)


def zero_shot() -> Iterator[tuple[str, Any]]:
    names = ["entailment", "neutral", "contradiction"]
    labels = {
        "id2label": dict(enumerate(names)),
        "label2id": {name: number for number, name in enumerate(names)},
    }
    model = tiny.bert(**labels)
    made = _pipeline("zero-shot-classification", model)
    yield "one", facts.kind(made("the cat", candidate_labels=["big", "small"]))
    yield "list", type(made(["the cat"], candidate_labels=["big", "small"])).__name__


def texts() -> Iterator[tuple[str, Any]]:
    for task in ("text2text-generation", "summarization", "translation"):
        made = _pipeline(task, tiny.t5(eos_token_id=None))
        yield task, sorted(made("the cat")[0])
        yield (
            f"{task} length",
            len(
                made("the cat", max_length=5)[0][
                    next(iter(made("the cat", max_length=5)[0]))
                ].split()
            ),
        )
