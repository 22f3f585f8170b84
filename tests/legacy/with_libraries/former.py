"""What TRL 0.13 and Transformers 4.47.1 gave, by their own imports.

Run it there with the folder of a model of patchkit.lab; the tests have what it printed.
"""

import json
import sys

import numpy
import torch
from transformers import AdamW, PreTrainedTokenizerFast
from trl import DataCollatorForCompletionOnlyLM, setup_chat_format
from trl.core import LengthSampler, flatten_dict, logprobs_from_logits, masked_var, masked_whiten


def tokenizer():
    return PreTrainedTokenizerFast(
        tokenizer_file=f"{sys.argv[1]}/tokenizer.json",
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
    )


def steps(correct_bias):
    weight = torch.nn.Parameter(torch.tensor([0.5, -1.0, 2.0]))
    optimizer = AdamW(
        [weight], lr=0.1, weight_decay=0.1, correct_bias=correct_bias, no_deprecation_warning=True
    )
    for step in range(3):
        weight.grad = torch.tensor([0.1 * (step + 1), -0.2, 0.3])
        optimizer.step()
    return [round(value, 6) for value in weight.tolist()]


def batch(*rows, **options):
    collator = DataCollatorForCompletionOnlyLM([7, 8], tokenizer=tokenizer(), **options)
    made = collator([{"input_ids": row, "attention_mask": [1] * len(row)} for row in rows])
    return {
        name: made[name].tolist()
        for name in ("input_ids", "labels", "position_ids")
        if name in made
    }


class Model:
    class config:  # noqa: N801
        pass

    class generation_config:  # noqa: N801
        pass

    def resize_token_embeddings(self, number=None, pad_to_multiple_of=None, new_num_tokens=None):
        self.embeddings = [number or new_num_tokens, pad_to_multiple_of]


def chat():
    model, words = setup_chat_format(Model(), tokenizer(), resize_to_multiple_of=64)
    messages = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
    ]
    return [
        words.apply_chat_template(messages, tokenize=False),
        words.apply_chat_template(messages[:2], tokenize=False, add_generation_prompt=True),
        model.embeddings,
        [words.bos_token_id, words.eos_token_id, words.pad_token_id],
        [model.config.eos_token_id, model.generation_config.pad_token_id],
        words.encode("<|im_start|>a<|im_end|>"),
    ]


def core():
    values = torch.tensor([[1.0, 2.0, 4.0], [0.0, 3.0, 9.0]])
    mask = torch.tensor([[1, 1, 0], [0, 1, 1]])
    numpy.random.seed(0)
    lengths = LengthSampler(2, 9)
    return [
        masked_whiten(values, mask).tolist(),
        masked_var(values, mask).item(),
        flatten_dict({"a": {"b": 1}, "c": 2}),
        logprobs_from_logits(values[None], torch.tensor([[0, 1]])).tolist(),
        [int(lengths()) for _ in range(5)],
    ]


print(
    json.dumps(
        {
            "corrected": steps(True),
            "uncorrected": steps(False),
            "one answer": batch([5, 7, 8, 9, 10], [5, 6, 9], [7, 8, 9, 7, 8, 11, 12])["labels"],
            "turns": batch(
                [20, 5, 7, 8, 9, 20, 6, 7, 8, 11, 12],
                [5, 7, 8, 9, 20, 6, 7, 8, 3],
                [20, 5, 7, 8, 9, 20, 6],
                [7, 8, 9, 7, 8, 4, 20, 6],
                [20, 1, 20, 2, 7, 8, 5, 20, 6],
                [7, 8, 5],
                instruction_template=[20],
            )["labels"],
            "without padding": batch([5, 7, 8, 9, 10], [6, 7, 8, 11], padding_free=True),
            "chat": chat(),
            "core": core(),
        }
    )
)
