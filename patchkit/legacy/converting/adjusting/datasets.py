"""Datasets and their columns, as trainers and tokenizers took them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType
from typing import Any

from ...changes import Adjusted, Behaviour
from ..call import OldCall, Surroundings
from ..formatting import ADVICE, Formatting, in_batch, name_in_messages

_DATASETS = ("train_dataset", "eval_dataset")
_TEXT = "text"
_MESSAGES = "messages"
_NAMED = "dataset_text_field"
_MAPPED = (
    "write rows.map(lambda row: {'text': f(row)}, remove_columns=rows.column_names) for the dataset"
)
_TOOLS = "tools"
_OTHERS = frozenset({"completion", "conversations", "input_ids", "messages", "prompt"})
"""Columns that trainers now prefer to a column of texts."""
_TOKENS = {"input_ids_chosen": "chosen_ids", "input_ids_rejected": "rejected_ids"}
"""Old columns of `RewardTrainer`, and their current names."""


def formatted_in_batches(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Format rows that have prompts, which a trainer would not take with a formatting function.

    The trainer formats other rows, also by a function that returns a list: see `formatting`.
    """
    function = call.arguments.get("formatting_func")
    if function is None:
        return
    found = [name for name in _DATASETS if _any(call, name, _has_prompts)]
    if not found:
        return
    lists = any(_any(call, name, lambda rows: _lists(function, rows)) for name in found)
    column = _text_column(call)
    for name in found:
        _replace(call, name, lambda rows: _formatted(rows, function, column, batched=lists))
    call.arguments["formatting_func"] = None
    if lists:
        call.fix(row, name_in_messages(call), ADVICE)
    else:
        old = f"{call.name}(formatting_func=) for rows with a column prompt"
        call.fix(row, old, _MAPPED)


