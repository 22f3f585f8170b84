"""Batches of pairs, whose parts had other names, and what losses gave beside the loss."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any, ClassVar

from ...rewrite.codes import nested_codes
from ..changes import Behaviour
from ..errors import LegacyError
from ..guarding.classes import functions_of, own_classes
from ..uses import calling_script
from .call import OldCall

_IDS, _MASK, _ANSWERS = "input_ids", "attention_mask", "completion_mask"
_SIDES = ("chosen", "rejected")
_IGNORED = -100
_COUNTED = "num_items_in_batch"
_OLD_ROWS = {f"{_IDS}_{side}": f"{side}_ids" for side in _SIDES}
_TEXTS = frozenset({"prompt", *_SIDES, "chosen_response_only", "rejected_response_only"})
_METRICS = ("rewards/", "logps/", "logits/")
"""How names of metrics begin that `DPOTrainer.compute_loss` gave beside the loss."""


class PairBatch(dict[str, Any]):
    """A batch that has the names of today, and answers for a former one that is asked for.

    What it knows besides stands in the class: Accelerate makes the batch anew, by its class alone,
    where it moves it to a device.

    Attributes:
        collated: the call of the collator, without arguments; None without the layer.
        row: the row of the table.
        padding: the token to fill up with.
    """

    collated: ClassVar[OldCall | None] = None
    row: ClassVar[Behaviour]
    padding: ClassVar[int] = 0

    def __missing__(self, name: str) -> Any:
        value, advice = self._former(name)
        if self.collated is not None:
            self.collated.fix(self.row, f'batch["{name}"] of pairs', advice)
        return value

    def _former(self, name: str) -> tuple[Any, str]:
        """Return the value of a former name, and what to write.

        Raises:
            KeyError: there was no such name.
        """
        raise NotImplementedError

    def _half(self, part: str, side: str) -> Any:
        if side not in _SIDES:
            raise KeyError(part)
        return self[part].chunk(2)[_SIDES.index(side)]


class RewardBatch(PairBatch):
    """A batch of `RewardTrainer`: `input_ids_chosen` is the first half of `input_ids`."""

    def _former(self, name: str) -> tuple[Any, str]:
        part, _, side = name.rpartition("_")
        if part not in (_IDS, _MASK):
            raise KeyError(name)
        advice = f'take the halves of batch["{part}"], the chosen ones first: torch.chunk(…, 2)'
        return self._half(part, side), advice


class PreferenceBatch(PairBatch):
    """A batch of `DPOTrainer`.

    `chosen_input_ids` were a prompt and its answer until TRL 0.12, and the answer alone since.
    """

    def _former(self, name: str) -> tuple[Any, str]:
        side, _, part = name.partition("_")
        if name in _TEXTS:
            raise self._refusal(name, f'Decode batch["{_IDS}"], where {_ANSWERS} is 0 for prompts.')
        if side == "reference":
            return self[f"ref_{part}"], f'write batch["ref_{part}"]'
        first = f'take the halves of batch["{_IDS}"], the chosen ones first'
        if side == "prompt":
            return self._part(part, "chosen", 0), f"{first}, where {_ANSWERS} is 0"
        if part == "labels":
            ids, mask = self._half(_IDS, side), self._half(_ANSWERS, side)
            return ids.masked_fill(mask == 0, _IGNORED), f"{first}, where {_ANSWERS} is 1"
        if part not in (_IDS, _MASK):
            raise KeyError(name)
        if self._has_prompts(name):
            return self._half(part, side), f"{first}: torch.chunk(…, 2)"
        return self._part(part, side, 1), f"{first}, where {_ANSWERS} is 1"

    def _has_prompts(self, name: str) -> bool:
        """Tell by the names beside it whether a script means a prompt and its answer."""
        frame = calling_script()
        names: set[str] = set()
        file = "" if frame is None else frame.f_code.co_filename
        while frame is not None and frame.f_code.co_filename == file:
            names.update(_constants(frame.f_code))
            frame = frame.f_back
        if any(each.endswith("_labels") for each in names):
            return True
        if f"prompt_{_IDS}" in names:
            return False
        written_for = self.collated.written_for if self.collated else None
        if written_for is None:
            instead = "They had the prompts until TRL 0.12.0, and not since: name the release "
            raise self._refusal(name, instead + "that the script was written for.")
        return written_for.precedes("trl 0.12.0")

    def _part(self, part: str, side: str, kept: int) -> Any:
        """Return the prompts, or the answers, filled up as their batches were."""
        from trl.trainer.utils import pad

        mask = (self._half(_MASK, side) == 1) & (self._half(_ANSWERS, side) == kept)
        rows = [row[each] for row, each in zip(self._half(part, side), mask, strict=True)]
        padding = self.padding if part == _IDS else 0
        return pad(rows, padding_value=padding, padding_side="right" if kept else "left")

    def _refusal(self, name: str, instead: str) -> LegacyError:
        assert self.collated is not None
        return self.collated.refuse(self.row, f'batch["{name}"] of pairs', instead)


def name_sides(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Let a batch of `RewardTrainer` answer for its former names; take rows that have theirs."""
    rows = call.arguments["examples"]
    if _OLD_ROWS.keys() <= rows[0].keys():
        call.arguments["examples"] = [
            {**each, **{new: each[old] for old, new in _OLD_ROWS.items()}} for each in rows
        ]
    return _named(RewardBatch, call, row, proceed())


