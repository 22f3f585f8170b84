"""Rows of the datasets that stand in for those of the Hub: the same columns, made-up sentences."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

Row = dict[str, Any]

_THINGS = ("river", "garden", "engine", "letter", "mountain", "recipe", "teacher", "window")
_ACTS = ("explain", "describe", "compare", "summarize", "improve", "translate", "list", "review")
_KINDS = ("small", "old", "quiet", "useful", "bright", "simple", "famous", "broken")


def sentence(chance: random.Random) -> str:
    """Return a made-up sentence of the few words that the tokenizers know best."""
    return (
        f"The {chance.choice(_KINDS)} {chance.choice(_THINGS)} can {chance.choice(_ACTS)} "
        f"a {chance.choice(_KINDS)} {chance.choice(_THINGS)}."
    )


def question(chance: random.Random) -> str:
    """Return a made-up instruction."""
    return (
        f"{chance.choice(_ACTS).capitalize()} the {chance.choice(_KINDS)} {chance.choice(_THINGS)}."
    )


def answer(chance: random.Random) -> str:
    """Return a made-up answer of one to three sentences."""
    return " ".join(sentence(chance) for _ in range(chance.randint(1, 3)))


def turns(*texts: str) -> list[Row]:
    """Return texts as the messages of user and assistant in turn."""
    roles = itertools.cycle(("user", "assistant"))
    return [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)]


def alpaca(chance: random.Random) -> Row:
    instruction, extra, output = question(chance), "", answer(chance)
    if chance.random() < 0.5:
        extra = sentence(chance)
    text = f"### Instruction:\n{instruction}\n\n### Response:\n{output}"
    return {"instruction": instruction, "input": extra, "output": output, "text": text}


def guanaco(chance: random.Random) -> Row:
    return {"text": f"### Human: {question(chance)}### Assistant: {answer(chance)}"}


def llama_chat_text(chance: random.Random) -> Row:
    return {"text": f"<s>[INST] {question(chance)} [/INST] {answer(chance)} </s>"}


def dolly(chance: random.Random) -> Row:
    return {
        "instruction": question(chance),
        "context": sentence(chance),
        "response": answer(chance),
        "category": "open_qa",
    }


def labelled(chance: random.Random) -> Row:
    return {"text": answer(chance) + " " + answer(chance), "label": chance.randint(0, 1)}


def sql(chance: random.Random) -> Row:
    thing = chance.choice(_THINGS)
    return {
        "question": question(chance),
        "context": f"CREATE TABLE {thing} (name VARCHAR)",
        "answer": f"SELECT name FROM {thing}",
    }


def dialogue(chance: random.Random) -> Row:
    return {
        "id": str(chance.randint(0, 99999)),
        "dialogue": f"A: {question(chance)}\nB: {answer(chance)}",
        "summary": sentence(chance),
    }


def chat(chance: random.Random) -> Row:
    prompt = question(chance)
    messages = turns(prompt, answer(chance), question(chance), answer(chance))
    return {"prompt": prompt, "prompt_id": str(chance.randint(0, 99999)), "messages": messages}


def capybara(chance: random.Random) -> Row:
    return {"source": "made-up", "messages": chat(chance)["messages"], "num_turns": 2}


def sharegpt(chance: random.Random) -> Row:
    names = {"user": "human", "assistant": "gpt"}
    return {
        "conversations": [
            {"from": names[turn["role"]], "value": turn["content"]}
            for turn in chat(chance)["messages"]
        ]
    }


def harmless(chance: random.Random) -> Row:
    start = f"\n\nHuman: {question(chance)}\n\nAssistant:"
    return {"chosen": f"{start} {answer(chance)}", "rejected": f"{start} {answer(chance)}"}


def harmless_pairs(chance: random.Random) -> Row:
    prompt = f"\n\nHuman: {question(chance)}\n\nAssistant:"
    return {
        "prompt": prompt,
        "response": answer(chance),
        "chosen": answer(chance),
        "rejected": answer(chance),
    }


def orca_pairs(chance: random.Random) -> Row:
    return {
        "system": "You are a helpful assistant.",
        "question": question(chance),
        "chosen": answer(chance),
        "rejected": answer(chance),
    }


def stack_pairs(chance: random.Random) -> Row:
    return {
        "question": question(chance),
        "response_j": answer(chance),
        "response_k": answer(chance),
    }


def feedback(chance: random.Random) -> Row:
    prompt = question(chance)
    return {
        "prompt": prompt,
        "prompt_id": str(chance.randint(0, 99999)),
        "chosen": turns(prompt, answer(chance)),
        "rejected": turns(prompt, answer(chance)),
        "messages": turns(prompt, answer(chance)),
        "score_chosen": 8.0,
        "score_rejected": 4.0,
    }


def implicit_pairs(chance: random.Random) -> Row:
    prompt = question(chance)
    return {
        "chosen": turns(prompt, answer(chance)),
        "rejected": turns(prompt, answer(chance)),
        "score_chosen": 8.0,
        "score_rejected": 4.0,
    }


def dpo_mix(chance: random.Random) -> Row:
    row = implicit_pairs(chance)
    return {
        "dataset": "made-up",
        "chosen": row["chosen"],
        "rejected": row["rejected"],
        "chosen_rating": 5.0,
        "rejected_rating": 2.0,
    }


def orpo_mix(chance: random.Random) -> Row:
    row = implicit_pairs(chance)
    return {
        "source": "made-up",
        "chosen": row["chosen"],
        "rejected": row["rejected"],
        "prompt": row["chosen"][0]["content"],
        "question": row["chosen"][0]["content"],
    }


def unpaired(chance: random.Random) -> Row:
    return {
        "prompt": turns(question(chance)),
        "completion": [{"role": "assistant", "content": answer(chance)}],
        "label": chance.random() < 0.5,
    }


def summaries(chance: random.Random) -> Row:
    return {"prompt": f"{answer(chance)}\n\nTL;DR:", "completion": f" {sentence(chance)}"}


def prompts(chance: random.Random) -> Row:
    return {"prompt": turns(question(chance))}


def arithmetic(chance: random.Random) -> Row:
    left, right = chance.randint(1, 50), chance.randint(1, 50)
    total = left + right
    return {
        "question": f"A garden has {left} letters and {right} windows. How many is that?",
        "answer": f"It is {left} and {right}, so <<{left}+{right}={total}>>{total}.\n#### {total}",
    }


def countdown(chance: random.Random) -> Row:
    numbers = [chance.randint(1, 9) for _ in range(3)]
    return {"target": sum(numbers), "nums": numbers}


def stepwise(chance: random.Random) -> Row:
    return {
        "prompt": question(chance),
        "completions": [sentence(chance), sentence(chance)],
        "labels": [True, chance.random() < 0.5],
    }


def rows(kind: Callable[[random.Random], Row], count: int, seed: int) -> list[Row]:
    """Make rows of a kind; the same seed gives the same rows on every Python."""
    chance = random.Random(seed)
    return [kind(chance) for _ in range(count)]


def texts() -> Iterator[str]:
    """Return what the tokenizers learn from."""
    for seed, kind in enumerate((alpaca, guanaco, harmless, dolly, arithmetic, sql, dialogue)):
        for row in rows(kind, 200, seed):
            yield from (value for value in row.values() if isinstance(value, str))
