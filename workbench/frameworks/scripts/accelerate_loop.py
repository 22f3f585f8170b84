"""A training loop of one's own, in the shape of Accelerate's examples.

python accelerate_loop.py --model … --train_file … --dtype bfloat16 --mixed_precision bf16
"""

import argparse
import json

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from datasets import load_dataset
from peft import LoraConfig, get_peft_model
from torch.utils.data import DataLoader
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BitsAndBytesConfig,
    get_linear_schedule_with_warmup,
)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model")
    parser.add_argument("--train_file")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--mixed_precision", default="no")
    parser.add_argument("--max_steps", type=int, default=3)
    parser.add_argument("--lora", action="store_true")
    parser.add_argument("--load_in_4bit", action="store_true")
    options = parser.parse_args()
    accelerator = Accelerator(mixed_precision=options.mixed_precision)
    set_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(options.model)
    dataset = load_dataset("json", data_files=options.train_file, split="train")
    dataset = dataset.map(lambda rows: tokenizer(rows["text"]), batched=True)
    dataset = dataset.remove_columns("text").rename_column("label", "labels")
    loader = DataLoader(
        dataset,
        batch_size=2,
        shuffle=True,
        collate_fn=lambda rows: tokenizer.pad(rows, return_tensors="pt"),
    )
    quantization = None
    if options.load_in_4bit:
        quantization = BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_compute_dtype=getattr(torch, options.dtype),
        )
    model = AutoModelForSequenceClassification.from_pretrained(
        options.model, num_labels=2, dtype=options.dtype, quantization_config=quantization
    )
    if options.lora:
        config = LoraConfig(r=4, target_modules="all-linear", task_type="SEQ_CLS")
        model = get_peft_model(model, config)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-3)
    scheduler = get_linear_schedule_with_warmup(optimizer, 0, options.max_steps)
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    model.train()
    for _, batch in zip(range(options.max_steps), loader, strict=False):
        loss = model(**batch).loss
        accelerator.backward(loss)
        norm = accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
        accelerator.print(json.dumps({"loss": loss.item(), "grad_norm": float(norm)}))
    model.eval()
    losses = []
    for batch in loader:
        with torch.no_grad():
            outputs = model(**batch)
        predictions = outputs.logits.argmax(dim=-1)
        accelerator.gather_for_metrics((predictions, batch["labels"]))
        losses.append(outputs.loss.item())
    accelerator.print(json.dumps({"loss": sum(losses) / len(losses)}))


if __name__ == "__main__":
    main()