def text_column_alone(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Leave out a prompt without a completion where there is a column of texts or messages."""
    if call.arguments.get("formatting_func") is not None:
        return
    if _NAMED in call.configured:
        _leave_alone(call, row, _text_column(call))
        return
    for column in (_MESSAGES, _text_column(call)):
        _leave_alone(call, row, column)


def pairs_of_tokens(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Rename the columns of pairs that a script has tokenized."""

    def is_tokenized(rows: Any) -> bool:
        return set(_TOKENS) <= set(getattr(rows, "column_names", None) or ())

    def rename(rows: Any) -> Any:
        if call.arguments.get("data_collator") is None:
            return rows.rename_columns(_TOKENS)
        # The script's collator may read the old columns.
        return rows.map(lambda each: {new: each[old] for old, new in _TOKENS.items()})

    for name in _change(call, is_tokenized, rename):
        call.fix(
            row,
            f"{call.name}({name}=) with columns {' and '.join(_TOKENS)}",
            f"name them {' and '.join(_TOKENS.values())}",
        )


def rows_without_labels(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Give a collator that is not TRL's rows without the labels that the trainer makes.

    It pads the rest of a row, and makes labels of that.
    """
    from transformers import DataCollatorForLanguageModeling, DataCollatorForSeq2Seq

    given, rows = call.arguments.get("data_collator"), call.arguments.get("train_dataset")
    columns = getattr(rows, "column_names", ["labels"])  # Other rows are taken as they are.
    if given is None or "labels" in (columns or ()):
        return
    function = given if isinstance(given, FunctionType) else type(given)
    is_known = isinstance(given, DataCollatorForLanguageModeling)
    takes_labels = isinstance(given, DataCollatorForSeq2Seq)
    if function.__module__.partition(".")[0] in ("trl", "patchkit") or takes_labels:
        return
    if not is_known and not call.is_of_older_script(row):
        return
    call.arguments["data_collator"] = _WithoutLabels(given)
    old = f"{call.name}(data_collator={function.__name__}) of rows without labels"
    advice = "leave it out" if is_known else "leave the labels out that its rows have"
    call.fix(row, old, f"{advice}: the trainer labels its rows itself")


class _WithoutLabels:
    """A collator whose rows lose their labels first."""

    def __init__(self, collator: Callable[..., Any]) -> None:
        self.collator = collator

    def __call__(self, rows: Sequence[Mapping[str, Any]]) -> Any:
        return self.collator(
            [{name: row[name] for name in row if name != "labels"} for row in rows]
        )

    def __getattr__(self, name: str) -> Any:
        if name == "collator" or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.collator, name)


def rows_of_torch(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Give a trainer datasets of PyTorch, which it took as they are, once it is made."""
    from torch.utils.data import Dataset

    return _given_later(Dataset, ", a dataset of PyTorch", call, row, proceed)


def rows_in_lists(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Give a trainer lists of rows once it is made."""
    return _given_later(list, " of rows", call, row, proceed)


def _given_later(
    kind: type, what: str, call: OldCall, row: Behaviour, proceed: Callable[[], Any]
) -> Any:
    from datasets import Dataset

    given = {name: call.arguments.get(name) for name in _DATASETS}
    own = {
        name: rows
        for name, rows in given.items()
        if isinstance(rows, kind) and not _is_made_of_rows(rows)
    }
    for name in own:
        call.arguments[name] = Dataset.from_dict(
            {"prompt": [""]}
            if call.method.owner.__name__ == "GRPOTrainer"
            else {column: [[0]] for column in ("input_ids", "labels", *_TOKENS.values())}
        )
        old = f"{call.name}({name}={type(own[name]).__name__}{what})"
        call.fix(row, old, "make a datasets.Dataset of its rows: Dataset.from_list(list(rows))")
    result = proceed()
    vars(call.instance).update(own)
    return result


def _leave_alone(call: OldCall, row: Adjusted, column: str) -> None:
    # A trainer with the name of the column looked at no other.
    is_named = _NAMED in call.configured

    def is_beside_prompt(rows: Any) -> bool:
        names = set(getattr(rows, "column_names", None) or ())
        if is_named:
            return column in names and not _OTHERS.isdisjoint(names - {column})
        if {column, _TOOLS} <= names and names.isdisjoint(_OTHERS):
            return True  # tools are for chat templates, which a text needs not
        return {column, "prompt"} <= names and names.isdisjoint({"completion", "input_ids"})

    for name in _change(call, is_beside_prompt, lambda rows: rows.select_columns([column])):
        call.fix(
            row,
            f"{call.name}({name}=) with a column {column} beside a prompt, or others",
            f"write dataset.select_columns(['{column}'])",
        )


def _text_column(call: OldCall) -> str:
    named: str | None = getattr(call.arguments.get("args"), "dataset_text_field", None)
    return named or _TEXT


def _any(call: OldCall, name: str, check: Callable[[Any], bool]) -> bool:
    given = call.arguments.get(name)
    if given is None or not _is_made_of_rows(given):
        return False
    return any(map(check, _parts(given)))


def _change(
    call: OldCall, is_meant: Callable[[Any], bool], change: Callable[[Any], Any]
) -> Iterator[str]:
    """Change the rows that are meant; yield each argument that has such rows."""
    for name in _DATASETS:
        if _any(call, name, is_meant):
            _replace(call, name, lambda rows: change(rows) if is_meant(rows) else rows)
            yield name


def _replace(call: OldCall, name: str, change: Callable[[Any], Any]) -> None:
    given = call.arguments[name]
    call.arguments[name] = (
        {key: change(rows) for key, rows in given.items()}
        if isinstance(given, dict)
        else change(given)
    )


def _parts(given: Any) -> list[Any]:
    return list(given.values()) if isinstance(given, dict) else [given]


def _is_made_of_rows(given: Any) -> bool:
    """Tell whether it is a dataset of `datasets`, or several."""
    from datasets import Dataset, IterableDataset

    return all(isinstance(part, Dataset | IterableDataset) for part in _parts(given))


def _lists(function: Formatting, rows: Any) -> bool:
    """Tell whether a formatting function returns a list for a batch."""
    first = next(iter(rows), None)
    return first is not None and in_batch(function, first) is not None


def _has_prompts(rows: Any) -> bool:
    names = set(getattr(rows, "column_names", None) or ())
    return "prompt" in names and "input_ids" not in names


def _formatted(rows: Any, function: Formatting, column: str, *, batched: bool) -> Any:
    return rows.map(
        lambda made_of: {column: function(made_of)},
        batched=batched,
        remove_columns=rows.column_names,
    )


def has_column(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Tell whether a call is given a column; quick, since every call of a tokenizer asks."""
    for value in (*args, *kwargs.values()):  # noqa: SIM110
        if _is_column(value):
            return True
    return False


def listed(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Convert columns, which tokenizers do not take, to lists."""
    for arguments in (call.arguments, call.unknown):
        for name, value in arguments.items():
            if _is_column(value):
                arguments[name] = value[:]
                call.fix(
                    row,
                    f"{call.name} with a column of a dataset",
                    f"write list(dataset[{value.column_name!r}])",
                )


def _is_column(value: Any) -> bool:
    cls = type(value)
    return cls.__name__ == "Column" and cls.__module__.startswith("datasets.")
