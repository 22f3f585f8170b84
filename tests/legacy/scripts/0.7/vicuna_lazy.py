# Conversations in the style of FastChat: a lazy dataset, scaled positions, a checkpoint looked for.
import json
import math
import pathlib
from dataclasses import dataclass, field
from typing import Dict, Optional

import torch
import transformers
from datasets import load_dataset
from torch.utils.data import Dataset
from transformers import Trainer
from transformers.trainer_pt_utils import LabelSmoother

IGNORE_TOKEN_ID = LabelSmoother.ignore_index


@dataclass
class ModelArguments:
    model_name_or_path: Optional[str] = field(default="huggyllama/llama-7b")
    trust_remote_code: bool = field(default=False)
    padding_side: str = field(default="right")


@dataclass
class DataArguments:
    lazy_preprocess: bool = False


@dataclass
class TrainingArguments(transformers.TrainingArguments):
    cache_dir: Optional[str] = field(default=None)
    optim: str = field(default="adamw_torch")
    model_max_length: int = field(default=512)


local_rank = None


def rank0_print(*args):
    if local_rank == 0:
        print(*args)


def preprocess(source, tokenizer) -> Dict:
    text = "A chat. "
    for turn, sentence in enumerate(source):
        text += ("USER: " if turn % 2 == 0 else "ASSISTANT: ") + sentence + ("" if turn % 2 == 0 else "</s>")
    input_ids = tokenizer(
        [text],
        return_tensors="pt",
        padding="max_length",
        max_length=tokenizer.model_max_length,
        truncation=True,
    ).input_ids
    targets = input_ids.clone()
    for conversation, target in zip([text], targets):
        total_len = int(target.ne(tokenizer.pad_token_id).sum())
        instruction_len = len(tokenizer(conversation.split("ASSISTANT: ")[0]).input_ids) - 2
        target[:1] = IGNORE_TOKEN_ID
        target[1 : 1 + instruction_len] = IGNORE_TOKEN_ID
        target[total_len:] = IGNORE_TOKEN_ID
    return dict(input_ids=input_ids, labels=targets, attention_mask=input_ids.ne(tokenizer.pad_token_id))


class LazySupervisedDataset(Dataset):
    def __init__(self, raw_data, tokenizer):
        self.tokenizer = tokenizer
        self.raw_data = raw_data
        self.cached_data_dict = {}

    def __len__(self):
        return len(self.raw_data)

    def __getitem__(self, i):
        if i in self.cached_data_dict:
            return self.cached_data_dict[i]
        ret = preprocess(self.raw_data[i], self.tokenizer)
        ret = {key: value[0] for key, value in ret.items()}
        self.cached_data_dict[i] = ret
        return ret


def train():
    global local_rank
    parser = transformers.HfArgumentParser((ModelArguments, DataArguments, TrainingArguments))
    model_args, data_args, training_args = parser.parse_args_into_dataclasses()
    local_rank = training_args.local_rank
    config = transformers.AutoConfig.from_pretrained(
        model_args.model_name_or_path,
        cache_dir=training_args.cache_dir,
        trust_remote_code=model_args.trust_remote_code,
    )
    orig_ctx_len = getattr(config, "max_position_embeddings", None)
    if orig_ctx_len and training_args.model_max_length > orig_ctx_len:
        scaling_factor = float(math.ceil(training_args.model_max_length / orig_ctx_len))
        config.rope_scaling = {"type": "linear", "factor": scaling_factor}
    config.use_cache = False
    model = transformers.AutoModelForCausalLM.from_pretrained(
        model_args.model_name_or_path,
        config=config,
        cache_dir=training_args.cache_dir,
        trust_remote_code=model_args.trust_remote_code,
        torch_dtype=torch.float32,
    )
    tokenizer = transformers.AutoTokenizer.from_pretrained(
        model_args.model_name_or_path,
        config=config,
        cache_dir=training_args.cache_dir,
        model_max_length=training_args.model_max_length,
        padding_side=model_args.padding_side,
        use_fast=False,
        trust_remote_code=model_args.trust_remote_code,
    )
    if tokenizer.pad_token != tokenizer.unk_token:
        tokenizer.pad_token = tokenizer.unk_token
    rows = load_dataset("tatsu-lab/alpaca", split="train")
    raw = [[row["instruction"], row["output"]] for row in rows]
    trainer = Trainer(
        model=model,
        tokenizer=tokenizer,
        args=training_args,
        train_dataset=LazySupervisedDataset(raw, tokenizer),
        eval_dataset=None,
    )
    if list(pathlib.Path(training_args.output_dir).glob("checkpoint-*")):
        trainer.train(resume_from_checkpoint=True)
    else:
        trainer.train()
    model.config.use_cache = True
    trainer.save_state()
    if trainer.is_deepspeed_enabled:
        trainer.save_model()
    else:
        trainer.save_model(training_args.output_dir)
    rank0_print(json.dumps(model.config.rope_scaling))


if __name__ == "__main__":
    train()
