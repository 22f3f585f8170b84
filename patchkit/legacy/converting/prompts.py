"""Truncate prompts, completions and texts by tokens, as trainers did."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..changes import Behaviour
from ..versions.written_for import WrittenFor
from .call import OldCall
from .configuration import configure
from .conversions import most_tokens

OF_PROMPT = "max_prompt_length"
OF_COMPLETION = "max_completion_length"
OF_TRAINER = "max_prompt_length_of_trainer"
"""The attribute for a value that a script gave to the trainer, as up to TRL 0.12."""
MODE = "truncation_mode"
HOW = "how prompts are truncated"
"""The name of the rows of the table whose behaviours truncate prompts."""

Ids = Sequence[int]
Marked = tuple[Ids, list[Ids]]


@dataclass(frozen=True)
class Limits:
    """How long sequences may be.

    Args:
        prompt: most tokens of a prompt; None for any number.
        completion: the same of a completion.
        whole: most tokens of both.
        from_start: a prompt keeps its first tokens, not its last.
        if_too_long: only what is longer than `whole` is truncated.
    """

    prompt: int | None
    completion: int | None
    whole: int | None
    from_start: bool
    if_too_long: bool

    def cut(self, prompt: Ids, completions: Sequence[Ids]) -> tuple[Ids, list[Ids]]:
        """Truncate a prompt, and the completions that belong to it."""
        if not self.if_too_long:
            return self._cut_prompt(prompt), [ids[: self.completion] for ids in completions]
        longest = max(len(ids) for ids in completions)
        if self._is_too_long(len(prompt) + longest):
            prompt = self._cut_prompt(prompt)
        if self.whole is not None and self._is_too_long(len(prompt) + longest):
            room = max(0, self.whole - (self.prompt or 0))
            return prompt, [ids[:room] for ids in completions]
        return prompt, list(completions)

    def _cut_prompt(self, prompt: Ids) -> Ids:
        if self.prompt is None:
            return prompt
        first = 0 if self.from_start else max(0, len(prompt) - self.prompt)
        return prompt[first : first + self.prompt]

    def _is_too_long(self, length: int) -> bool:
        return self.whole is not None and length > self.whole


def limits_of(args: Any, written_for: WrittenFor | None, *, always: str = "") -> Limits | None:
    """Return the limits that a configuration keeps for a script.

    Args:
        args: the configuration of a trainer.
        written_for: the releases that the script was written for.
        always: the first release that truncated each prompt, and not only what was too long.

    Returns:
        None if there are none.
    """
    of_trainer = getattr(args, OF_TRAINER, None)
    prompt = of_trainer if of_trainer is not None else getattr(args, OF_PROMPT, None)
    completion = getattr(args, OF_COMPLETION, None)
    if_too_long = not always or (
        of_trainer is not None if written_for is None else written_for.precedes(always)
    )
    if prompt is None and (completion is None or if_too_long):
        return None
    return Limits(
        prompt=prompt,
        completion=completion,
        whole=args.max_length,
        from_start=if_too_long and getattr(args, MODE, "keep_end") == "keep_start",
        if_too_long=if_too_long,
    )


def truncate_pairs(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Truncate what `DPOTrainer` has tokenized, with its former special tokens."""
    limits = limits_of(call.arguments["args"], call.written_for, always="trl 0.12.0")
    is_marked = call.written_for is not None and call.written_for.precedes("trl 0.12.0")
    if limits is None and not is_marked:
        return proceed()
    is_text = isinstance(next(iter(call.arguments["dataset"])).get("prompt"), str)
    mark = _marker(call.instance._tokenizer, is_text) if is_marked else None

    def cut(example: Mapping[str, Any]) -> dict[str, Ids]:
        prompt, answers = example["prompt_ids"], [example["chosen_ids"], example["rejected_ids"]]
        if mark is not None:
            prompt, answers = mark(prompt, answers)
        if limits is not None:
            prompt, answers = limits.cut(prompt, answers)
        return {"prompt_ids": prompt, "chosen_ids": answers[0], "rejected_ids": answers[1]}

    dataset = proceed() if limits is None else _prepared(call, row, proceed)
    return dataset.map(cut) if "prompt_ids" in next(iter(dataset)) else dataset


