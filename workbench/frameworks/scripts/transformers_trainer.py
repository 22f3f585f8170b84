"""Causal language modelling and classification in the shape of Transformers' example scripts.

python transformers_trainer.py clm --model_name_or_path … --train_file … --output_dir …
"""

import sys
from dataclasses import dataclass

from datasets import load_dataset
from transformers import (
    AutoModelForCausalLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    DataCollatorWithPadding,
    HfArgumentParser,
    Trainer,
    TrainingArguments,
    set_seed,
)


@dataclass
class ModelArguments:
    model_name_or_path: str
    dtype: str = "auto"


@dataclass
class DataArguments:
    train_file: str
    block_size: int = 64


def main():
    task = sys.argv.pop(1)
    parser = HfArgumentParser((ModelArguments, DataArguments, TrainingArguments))
    model_args, data_args, training_args = parser.parse_args_into_dataclasses()
    set_seed(training_args.seed)
    tokenizer = AutoTokenizer.from_pretrained(model_args.model_name_or_path)
    dataset = load_dataset("json", data_files=data_args.train_file, split="train")
    options = {"max_length": data_args.block_size, "truncation": True}
    dataset = dataset.map(lambda rows: tokenizer(rows["text"], **options), batched=True)
    if task == "clm":
        model = AutoModelForCausalLM.from_pretrained(
            model_args.model_name_or_path, dtype=model_args.dtype
        )
        collator = DataCollatorForLanguageModeling(tokenizer, mlm=False)
    else:
        model = AutoModelForSequenceClassification.from_pretrained(
            model_args.model_name_or_path, dtype=model_args.dtype, num_labels=2
        )
        collator = DataCollatorWithPadding(tokenizer)
    trainer = Trainer(
        model=model,
        args=training_args,
        train_dataset=dataset,
        processing_class=tokenizer,
        data_collator=collator,
    )
    result = trainer.train()
    trainer.save_model()
    trainer.log_metrics("train", result.metrics)


if __name__ == "__main__":
    main()
