"""SFT and DPO as the recipes of the alignment-handbook start them: written for TRL of 2024.

python alignment_handbook.py sft recipe.yaml
"""

import sys
from dataclasses import dataclass, field

import torch
import yaml
from datasets import load_dataset
from peft import LoraConfig
from transformers import AutoTokenizer, BitsAndBytesConfig, HfArgumentParser, set_seed
from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer, get_kbit_device_map


@dataclass
class ModelArguments:
    model_name_or_path: str = ""
    torch_dtype: str = "auto"
    attn_implementation: str = "eager"
    use_peft: bool = False
    lora_r: int = 16
    lora_alpha: int = 32
    lora_target_modules: list[str] = field(default_factory=list)
    load_in_4bit: bool = False
    load_in_8bit: bool = False


@dataclass
class DataArguments:
    dataset: str = ""


def quantization(arguments):
    if arguments.load_in_4bit:
        return BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_compute_dtype=getattr(torch, arguments.torch_dtype),
            bnb_4bit_quant_type="nf4",
        )
    return BitsAndBytesConfig(load_in_8bit=True) if arguments.load_in_8bit else None


def adapters(arguments):
    if not arguments.use_peft:
        return None
    return LoraConfig(
        r=arguments.lora_r,
        lora_alpha=arguments.lora_alpha,
        target_modules=arguments.lora_target_modules,
        task_type="CAUSAL_LM",
    )


def load_kwargs(arguments):
    quantization_config = quantization(arguments)
    return {
        "attn_implementation": arguments.attn_implementation,
        "torch_dtype": getattr(torch, arguments.torch_dtype),
        "use_cache": False,
        "device_map": get_kbit_device_map() if quantization_config is not None else None,
        "quantization_config": quantization_config,
    }


def sft(recipe):
    parser = HfArgumentParser((ModelArguments, DataArguments, SFTConfig))
    model_args, data_args, training_args = parser.parse_dict(recipe)
    set_seed(training_args.seed)
    tokenizer = AutoTokenizer.from_pretrained(model_args.model_name_or_path)
    dataset = load_dataset("json", data_files=data_args.dataset, split="train")

    def to_text(row):
        return {"text": tokenizer.apply_chat_template(row["messages"], tokenize=False)}

    dataset = dataset.map(to_text, remove_columns=["messages"])
    trainer = SFTTrainer(
        model=model_args.model_name_or_path,
        model_init_kwargs=load_kwargs(model_args),
        args=training_args,
        train_dataset=dataset,
        dataset_text_field="text",
        max_seq_length=64,
        tokenizer=tokenizer,
        packing=True,
        peft_config=adapters(model_args),
    )
    trainer.train()
    trainer.save_model(training_args.output_dir)


def dpo(recipe):
    parser = HfArgumentParser((ModelArguments, DataArguments, DPOConfig))
    model_args, data_args, training_args = parser.parse_dict(recipe)
    set_seed(training_args.seed)
    tokenizer = AutoTokenizer.from_pretrained(model_args.model_name_or_path)
    dataset = load_dataset("json", data_files=data_args.dataset, split="train")
    kwargs = load_kwargs(model_args)
    trainer = DPOTrainer(
        model_args.model_name_or_path,
        None if model_args.use_peft else model_args.model_name_or_path,
        model_init_kwargs=kwargs,
        ref_model_init_kwargs=None if model_args.use_peft else kwargs,
        args=training_args,
        beta=0.05,
        train_dataset=dataset,
        tokenizer=tokenizer,
        max_length=64,
        max_prompt_length=32,
        peft_config=adapters(model_args),
    )
    trainer.train()
    trainer.save_model(training_args.output_dir)


if __name__ == "__main__":
    with open(sys.argv[2], encoding="utf-8") as file:
        {"sft": sft, "dpo": dpo}[sys.argv[1]](yaml.safe_load(file))
