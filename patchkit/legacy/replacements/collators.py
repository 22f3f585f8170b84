"""Collators of TRL before 0.20, and of Transformers before 5.20."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from transformers import DataCollatorForLanguageModeling

_PLACES = "offset_mapping"
_COLUMNS = frozenset({"input_ids", "attention_mask", "special_tokens_mask"})


@dataclass
class DataCollatorForWholeWordMask(DataCollatorForLanguageModeling):
    """Mask all tokens of a word together; a token that begins with `##` continues one."""

    whole_word_mask: bool = True

    def torch_call(self, examples: list[Any]) -> dict[str, Any]:
        """Make a batch of rows; those that do not say where tokens are in the text need not."""
        batch: dict[str, Any] = super().torch_call([self._placed(row) for row in examples])
        return batch

    def _placed(self, row: Any) -> Mapping[str, Any]:
        placed: dict[str, Any] = dict(row) if isinstance(row, Mapping) else {"input_ids": row}
        if _PLACES not in placed:
            end, places = 0, []
            for token in self.tokenizer.convert_ids_to_tokens(list(placed["input_ids"])):
                start = end if token.startswith("##") else end + 1
                end = start + 1
                places.append((start, end))
            placed[_PLACES] = places
        return placed


class DataCollatorForCompletionOnlyLM(DataCollatorForLanguageModeling):
    """Make labels of the answers alone.

    An answer begins behind a response template. It ends at the next instruction template, or with
    the row. Rows without an answer get no labels, and a warning.

    Args:
        response_template: what stands before an answer, as text or as token ids.
        instruction_template: what stands before a question; none if a row has a single answer,
            which then begins at the last response template.
        args: the tokenizer, and what else `DataCollatorForLanguageModeling` takes.
        mlm: make labels for masked language modeling.
        ignore_index: the label of tokens without a loss.
        padding_free: put all rows of a batch into a single one, with position ids that say where
            each begins.
        kwargs: handed to `DataCollatorForLanguageModeling`.
    """

    def __init__(
        self,
        response_template: str | list[int],
        instruction_template: str | list[int] | None = None,
        *args: Any,
        mlm: bool = False,
        ignore_index: int = -100,
        padding_free: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, mlm=mlm, **kwargs)
        self.response_template = response_template
        self.instruction_template = instruction_template
        self.response_token_ids = self._ids(response_template)
        self.instruction_token_ids = (
            None if instruction_template is None else self._ids(instruction_template)
        )
        self.ignore_index = ignore_index
        self.padding_free = padding_free

    def _ids(self, template: str | list[int]) -> list[int]:
        if isinstance(template, str):
            return list(self.tokenizer.encode(template, add_special_tokens=False))
        return list(template)

    def torch_call(self, examples: list[Any]) -> dict[str, Any]:
        """Make a batch of rows of token ids."""
        batch: dict[str, Any] = super().torch_call([_ids_alone(example) for example in examples])
        for ids, labels in zip(batch["input_ids"], batch["labels"], strict=True):
            for start, end in self._outside(ids.tolist(), labels.tolist()):
                labels[start:end] = self.ignore_index
        return self._without_padding(batch) if self.padding_free else batch

    def _outside(self, ids: list[int], labels: list[int]) -> list[tuple[int, int]]:
        """Return from where to where a row is no answer."""
        whole = [(0, len(ids))]
        answers = _ends(self.response_token_ids, labels)
        if not answers:
            self._warn("response", self.response_template, ids)
            return whole
        if self.instruction_token_ids is None:
            return [(0, answers[-1])]
        template = self.instruction_token_ids
        questions = [end - len(template) for end in _ends(template, labels)]
        if not questions:
            self._warn("instruction", self.instruction_template, ids)
            return whole
        if questions[0] > answers[0]:
            questions.insert(0, 0)
        outside = [(0, answers[0]), *zip(questions[1:], answers[1:], strict=False)]
        if len(answers) < len(questions):
            outside.append((questions[-1], len(ids)))
        return outside

    def _warn(self, kind: str, template: Any, ids: list[int]) -> None:
        warnings.warn(
            f"Could not find {kind} key `{template}` in the following instance: "
            f"{self.tokenizer.decode(ids)}. This instance will be ignored in loss calculation. "
            "Note, if this happens often, consider increasing the `max_length`.",
            UserWarning,
            stacklevel=4,
        )

    def _without_padding(self, batch: dict[str, Any]) -> dict[str, Any]:
        mask = batch.pop("attention_mask").bool()
        positions = (mask.cumsum(1) - 1)[mask].unsqueeze(0)
        flat = {
            "input_ids": batch["input_ids"][mask].unsqueeze(0),
            "position_ids": positions,
            "labels": batch["labels"][mask].unsqueeze(0),
        }
        flat["labels"][positions == 0] = self.ignore_index
        return flat


def _ids_alone(example: Any) -> Any:
    """Return a row without columns that cannot be filled up."""
    if not isinstance(example, Mapping):
        return example
    return {name: value for name, value in example.items() if name in _COLUMNS}


def _ends(template: list[int], labels: list[int]) -> list[int]:
    """Return the places behind a template."""
    length = len(template)
    return [
        start + length
        for start in range(len(labels) - length + 1)
        if labels[start : start + length] == template
    ]
