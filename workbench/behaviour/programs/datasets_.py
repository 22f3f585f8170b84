"""What `datasets` gives back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import tiny


def _made() -> Any:
    from datasets import Dataset

    return Dataset.from_dict(
        {"text": list("abcdefgh"), "ids": [[number, 1] for number in range(8)], "score": [0.5] * 8}
    )


def reading() -> Iterator[tuple[str, Any]]:
    made = _made()
    yield "column", made["text"]
    yield "column's type", type(made["text"]).__name__
    yield "column of lists", made["ids"]
    yield "row", made[0]
    yield "slice", made[:2]
    yield "list of rows", made[[0, 3]]
    yield "unique", made.unique("score")
    yield "rows in a loop", [sorted(row) for row in made][:2]
    yield "features", {name: type(feature).__name__ for name, feature in made.features.items()}
    yield "feature of lists", str(made.features["ids"])
    yield "to_dict", made.to_dict()
    yield "to_list", made.to_list()[:1]
    yield "iter", next(made.iter(batch_size=2))
    yield "columns of a slice", [type(value).__name__ for value in made[:2].values()]
    yield "is list", isinstance(made["text"], list)
    yield "equal to a list", made["text"] == list("abcdefgh")
    yield "first of column", made["text"][0]


def order() -> Iterator[tuple[str, Any]]:
    made = _made()
    yield "shuffled", list(made.shuffle(seed=3)["text"])
    split = made.train_test_split(test_size=0.25, seed=3)
    yield "split", {name: list(part["text"]) for name, part in split.items()}
    yield "shard", list(made.shard(num_shards=3, index=0)["text"])
    yield "sorted", list(made.sort("text", reverse=True)["text"])


def mapping() -> Iterator[tuple[str, Any]]:
    import numpy
    import torch

    made = _made()
    calls: list[str] = []

    def one(row: Any) -> Any:
        calls.append(type(row).__name__)
        return {"length": len(row["text"]), "none": None}

    mapped = made.map(one)
    yield "row", sorted(set(calls))
    yield "columns", mapped.column_names
    yield "features", {name: str(feature) for name, feature in mapped.features.items()}
    batches: list[Any] = []

    def batch(part: Any) -> Any:
        batches.append((type(part).__name__, type(part["text"]).__name__))
        return {"x": [text * 2 for text in part["text"]]}

    yield "batched", made.map(batch, batched=True, remove_columns=["text"]).column_names
    yield "batch", batches[0]
    given = {
        "tensor": torch.tensor([1, 2]),
        "float tensor": torch.tensor([1.0, 2.0]),
        "array": numpy.array([1, 2]),
        "tuple": (1, 2),
        "nested": {"a": [1], "b": "x"},
        "list of dicts": [{"a": 1}, {"a": 2}],
        "bool": True,
        "empty": [],
    }
    for name, value in given.items():
        result = made.map(lambda row, value=value: {"y": value})
        yield f"returned {name}", str(result.features["y"])
        yield f"read {name}", result[0]["y"]
    yield "returned None", made.map(lambda row: None).column_names
    yield "in place", made.map(lambda row: row.update(text="z"))["text"][0]
    yield "filtered", len(made.filter(lambda row: row["text"] > "c"))
    yield "with indices", made.map(lambda row, number: {"n": number}, with_indices=True)["n"][-1]
    yield (
        "tokenized",
        {
            name: str(feature)
            for name, feature in made.map(
                lambda row: tiny.tokenizer()(row["text"])
            ).features.items()
        },
    )


def formats() -> Iterator[tuple[str, Any]]:
    made = _made()
    for name in ("torch", "numpy", "pandas"):
        formatted = made.with_format(name)
        yield f"{name} row", formatted[0]
        yield f"{name} column", type(formatted["ids"]).__name__
        yield f"{name} slice", type(formatted[:2]).__name__
    made.set_format("torch", columns=["ids"])
    yield "columns", sorted(made[0])


def files() -> Iterator[tuple[str, Any]]:
    from datasets import Dataset, load_dataset, load_from_disk

    made = _made()
    made.to_json("rows.jsonl")
    yield "json", Path("rows.jsonl").read_text().splitlines()[0]
    made.to_csv("rows.csv")
    yield "csv", Path("rows.csv").read_text().splitlines()[:2]
    loaded = load_dataset("json", data_files="rows.jsonl", split="train")
    yield "loaded", {name: str(feature) for name, feature in loaded.features.items()}
    yield "loaded without a split", load_dataset("json", data_files="rows.jsonl")
    made.save_to_disk("kept")
    yield "kept", tiny.files("kept")
    yield "from disk", load_from_disk("kept").column_names
    many = Dataset.from_generator(lambda: iter([{"a": 1}, {"a": 2}]))
    yield "generated", many.to_dict()
    stream = made.to_iterable_dataset()
    yield "stream", next(iter(stream))
    yield "stream's columns", stream.map(lambda row: {"n": 1}).column_names


def features() -> Iterator[tuple[str, Any]]:
    from datasets import ClassLabel, Features, Sequence, Value

    yield "Sequence", str(Sequence(Value("int64")))
    yield "Sequence of a dict", str(Sequence({"a": Value("int64")}))
    yield "Sequence's feature", str(getattr(Sequence(Value("int64")), "feature", "none"))
    yield "label", ClassLabel(names=["no", "yes"]).str2int("yes")
    made = _made().class_encode_column("text")
    yield "encoded", made[:3]["text"]
    chosen = Features(
        {"text": Value("string"), "ids": Sequence(Value("int32")), "score": Value("float32")}
    )
    yield "cast", {name: str(feature) for name, feature in _made().cast(chosen).features.items()}
