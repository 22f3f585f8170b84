"""Datasets that `SFTTrainer` read in another way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...changes import Adjusted
from ..call import Call
from ..formatting import ADVICE, Formatting, in_batch, listed
from .surroundings import Surroundings

_DATASETS = ("train_dataset", "eval_dataset")
_TEXT = "text"
_MESSAGES = "messages"
_NAMED = "dataset_text_field"
_OTHERS = frozenset({"completion", "conversations", "input_ids", "messages", "prompt"})
"""Columns that come before a column of texts today."""
_TOKENS = {"input_ids_chosen": "chosen_ids", "input_ids_rejected": "rejected_ids"}
"""Columns of `RewardTrainer`, and their names today."""


def formatted_in_batches(call: Call, row: Adjusted, surroundings: Surroundings) -> None:
    """Format rows that have prompts, which a trainer would not take with a formatting function.

    Only a function that returns a list for a batch is meant. Other rows are formatted by the
    trainer: see `formatting`.
    """
    function = call.arguments.get("formatting_func")
    if function is None:
        return
    found = [name for name in _DATASETS if _any(call, name, lambda rows: _lists(function, rows))]
    if not found:
        return
    column = _text_column(call)
    for name in found:
        _replace(call, name, lambda rows: _formatted(rows, function, column))
    call.arguments["formatting_func"] = None
    call.fix(row, listed(call), ADVICE)


def text_column_alone(call: Call, row: Adjusted, surroundings: Surroundings) -> None:
    """Leave out a prompt without a completion where there is a column of texts or messages."""
    if call.arguments.get("formatting_func") is not None:
        return
    if _NAMED in call.configured:
        _leave_alone(call, row, _text_column(call))
        return
    for column in (_MESSAGES, _text_column(call)):
        _leave_alone(call, row, column)


def pairs_of_tokens(call: Call, row: Adjusted, surroundings: Surroundings) -> None:
    """Give pairs that a script has tokenized the names of today's columns."""

    def is_tokenized(rows: Any) -> bool:
        return set(_TOKENS) <= set(getattr(rows, "column_names", None) or ())

    for name in _DATASETS:
        if _any(call, name, is_tokenized):
            _replace(
                call,
                name,
                lambda rows: rows.rename_columns(_TOKENS) if is_tokenized(rows) else rows,
            )
            call.fix(
                row,
                f"{call.name}({name}=) with columns {' and '.join(_TOKENS)}",
                f"name them {' and '.join(_TOKENS.values())}",
            )


def _leave_alone(call: Call, row: Adjusted, column: str) -> None:
    # A trainer that was told the column looked at no other.
    is_named = _NAMED in call.configured

    def is_beside_prompt(rows: Any) -> bool:
        names = set(getattr(rows, "column_names", None) or ())
        if is_named:
            return column in names and not _OTHERS.isdisjoint(names - {column})
        return {column, "prompt"} <= names and names.isdisjoint({"completion", "input_ids"})

    for name in _DATASETS:
        if _any(call, name, is_beside_prompt):
            _replace(
                call,
                name,
                lambda rows: rows.select_columns([column]) if is_beside_prompt(rows) else rows,
            )
            call.fix(
                row,
                f"{call.name}({name}=) with a column {column} beside a prompt",
                f"write dataset.select_columns(['{column}'])",
            )


def _text_column(call: Call) -> str:
    named: str | None = getattr(call.arguments.get("args"), "dataset_text_field", None)
    return named or _TEXT


def _any(call: Call, name: str, check: Callable[[Any], bool]) -> bool:
    given = call.arguments.get(name)
    if given is None or not _is_made_of_rows(given):
        return False
    return any(map(check, _parts(given)))


def _replace(call: Call, name: str, change: Callable[[Any], Any]) -> None:
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
    """Tell whether rows have prompts, and a formatting function returns a list for a batch."""
    if "prompt" not in (getattr(rows, "column_names", None) or ()):
        return False
    first = next(iter(rows), None)
    return first is not None and in_batch(function, first) is not None


def _formatted(rows: Any, function: Formatting, column: str) -> Any:
    return rows.map(
        lambda batch: {column: function(batch)}, batched=True, remove_columns=rows.column_names
    )
