# The longer way of the QLoRA repository: a namespace of all arguments, generation, callbacks, metrics.
import argparse
import json
import os
from dataclasses import dataclass, field
from os.path import exists, isdir, join
from typing import Optional

import bitsandbytes as bnb
import numpy as np
import torch
import transformers
from datasets import load_dataset
from peft import LoraConfig, PeftModel, get_peft_model, prepare_model_for_kbit_training
from peft.tuners.lora import LoraLayer
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    BitsAndBytesConfig,
    LlamaTokenizer,
    Seq2SeqTrainer,
    set_seed,
)

DEFAULT_PAD_TOKEN = "[PAD]"


@dataclass
class ModelArguments:
    model_name_or_path: Optional[str] = field(default="huggyllama/llama-7b")
    trust_remote_code: Optional[bool] = field(default=False)
    use_auth_token: Optional[bool] = field(default=False)


@dataclass
class DataArguments:
    eval_dataset_size: int = field(default=8)
    max_eval_samples: Optional[int] = field(default=None)


@dataclass
class TrainingArguments(transformers.Seq2SeqTrainingArguments):
    cache_dir: Optional[str] = field(default=None)
    adam8bit: bool = field(default=False)
    double_quant: bool = field(default=True)
    quant_type: str = field(default="nf4")
    bits: int = field(default=4)
    lora_r: int = field(default=8)
    lora_alpha: float = field(default=16)
    lora_dropout: float = field(default=0.0)
    max_memory_MB: int = field(default=8000)
    report_to: str = field(default="none")
    output_dir: str = field(default="./output")
    optim: str = field(default="adamw_torch")
    per_device_train_batch_size: int = field(default=2)
    gradient_accumulation_steps: int = field(default=2)
    max_steps: int = field(default=3)
    weight_decay: float = field(default=0.0)
    learning_rate: float = field(default=0.0002)
    remove_unused_columns: bool = field(default=False)
    max_grad_norm: float = field(default=0.3)
    gradient_checkpointing: bool = field(default=True)
    do_train: bool = field(default=True)
    lr_scheduler_type: str = field(default="constant")
    warmup_ratio: float = field(default=0.03)
    logging_steps: int = field(default=1)
    group_by_length: bool = field(default=True)
    save_strategy: str = field(default="steps")
    save_steps: int = field(default=2)
    save_total_limit: int = field(default=40)


@dataclass
class GenerationArguments:
    max_new_tokens: Optional[int] = field(default=8)
    do_sample: Optional[bool] = field(default=False)
    num_beams: Optional[int] = field(default=1)
    use_cache: Optional[bool] = field(default=True)


def find_all_linear_names(args, model):
    cls = bnb.nn.Linear4bit if args.bits == 4 else (bnb.nn.Linear8bitLt if args.bits == 8 else torch.nn.Linear)
    names = set()
    for name, module in model.named_modules():
        if isinstance(module, cls):
            parts = name.split(".")
            names.add(parts[0] if len(parts) == 1 else parts[-1])
    names.discard("lm_head")
    return list(names)


class SavePeftModelCallback(transformers.TrainerCallback):
    def save_model(self, args, state, kwargs):
        if state.best_model_checkpoint is not None:
            folder = os.path.join(state.best_model_checkpoint, "adapter_model")
        else:
            folder = os.path.join(args.output_dir, f"checkpoint-{state.global_step}")
        kwargs["model"].save_pretrained(os.path.join(folder, "adapter_model"))
        weights = os.path.join(folder, "pytorch_model.bin")
        if os.path.exists(weights):
            os.remove(weights)

    def on_save(self, args, state, control, **kwargs):
        self.save_model(args, state, kwargs)
        return control

    def on_train_end(self, args, state, control, **kwargs):
        open(os.path.join(args.output_dir, "completed"), "a").close()
        self.save_model(args, state, kwargs)


