"""Collators that give other batches than they did, with the same rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..changes import Behaviour
from .call import OldCall

_IGNORED = -100
_CUT = ("input_ids", "labels")


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


def _labelled(row: Mapping[str, Any], masks: Sequence[str], kept: slice) -> dict[str, Any]:
    labels = row.get("labels", row["input_ids"])
    for mask in masks:
        labels = [label if bit else _IGNORED for label, bit in zip(labels, row[mask], strict=False)]
    labelled = {**row, "labels": labels}
    return {**labelled, **{name: list(labelled[name])[kept] for name in _CUT}}
