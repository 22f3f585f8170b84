"""Collators that give other batches than they did, with the same rows."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from ..changes import Behaviour
from .call import OldCall

_IGNORED = -100
_IDS, _LABELS = "input_ids", "labels"
_CUT = (_IDS, _LABELS)
_LOOKED_AT = 256
"""Rows among which two of different lengths are looked for."""


def mask_labels(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Give rows the labels that their masks mean, and cut them, as TRL's collator did."""
    collator, rows = call.instance, call.arguments["examples"]
    masks = ["assistant_masks"]
    masks += ["completion_mask"] if getattr(collator, "completion_only_loss", True) else []
    masks = [mask for mask in masks if mask in rows[0] and "labels" not in rows[0]]
    longest = None if collator.padding_free else getattr(collator, "max_length", None)
    if masks:
        old = f"{type(collator).__name__} of rows with {' and '.join(masks)}"
        call.fix(row, old, f"give the rows labels, {_IGNORED} where a mask is 0")
    if masks or longest is not None:
        ends = getattr(collator, "truncation_mode", "keep_start") == "keep_end"
        kept = slice(-longest if ends and longest else None, None if ends else longest)
        call.arguments["examples"] = [_labelled(each, masks, kept) for each in rows]
    return proceed()


def without_labels(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Leave labels out of a batch whose rows have none, so that nothing asks for their loss."""
    batch = proceed()
    if batch.get("labels", _IGNORED) is None:
        del batch["labels"]
        advice = 'predict without them: the collator gives labels of None, which count as "labels"'
        call.fix(row, "DataCollatorForSeq2Seq of rows without labels", advice)
    return batch


def without_built_labels(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Leave labels out of the rows of a trainer whose collator cannot fill them up.

    Trainers now make them of the ids. Labels that a script has given its rows stay.
    """
    names = ("train_dataset", "eval_dataset")
    own = {name for name in names if _LABELS in _columns(call.arguments.get(name))}
    result = proceed()
    trainer = call.instance
    if not own and _cannot_fill_up_labels(trainer):
        for name in names:
            setattr(trainer, name, _without_column(getattr(trainer, name)))
        old = f"{call.name}(data_collator=) of rows without labels"
        call.fix(row, old, f"the collator is to leave out the column {_LABELS!r}, which is new")
    return result


def _cannot_fill_up_labels(trainer: Any) -> bool:
    """Tell whether a collator fails on rows of different lengths for their labels alone."""
    rows = trainer.train_dataset
    if _LABELS not in _columns(rows) or trainer.data_collator.__module__.startswith("trl."):
        return False
    if trainer.args.remove_unused_columns:
        trainer._set_signature_columns_if_needed()
        taken = set(trainer._signature_columns)
    else:
        taken = set(_columns(rows))
    pair = _of_different_lengths(rows)
    kept = [{name: each[name] for name in each if name in taken} for each in pair]
    bare = [{name: each[name] for name in each if name != _LABELS} for each in kept]
    return bool(pair) and not _makes(trainer, kept) and _makes(trainer, bare)


def _of_different_lengths(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    first: Mapping[str, Any] | None = None
    for each in islice(rows, _LOOKED_AT):
        first = first or each
        if len(each[_IDS]) != len(first[_IDS]):
            return [first, each]
    return []


def _makes(trainer: Any, rows: list[dict[str, Any]]) -> bool:
    with contextlib.suppress(Exception):
        trainer.data_collator([dict(each) for each in rows])
        return True
    return False


def _columns(rows: Any) -> Sequence[str]:
    return getattr(rows, "column_names", None) or ()


def _without_column(rows: Any) -> Any:
    if isinstance(rows, Mapping):
        return {name: _without_column(each) for name, each in rows.items()}
    return rows.remove_columns(_LABELS) if _LABELS in _columns(rows) else rows


def _labelled(row: Mapping[str, Any], masks: Sequence[str], kept: slice) -> dict[str, Any]:
    labels = row.get("labels", row["input_ids"])
    for mask in masks:
        labels = [label if bit else _IGNORED for label, bit in zip(labels, row[mask], strict=False)]
    labelled = {**row, "labels": labels}
    return {**labelled, **{name: list(labelled[name])[kept] for name in _CUT}}
