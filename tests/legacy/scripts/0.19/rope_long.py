# Scaling of positions on the configuration, as long-context scripts do, started by torchrun.
import math
from dataclasses import dataclass, field
from typing import Optional

import torch
import transformers
from datasets import load_dataset
from transformers import Trainer
from transformers.trainer_pt_utils import LabelSmoother

IGNORE_TOKEN_ID = LabelSmoother.ignore_index


@dataclass
class ModelArguments:
    model_name_or_path: Optional[str] = field(default="meta-llama/Llama-2-7b-hf")
    padding_side: str = field(default="right")


@dataclass
class TrainingArguments(transformers.TrainingArguments):
    cache_dir: Optional[str] = field(default=None)
    optim: str = field(default="adamw_torch")
    model_max_length: int = field(default=4096)


def trainer_save_model_safe(trainer):
    trainer.save_model()


parser = transformers.HfArgumentParser((ModelArguments, TrainingArguments))
model_args, training_args = parser.parse_args_into_dataclasses()
config = transformers.AutoConfig.from_pretrained(model_args.model_name_or_path, cache_dir=training_args.cache_dir)
orig_ctx_len = getattr(config, "max_position_embeddings", None)
if orig_ctx_len and training_args.model_max_length > orig_ctx_len:
    scaling_factor = float(math.ceil(training_args.model_max_length / orig_ctx_len))
    config.rope_scaling = {"type": "linear", "factor": scaling_factor}
config.use_cache = False
print("theta", config.rope_theta)
model = transformers.AutoModelForCausalLM.from_pretrained(
    model_args.model_name_or_path, config=config, cache_dir=training_args.cache_dir, torch_dtype=torch.float32
)
tokenizer = transformers.AutoTokenizer.from_pretrained(
    model_args.model_name_or_path, model_max_length=64, padding_side=model_args.padding_side, use_fast=False
)
if tokenizer.pad_token != tokenizer.unk_token:
    tokenizer.pad_token = tokenizer.unk_token
texts = load_dataset("mlabonne/guanaco-llama2-1k", split="train")["text"]
ids = tokenizer(texts, return_tensors="pt", padding="max_length", max_length=64, truncation=True).input_ids


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return len(ids)

    def __getitem__(self, i):
        labels = ids[i].clone()
        labels[labels == tokenizer.pad_token_id] = IGNORE_TOKEN_ID
        return dict(input_ids=ids[i], labels=labels, attention_mask=ids[i].ne(tokenizer.pad_token_id))


trainer = Trainer(model=model, tokenizer=tokenizer, args=training_args, train_dataset=Rows(), eval_dataset=None)
trainer.train()
model.config.use_cache = True
trainer.save_state()
trainer_save_model_safe(trainer)
