# -*- coding: utf-8 -*-
from dataclasses import dataclass, field
from typing import Optional, List
import transformers
from transformers import HfArgumentParser, Trainer
from trl import ModelConfig, SFTConfig, SFTTrainer, get_kbit_device_map, get_quantization_config


@dataclass
class DataArguments:
    path: Optional[str] = field(default=None, metadata={"help": "where the data is (a \"path\")"})
    max_seq_length: int = field(default=512)
    splits: List[str] = field(default_factory=lambda: ["train"])


@dataclass
class TrainingArguments(transformers.TrainingArguments):
    cache_dir: Optional[str] = None
    evaluation_strategy: str = field(default="no")
    optim: str = "adamw_hf"


def main():
    parser = HfArgumentParser((DataArguments, TrainingArguments, ModelConfig))
    data, args, model_args = parser.parse_args_into_dataclasses()
    model_kwargs = dict(torch_dtype=model_args.torch_dtype, device_map=get_kbit_device_map(),
                        quantization_config=get_quantization_config(model_args))
    print(args.evaluation_strategy, args.overwrite_output_dir, data.max_seq_length)
    args.model_init_kwargs = model_kwargs
    trainer = SFTTrainer(model=model_args.model_name_or_path, args=args, tokenizer=None,
                         max_seq_length=data.max_seq_length)
    trainer.train(resume_from_checkpoint=args.resume_from_checkpoint)


if __name__ == "__main__": main()