def name_answers(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Let a batch of `DPOTrainer` answer for its former names."""
    return _named(PreferenceBatch, call, row, proceed())


def _named(cls: type[PairBatch], call: OldCall, row: Behaviour, batch: dict[str, Any]) -> Any:
    # Two collators have the same name; one batch has a mask of answers.
    if isinstance(batch, PairBatch) or (_ANSWERS in batch) is not (cls is PreferenceBatch):
        return batch
    cls.collated, cls.row, cls.padding = call.again((), {}), row, call.instance.pad_token_id
    return cls(batch)


def sides_together(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Give today's loss the batches that a script's own collator makes as they were then."""
    inputs = call.arguments["inputs"]
    if _OLD_ROWS.keys() <= inputs.keys() and _IDS not in inputs:
        from trl.trainer.utils import pad

        padding = {_IDS: call.instance.processing_class.pad_token_id, _MASK: 0}
        whole = {
            part: pad(
                [each for side in _SIDES for each in inputs[f"{part}_{side}"]],
                padding_value=padding[part],
            )
            for part in padding
        }
        beside = {name: inputs[name] for name in ("margin",) if name in inputs}
        call.arguments["inputs"] = whole | beside
        advice = f'give "{_IDS}": the chosen rows, and the rejected ones below them'
        call.fix(row, f'a batch with "{_IDS}_chosen"', advice)
    return proceed()


def counted_tokens(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Count the tokens of a batch that a script's own trainer makes, for the mean of a loss."""
    inputs, trainer = call.arguments["inputs"], call.instance
    if _COUNTED not in inputs:
        number = trainer.accelerator.gather(inputs[_ANSWERS].sum()).sum()
        if trainer.model.training:
            # The trainer expects that of all batches which it generates at once.
            number = number * trainer.args.steps_per_generation
        call.arguments["inputs"] = {**inputs, _COUNTED: number}
        advice = "give the number of its tokens, over all processes"
        call.fix(row, f"a batch of {type(trainer).__name__} without {_COUNTED}", advice)
    return proceed()


def metrics_beside_loss(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Put the metrics of a batch among the outputs that a script's own loss asks for."""
    result, trainer = proceed(), call.instance
    if not call.arguments.get("return_outputs"):
        return result
    methods = (each for cls in own_classes(type(trainer)) for each in functions_of(cls))
    if any(name.startswith(_METRICS) for each in methods for name in _constants(each.__code__)):
        import torch

        mode = "train" if trainer.model.training else "eval"
        for name, values in trainer._metrics[mode].items():
            if name.startswith(_METRICS):
                result[1][name] = torch.tensor(values[-1])
        old = f"{call.name} that gives metrics"
        call.fix(row, old, 'read self._metrics["train"], where each batch adds its own')
    return result


def columns_of_the_model(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Leave a collator that is not TRL's the columns that the model takes."""
    trainer = call.instance
    is_asked = trainer._signature_columns is None and not trainer._is_vision_dataset
    is_own = not trainer.data_collator.__module__.startswith("trl.")
    if not (is_asked and is_own and call.is_of_older_script(row)):
        return proceed()
    from transformers import Trainer

    Trainer._set_signature_columns_if_needed(trainer)
    taken = trainer._signature_columns
    trainer._signature_columns = None
    proceed()
    trainer._signature_columns = [*dict.fromkeys([*trainer._signature_columns, *taken])]
    columns = set(getattr(trainer.train_dataset, "column_names", None) or ())
    if left := columns & set(taken) - {_IDS, "labels"}:
        old = f"{call.name.partition('.')[0]}(data_collator=) of rows with {min(left)}"
        call.fix(row, old, "set remove_unused_columns=False, and remove the others yourself")
    return None


def _constants(code: CodeType) -> Iterator[str]:
    for each in nested_codes(code):
        for known in each.co_consts:
            # `for name in ("x", "y")` has both in one.
            parts = known if isinstance(known, tuple) else (known,)
            yield from (part for part in parts if isinstance(part, str))