def _marker(tokenizer: Any, is_text: bool) -> Callable[[Ids, Sequence[Ids]], Marked]:
    """Return what gives a prompt and its answers the special tokens of `DPOTrainer` up to TRL 0.11.

    It put a beginning token before a prompt and an end token behind an answer where the text had
    none, and let the tokenizer put none. Today the tokenizer puts a beginning token before a text.
    """
    begin, end = tokenizer.bos_token_id, tokenizer.eos_token_id
    empty: Ids = tokenizer("")["input_ids"]
    is_put = is_text and begin is not None and list(empty[:1]) == [begin]

    def mark(prompt: Ids, answers: Sequence[Ids]) -> Marked:
        prompt = prompt[1:] if is_put else prompt
        if begin is not None and list(prompt[:1]) != [begin]:
            prompt = [begin, *prompt]
        return prompt, [
            ids if end is None or list(ids[-1:]) == [end] else [*ids, end] for ids in answers
        ]

    return mark


def truncate_completions(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Truncate what `KTOTrainer` has tokenized."""
    limits = limits_of(call.arguments["args"], call.written_for)
    if limits is None:
        return proceed()
    tokenizer = call.instance._tokenizer
    bos, eos = tokenizer.bos_token_id, tokenizer.eos_token_id

    def cut(example: Mapping[str, Any]) -> dict[str, Ids]:
        prompt = example["prompt_ids"]
        # The limits do not count the tokens that begin and end a text.
        begin, prompt = ([bos], prompt[1:]) if prompt[:1] == [bos] else ([], prompt)
        new: dict[str, Ids] = {}
        for name in ("KL_completion_ids", "completion_ids"):
            if name in example:
                ids = example[name]
                end, ids = ([eos], ids[:-1]) if ids[-1:] == [eos] else ([], ids)
                inner = replace(limits, whole=limits.whole and limits.whole - 2)
                shorter, (ids,) = inner.cut(prompt, [ids])
                new[name] = [*ids, *end]
                new["prompt_ids"] = [*begin, *shorter]
        return new

    return _prepared(call, row, proceed).map(cut)


def truncate_row(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Truncate a row that `ORPOTrainer` or `CPOTrainer` tokenizes."""
    trainer = call.instance
    limits = limits_of(trainer.args, call.written_for)
    if limits is None or trainer.is_encoder_decoder:
        return proceed()
    whole, trainer.max_length = trainer.max_length, 10**9
    try:
        batch = proceed()
    finally:
        trainer.max_length = whole
    sequences = {name: batch[f"{name}_input_ids"] for name in ("chosen", "rejected")}
    length = sum(label == -100 for label in batch["chosen_labels"])
    prompt, completions = limits.cut(
        sequences["chosen"][:length], [ids[length:] for ids in sequences.values()]
    )
    for name, completion in zip(sequences, completions, strict=True):
        ids = [*prompt, *completion]
        batch[f"{name}_input_ids"] = ids
        batch[f"{name}_attention_mask"] = [1] * len(ids)
        batch[f"{name}_labels"] = [*[-100] * len(prompt), *completion]
    batch["prompt_input_ids"] = prompt
    batch["prompt_attention_mask"] = [1] * len(prompt)
    return batch


def show_configuration(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Give a trainer its configuration before it tokenizes, which needs it."""
    args = call.arguments.get("args")
    if args is not None:
        vars(call.instance).setdefault("args", args)
    return proceed()


def truncate_prompts(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Truncate the prompts that `GRPOTrainer` or `RLOOTrainer` has tokenized."""
    prompts, images, others = proceed()
    longest = getattr(call.instance.args, OF_PROMPT, None)
    if longest is None:
        return prompts, images, others
    if images or others:
        raise call.refuse(row, f"max_prompt_length={longest}", _IMAGES)
    return [ids[-longest:] for ids in prompts], images, others


def check_trainer(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Refuse a length of prompts that nothing in the installed release can apply."""
    longest = getattr(call.arguments.get("args"), OF_PROMPT, None)
    if longest is not None and not hasattr(call.method.owner, "_tokenize_prompts"):
        raise call.refuse(row, f"{call.name} with max_prompt_length={longest}", _BEFORE)
    return proceed()


_BEFORE = "Truncate the prompts of the dataset before."
_IMAGES = "Prompts with images cannot be truncated: leave max_prompt_length out."


def _prepared(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Let a trainer tokenize without a limit: it would drop examples before they are truncated."""
    args = call.arguments["args"]
    call.arguments["args"] = copy.copy(args)
    call.arguments["args"].max_length = None
    dataset = proceed()
    if "prompt_ids" not in next(iter(dataset)):
        name = type(args).__name__
        raise call.refuse(row, f"{name}(max_prompt_length=)", _BEFORE)
    return dataset


def give_max_length(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Let `SFTTrainer` take texts as long as the tokenizer's model does, up to 1024 tokens."""
    is_old = call.written_for is not None and call.written_for.precedes(row.gone)
    if is_old and getattr(call.arguments.get("args"), "max_length", None) is None:
        configure(call, {"max_length": most_tokens(call)})
    return proceed()
