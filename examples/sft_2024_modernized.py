"""QLoRA of an instruction dataset, as scripts were written in the summer of 2024.

This is what `patchkit modernize examples/sft_2024.py` makes of that script, for TRL 1.16 and
Transformers 5.23; only these lines were written by hand.

    python examples/tiny_model.py tiny
    patchkit run -- python examples/sft_2024_modernized.py --model tiny --dataset tiny/rows.jsonl
"""

import argparse

import torch
from datasets import load_dataset
from peft import LoraConfig, prepare_model_for_kbit_training
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    BitsAndBytesConfig,
)
from trl import SFTTrainer, SFTConfig
from patchkit.replacements import DataCollatorForCompletionOnlyLM

ANSWER = "assistant :"


def formatting_func(rows):
    texts = []
    for instruction, response in zip(rows["instruction"], rows["response"]):
        texts.append(f"user : {instruction} {ANSWER} {response}")
    return texts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="mistralai/Mistral-7B-v0.1")
    parser.add_argument("--dataset", default="rows.jsonl")
    parser.add_argument("--output", default="adapters")
    parser.add_argument("--steps", type=int, default=100)
    options = parser.parse_args()

    tokenizer = AutoTokenizer.from_pretrained(options.model)
    tokenizer.pad_token = tokenizer.eos_token
    tokenizer.padding_side = "right"
    model = AutoModelForCausalLM.from_pretrained(
        options.model,
        torch_dtype=torch.float16,
        quantization_config=BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_compute_dtype=torch.float16,
            bnb_4bit_use_double_quant=True,
        ),
        device_map="auto" if torch.cuda.is_available() else {"": "cpu"},
    )
    model.config.use_cache = False
    model = prepare_model_for_kbit_training(model)

    trainer = SFTTrainer(
        model=model,
        processing_class=tokenizer,
        train_dataset=load_dataset("json", data_files=options.dataset, split="train"),
        peft_config=LoraConfig(
            r=16,
            lora_alpha=32,
            lora_dropout=0.05,
            target_modules=["q_proj", "k_proj", "v_proj", "o_proj"],
            task_type="CAUSAL_LM",
        ),
        formatting_func=lambda row: formatting_func({name: [value] for name, value in row.items()})[0],
        data_collator=DataCollatorForCompletionOnlyLM(ANSWER, tokenizer=tokenizer),
        args=SFTConfig(
            output_dir=options.output,
            eval_strategy="no",
            per_device_train_batch_size=2,
            gradient_accumulation_steps=2,
            warmup_steps=0.03,
            learning_rate=2e-4,
            max_steps=options.steps,
            logging_steps=1,
            save_strategy="no",
            optim="adamw_torch",
            fp16=True,
            report_to="none",
            bf16=False,
            gradient_checkpointing=False,
            max_length=512,
            packing=False,
        ),
    )
    trainer.train()
    trainer.model.save_pretrained(options.output)


if __name__ == "__main__":
    main()