def get_accelerate_model(args):
    max_memory = {"cpu": f"{args.max_memory_MB}MB"}
    device_map = "auto" if torch.cuda.is_available() else {"": "cpu"}
    compute_dtype = torch.float16 if args.fp16 else (torch.bfloat16 if args.bf16 else torch.float32)
    model = AutoModelForCausalLM.from_pretrained(
        args.model_name_or_path,
        cache_dir=args.cache_dir,
        device_map=device_map,
        max_memory=max_memory,
        quantization_config=BitsAndBytesConfig(
            load_in_4bit=args.bits == 4,
            load_in_8bit=args.bits == 8,
            llm_int8_threshold=6.0,
            llm_int8_has_fp16_weight=False,
            bnb_4bit_compute_dtype=compute_dtype,
            bnb_4bit_use_double_quant=args.double_quant,
            bnb_4bit_quant_type=args.quant_type,
        ),
        torch_dtype=compute_dtype,
        trust_remote_code=args.trust_remote_code,
        use_auth_token=args.use_auth_token,
    )
    setattr(model, "model_parallel", True)
    setattr(model, "is_parallelizable", True)
    model.config.torch_dtype = torch.float32
    tokenizer = AutoTokenizer.from_pretrained(
        args.model_name_or_path,
        cache_dir=args.cache_dir,
        padding_side="right",
        use_fast=False,
        tokenizer_type="llama" if "llama" in args.model_name_or_path else None,
        trust_remote_code=args.trust_remote_code,
        use_auth_token=args.use_auth_token,
    )
    if tokenizer._pad_token is None:
        added = tokenizer.add_special_tokens(dict(pad_token=DEFAULT_PAD_TOKEN))
        model.resize_token_embeddings(len(tokenizer))
        if added > 0:
            data = model.get_input_embeddings().weight.data
            data[-added:] = data[:-added].mean(dim=0, keepdim=True)
    if "llama" in args.model_name_or_path or isinstance(tokenizer, LlamaTokenizer):
        tokenizer.add_special_tokens(
            {
                "eos_token": tokenizer.convert_ids_to_tokens(model.config.eos_token_id),
                "bos_token": tokenizer.convert_ids_to_tokens(model.config.bos_token_id),
                "unk_token": tokenizer.convert_ids_to_tokens(
                    model.config.pad_token_id if model.config.pad_token_id not in (None, -1) else 0
                ),
            }
        )
    model = prepare_model_for_kbit_training(model, use_gradient_checkpointing=args.gradient_checkpointing)
    config = LoraConfig(
        r=args.lora_r,
        lora_alpha=args.lora_alpha,
        target_modules=find_all_linear_names(args, model),
        lora_dropout=args.lora_dropout,
        bias="none",
        task_type="CAUSAL_LM",
    )
    model = get_peft_model(model, config)
    for name, module in model.named_modules():
        if isinstance(module, LoraLayer):
            if args.bf16:
                module = module.to(torch.bfloat16)
        if "norm" in name:
            module = module.to(torch.float32)
    return model, tokenizer


def get_last_checkpoint(folder):
    if isdir(folder):
        if exists(join(folder, "completed")):
            return None, True
        steps = [int(f.replace("checkpoint-", "")) for f in os.listdir(folder) if f.startswith("checkpoint")]
        return (join(folder, f"checkpoint-{max(steps)}"), False) if steps else (None, False)
    return None, False


def train():
    hfparser = transformers.HfArgumentParser(
        (ModelArguments, DataArguments, TrainingArguments, GenerationArguments)
    )
    model_args, data_args, training_args, generation_args, extra = hfparser.parse_args_into_dataclasses(
        return_remaining_strings=True
    )
    training_args.generation_config = transformers.GenerationConfig(**vars(generation_args))
    args = argparse.Namespace(**vars(model_args), **vars(data_args), **vars(training_args))
    checkpoint_dir, done = get_last_checkpoint(args.output_dir)
    model, tokenizer = get_accelerate_model(args)
    model.config.use_cache = False
    set_seed(args.seed)
    dataset = load_dataset("tatsu-lab/alpaca", split="train")
    parts = dataset.train_test_split(test_size=data_args.eval_dataset_size, shuffle=True, seed=42)
    for name in parts:
        parts[name] = parts[name].map(lambda row: {"length": len(row["text"])})

    def collate(rows):
        batch = tokenizer([row["text"] for row in rows], padding=True, truncation=True, max_length=96, return_tensors="pt")
        labels = batch["input_ids"].clone()
        labels[batch["attention_mask"] == 0] = -100
        return {**batch, "labels": labels}

    trainer = Seq2SeqTrainer(
        model=model,
        tokenizer=tokenizer,
        args=training_args,
        train_dataset=parts["train"],
        eval_dataset=parts["test"],
        data_collator=collate,
    )
    trainer.add_callback(SavePeftModelCallback)
    all_metrics = {"run_name": args.run_name}
    if args.do_train:
        result = trainer.train()
        trainer.log_metrics("train", result.metrics)
        trainer.save_metrics("train", result.metrics)
        trainer.save_state()
        all_metrics.update(result.metrics)
    metrics = trainer.evaluate(metric_key_prefix="eval")
    trainer.log_metrics("eval", metrics)
    assert np.isfinite(metrics["eval_loss"])
    with open(os.path.join(args.output_dir, "metrics.json"), "w") as out:
        out.write(json.dumps(all_metrics))


if __name__ == "__main__":
    train()
