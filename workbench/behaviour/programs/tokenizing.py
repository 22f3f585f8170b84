"""Tokenizers: of whole words, of BERT's, GPT-2's, Llama's and T5's kinds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import tiny

ASKED = [{"role": "user", "content": "the cat"}, {"role": "assistant", "content": "sat on"}]


def calls() -> Iterator[tuple[str, Any]]:
    yield from _called(tiny.tokenizer())


def _called(made: Any, words: bool = True) -> Iterator[tuple[str, Any]]:
    first, second, third = tiny.TEXTS
    yield "one", made(first)
    yield "two", made([first, third])
    yield "pair", made("the cat", "a dog")
    yield "padded", made([first, third], padding=True)
    yield "padded to a length", made([third], padding="max_length", max_length=8)
    yield "cut", made(second, truncation=True, max_length=4)
    yield "cut pair", made(first, second, truncation=True, max_length=7)
    yield "tensors", made([first, third], padding=True, return_tensors="pt")
    yield "arrays", made(first, return_tensors="np")
    yield "without special tokens", made(first, add_special_tokens=False)
    yield "empty", made("")
    yield "ids", made.encode(first)
    if words:
        yield "words", made(["the", "cat"], is_split_into_words=True)
    yield "target", made(text_target=third)
    ids = made(first)["input_ids"]
    yield "decoded", made.decode(ids)
    yield "decoded without", made.decode(ids, skip_special_tokens=True)
    yield "all decoded", made.batch_decode([ids, ids], skip_special_tokens=True)
    yield "tokens", made.tokenize(first)
    yield "ids to tokens", made.convert_ids_to_tokens(ids)
    yield "tokens to text", made.convert_tokens_to_string(made.tokenize(first))
    yield "one token", made.convert_tokens_to_ids("cat")
    yield "unknown token", made.convert_tokens_to_ids("zebra")
    yield "unknown", made("the zebra")["input_ids"]
    yield "spaces", made.decode(made("Hello  world !  .")["input_ids"], skip_special_tokens=True)


def decoding() -> Iterator[tuple[str, Any]]:
    import numpy
    import torch

    made = tiny.tokenizer()
    ids = [1, 6, 8, 2]
    yield "one id", made.decode(6)
    yield "tensor", made.decode(torch.tensor(ids))
    yield "array", made.decode(numpy.array(ids))
    yield "batch of tensors", made.batch_decode(torch.tensor([ids, ids]))
    yield "batch of arrays", made.batch_decode(numpy.array([ids]))
    yield "batch of one sequence", made.batch_decode(ids)
    yield "sequences to decode", made.decode([ids, ids])


def attributes() -> Iterator[tuple[str, Any]]:
    made = tiny.tokenizer()
    names = "padding_side truncation_side model_max_length is_fast vocab_size pad_token pad_token_id bos_token eos_token"
    more = "mask_token unk_token special_tokens_map all_special_tokens all_special_ids name_or_path model_input_names"
    more += (
        " clean_up_tokenization_spaces chat_template additional_special_tokens added_tokens_encoder"
    )
    for name in f"{names} {more}".split():
        yield name, tiny.read(made, name)
    yield "length", len(made)
    yield "pad token's type", type(made.pad_token).__name__
    bare = tiny.tokenizer(pad_token=None)
    yield "no pad token", [bare.pad_token, bare.pad_token_id]
    made.pad_token = made.eos_token
    yield "pad is eos", [made.pad_token, made.pad_token_id]


def adding() -> Iterator[tuple[str, Any]]:
    made = tiny.tokenizer()
    yield "tokens", made.add_tokens(["new", "cat"])
    yield (
        "special",
        made.add_special_tokens({"pad_token": "[PAD]", "additional_special_tokens": ["<x>"]}),
    )
    yield "more", made.add_special_tokens({"additional_special_tokens": ["<y>"]})
    yield "after", made.special_tokens_map
    yield "all", made.all_special_tokens
    yield "length", [len(made), made.vocab_size]
    yield "ids", made("the <x> new cat <y>")["input_ids"]
    yield "decoded", made.decode(made("the <x> new <y>")["input_ids"], skip_special_tokens=True)
    yield "added", made.get_added_vocab()


def padding() -> Iterator[tuple[str, Any]]:
    made = tiny.tokenizer()
    rows = [{"input_ids": [1, 6], "labels": [6, 8]}, {"input_ids": [1, 6, 8], "labels": [8, 9]}]
    yield "lists", made.pad([dict(row) for row in rows])
    yield "tensors", made.pad([dict(row) for row in rows], return_tensors="pt")
    yield "to a multiple", made.pad([dict(row) for row in rows], pad_to_multiple_of=4)
    made.padding_side = "left"
    yield "left", made.pad([dict(row) for row in rows])


def chat() -> Iterator[tuple[str, Any]]:
    made = tiny.tokenizer()
    yield "text", made.apply_chat_template(ASKED, tokenize=False)
    yield "prompt", made.apply_chat_template(ASKED[:1], tokenize=False, add_generation_prompt=True)
    yield "ids", made.apply_chat_template(ASKED)
    yield "tensors", made.apply_chat_template(ASKED, return_tensors="pt")
    yield "dict", made.apply_chat_template(ASKED, return_dict=True)
    yield "batch", made.apply_chat_template([ASKED, ASKED])
    yield "texts", made.apply_chat_template([ASKED, ASKED], tokenize=False)
    yield "cut", made.apply_chat_template(ASKED, truncation=True, max_length=3, return_dict=False)
    yield (
        "padded",
        made.apply_chat_template(ASKED, padding="max_length", max_length=12, return_dict=False),
    )


def no_chat_template() -> Iterator[tuple[str, Any]]:
    made = tiny.tokenizer()
    made.chat_template = None
    yield "text", made.apply_chat_template(ASKED, tokenize=False)


def offsets() -> Iterator[tuple[str, Any]]:
    made = tiny.tokenizer()
    found = made("the cat", "a dog", return_offsets_mapping=True, return_special_tokens_mask=True)
    yield "found", found
    yield "words", found.word_ids()
    yield "sequences", found.sequence_ids()
    yield (
        "overflowing",
        made(
            tiny.TEXTS[0], truncation=True, max_length=4, stride=1, return_overflowing_tokens=True
        ),
    )
    yield "char to token", found.char_to_token(1)


def saving() -> Iterator[tuple[str, Any]]:
    import transformers

    made = tiny.tokenizer(model_max_length=32, padding_side="left")
    made.add_special_tokens({"additional_special_tokens": ["<x>"]})
    yield "returned", [Path(name).name for name in made.save_pretrained("kept")]
    yield "files", tiny.files("kept")
    yield "keys", tiny.keys_of("kept/tokenizer_config.json")
    yield "class", json.loads(Path("kept/tokenizer_config.json").read_text())["tokenizer_class"]
    for loader in ("AutoTokenizer", "PreTrainedTokenizerFast"):
        again = getattr(transformers, loader).from_pretrained("kept")
        yield f"{loader} type", type(again).__name__
        for name in ("padding_side", "model_max_length", "chat_template", "all_special_tokens"):
            yield f"{loader} {name}", getattr(again, name)
        yield f"{loader} ids", again("the cat <x>")["input_ids"]


def bert() -> Iterator[tuple[str, Any]]:
    import transformers

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *tiny.WORDS, "hello", "##s", "##ed"]
    Path("bert").mkdir(exist_ok=True)
    Path("bert/vocab.txt").write_text("\n".join(words) + "\n")
    Path("bert/config.json").write_text('{"model_type": "bert"}')
    Path("bert/tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer"}')
    for cls in ("BertTokenizer", "BertTokenizerFast", "AutoTokenizer"):
        made = getattr(transformers, cls).from_pretrained("bert")
        yield f"{cls} fast", made.is_fast
        for name, value in _called(made):
            yield f"{cls} {name}", value


def gpt2() -> Iterator[tuple[str, Any]]:
    import transformers

    letters = sorted(set("".join(tiny.TEXTS).replace(" ", "Ġ")) | {"Ġ"})
    merges = ["t h", "th e", "Ġ the", "c a", "ca t"]
    merged = ["th", "the", "Ġthe", "ca", "cat"]
    vocab = {piece: number for number, piece in enumerate([*letters, *merged, "<|endoftext|>"])}
    Path("gpt2").mkdir(exist_ok=True)
    Path("gpt2/vocab.json").write_text(json.dumps(vocab))
    Path("gpt2/merges.txt").write_text("#version: 0.2\n" + "\n".join(merges) + "\n")
    Path("gpt2/config.json").write_text('{"model_type": "gpt2"}')
    for cls in ("GPT2Tokenizer", "GPT2TokenizerFast", "AutoTokenizer"):
        made = getattr(transformers, cls).from_pretrained("gpt2")
        made.pad_token = made.eos_token
        for name, value in _called(made, words=False):
            yield f"{cls} {name}", value


def pieces() -> Iterator[tuple[str, Any]]:
    """Llama's and T5's, from a model of SentencePiece."""
    import sentencepiece
    import transformers

    for family, extra in (
        ("Llama", {}),
        ("T5", {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}),
    ):
        folder = Path(family)
        folder.mkdir(exist_ok=True)
        name = "tokenizer" if family == "Llama" else "spiece"
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter([*tiny.TEXTS] * 20),
            model_prefix=str(folder / name),
            vocab_size=60,
            model_type="bpe" if family == "Llama" else "unigram",
            hard_vocab_limit=False,
            minloglevel=2,
            byte_fallback=False,
            **extra,
        )
        for suffix in ("Tokenizer", "TokenizerFast"):
            cls = f"{family}{suffix}"
            made = getattr(transformers, cls).from_pretrained(str(folder))
            made.pad_token = made.eos_token
            yield f"{cls} special", made.special_tokens_map
            yield f"{cls} length", len(made)
            for fact, value in _called(made):
                yield f"{cls} {fact}", value
