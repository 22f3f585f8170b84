"""LoRA and QLoRA in the shape of PEFT's examples.

python peft_qlora.py --model_name_or_path … --train_file … --output_dir …
"""

from dataclasses import dataclass

import torch
from datasets import load_dataset
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    BitsAndBytesConfig,
    DataCollatorForLanguageModeling,
    HfArgumentParser,
    Trainer,
    TrainingArguments,
    set_seed,
)


@dataclass
class ScriptArguments:
    model_name_or_path: str
    train_file: str
    dtype: str = "bfloat16"
    load_in_4bit: bool = False
    load_in_8bit: bool = False
    modules_to_save: str | None = None


def main():
    parser = HfArgumentParser((ScriptArguments, TrainingArguments))
    script_args, training_args = parser.parse_args_into_dataclasses()
    set_seed(training_args.seed)
    dtype = getattr(torch, script_args.dtype)
    quantization_config = None
    if script_args.load_in_4bit:
        quantization_config = BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_use_double_quant=True,
            bnb_4bit_compute_dtype=dtype,
        )
    elif script_args.load_in_8bit:
        quantization_config = BitsAndBytesConfig(load_in_8bit=True)
    model = AutoModelForCausalLM.from_pretrained(
        script_args.model_name_or_path, dtype=dtype, quantization_config=quantization_config
    )
    if quantization_config is not None:
        model = prepare_model_for_kbit_training(model)
    saved = script_args.modules_to_save.split(",") if script_args.modules_to_save else None
    config = LoraConfig(
        r=4, lora_alpha=8, target_modules="all-linear", modules_to_save=saved, task_type="CAUSAL_LM"
    )
    model = get_peft_model(model, config)
    tokenizer = AutoTokenizer.from_pretrained(script_args.model_name_or_path)
    dataset = load_dataset("json", data_files=script_args.train_file, split="train")
    dataset = dataset.map(lambda rows: tokenizer(rows["text"]), batched=True)
    trainer = Trainer(
        model=model,
        args=training_args,
        train_dataset=dataset,
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
    )
    trainer.train()
    model.save_pretrained(training_args.output_dir)


if __name__ == "__main__":
    main()
