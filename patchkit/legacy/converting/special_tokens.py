"""The tokens that began a prompt and ended an answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Ids = Sequence[int]
Marked = tuple[Ids, list[Ids]]


def marked(tokenizer: Any, is_text: bool) -> Callable[[Ids, Sequence[Ids]], Marked]:
    """Return what gives a prompt and its answers the special tokens of `DPOTrainer` up to TRL 0.11.

    It put a beginning token before a prompt and an end token behind an answer where the text had
    none, and let the tokenizer put none.

    Args:
        tokenizer: the tokenizer.
        is_text: the prompts are texts, which the tokenizer puts a beginning token before today.
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
