# In the style of the QLoRA repository: dataclasses of arguments that extend TrainingArguments.
import copy
from dataclasses import dataclass, field
from typing import Dict, Optional, Sequence

import torch
import transformers
from datasets import load_dataset
from peft import LoraConfig, get_peft_model
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoModelForCausalLM, AutoTokenizer, Seq2SeqTrainer, set_seed

IGNORE_INDEX = -100


@dataclass
class ModelArguments:
    model_name_or_path: Optional[str] = field(default="EleutherAI/pythia-160m")
    trust_remote_code: Optional[bool] = field(default=False)
    use_auth_token: Optional[bool] = field(default=False)


@dataclass
class DataArguments:
    dataset: str = field(default="tatsu-lab/alpaca")
    source_max_len: int = field(default=64)
    target_max_len: int = field(default=64)


@dataclass
class TrainingArguments(transformers.Seq2SeqTrainingArguments):
    cache_dir: Optional[str] = field(default=None)
    train_on_source: Optional[bool] = field(default=False)
    full_finetune: bool = field(default=False)
    lora_r: int = field(default=8)
    output_dir: str = field(default="./output")
    optim: str = field(default="adamw_torch")
    per_device_train_batch_size: int = field(default=1)
    gradient_accumulation_steps: int = field(default=4)
    max_steps: int = field(default=10)
    weight_decay: float = field(default=0.0)
    learning_rate: float = field(default=0.0002)
    remove_unused_columns: bool = field(default=False)
    max_grad_norm: float = field(default=0.3)
    do_train: bool = field(default=True)
    lr_scheduler_type: str = field(default="constant")
    warmup_ratio: float = field(default=0.03)
    logging_steps: int = field(default=1)
    group_by_length: bool = field(default=False)
    save_strategy: str = field(default="steps")
    save_steps: int = field(default=250)


@dataclass
class DataCollatorForCausalLM(object):
    tokenizer: transformers.PreTrainedTokenizer
    source_max_len: int
    target_max_len: int

    def __call__(self, instances: Sequence[Dict]) -> Dict[str, torch.Tensor]:
        sources = [f"{self.tokenizer.bos_token}{example['input']}" for example in instances]
        targets = [f"{example['output']}{self.tokenizer.eos_token}" for example in instances]
        tokenized_sources = self.tokenizer(
            sources, max_length=self.source_max_len, truncation=True, add_special_tokens=False
        )
        tokenized_targets = self.tokenizer(
            targets, max_length=self.target_max_len, truncation=True, add_special_tokens=False
        )
        input_ids, labels = [], []
        for source, target in zip(tokenized_sources["input_ids"], tokenized_targets["input_ids"]):
            input_ids.append(torch.tensor(source + target))
            labels.append(torch.tensor([IGNORE_INDEX] * len(source) + copy.deepcopy(target)))
        input_ids = pad_sequence(
            input_ids, batch_first=True, padding_value=self.tokenizer.pad_token_id
        )
        labels = pad_sequence(labels, batch_first=True, padding_value=IGNORE_INDEX)
        return {
            "input_ids": input_ids,
            "attention_mask": input_ids.ne(self.tokenizer.pad_token_id),
            "labels": labels,
        }


def train():
    hfparser = transformers.HfArgumentParser((ModelArguments, DataArguments, TrainingArguments))
    model_args, data_args, training_args = hfparser.parse_args_into_dataclasses()
    set_seed(training_args.seed)
    model = AutoModelForCausalLM.from_pretrained(
        model_args.model_name_or_path,
        torch_dtype=torch.float32,
        trust_remote_code=model_args.trust_remote_code,
        use_auth_token=model_args.use_auth_token,
    )
    model = get_peft_model(
        model,
        LoraConfig(r=training_args.lora_r, target_modules=["query_key_value"], task_type="CAUSAL_LM"),
    )
    tokenizer = AutoTokenizer.from_pretrained(
        model_args.model_name_or_path, padding_side="right", use_fast=False
    )
    tokenizer.add_special_tokens({"pad_token": "[PAD]"})
    model.resize_token_embeddings(len(tokenizer))
    dataset = load_dataset(data_args.dataset, split="train")
    dataset = dataset.map(
        lambda row: {"input": f"### Instruction: {row['instruction']} ### Response: "}
    ).select_columns(["input", "output"])
    if training_args.group_by_length:
        dataset = dataset.map(lambda row: {"length": len(row["input"]) + len(row["output"])})
    trainer = Seq2SeqTrainer(
        model=model,
        tokenizer=tokenizer,
        args=training_args,
        train_dataset=dataset,
        data_collator=DataCollatorForCausalLM(
            tokenizer, data_args.source_max_len, data_args.target_max_len
        ),
    )
    train_result = trainer.train()
    trainer.log_metrics("train", train_result.metrics)
    trainer.save_state()


if __name__ == "__main__":
    train()
