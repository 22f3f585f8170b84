# A classifier from a chat model, in the style of Kaggle's LMSYS: LoRA on the first layers, log loss, pandas.
import copy
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from datasets import Dataset, load_dataset
from peft import LoraConfig, TaskType, get_peft_model, prepare_model_for_kbit_training
from sklearn.metrics import accuracy_score, log_loss
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    DataCollatorWithPadding,
    EvalPrediction,
    PreTrainedTokenizerBase,
    Trainer,
    TrainingArguments,
)


@dataclass
class Config:
    output_dir: str = "output"
    checkpoint: str = "mistralai/Mistral-7B-v0.1"
    max_length: int = 64
    optim_type: str = "adamw_torch"
    n_epochs: int = 1
    lr: float = 2e-4
    warmup_steps: int = 2
    lora_r: int = 16


config = Config()
training_args = TrainingArguments(
    output_dir="output",
    overwrite_output_dir=True,
    report_to="none",
    num_train_epochs=config.n_epochs,
    per_device_train_batch_size=4,
    gradient_accumulation_steps=1,
    per_device_eval_batch_size=8,
    logging_steps=1,
    eval_strategy="epoch",
    save_strategy="steps",
    save_steps=200,
    optim=config.optim_type,
    fp16=True,
    learning_rate=config.lr,
    warmup_steps=config.warmup_steps,
    group_by_length=True,
)
lora_config = LoraConfig(
    r=config.lora_r, lora_alpha=32, target_modules=["q_proj", "k_proj", "v_proj"], layers_to_transform=[1],
    lora_dropout=0.05, bias="none", task_type=TaskType.SEQ_CLS,
)
tokenizer = AutoTokenizer.from_pretrained(config.checkpoint)
tokenizer.add_eos_token = True
tokenizer.padding_side = "right"
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForSequenceClassification.from_pretrained(
    config.checkpoint, num_labels=3, torch_dtype=torch.float32, device_map="auto"
)
model.config.use_cache = False
model.config.pad_token_id = tokenizer.pad_token_id
model = prepare_model_for_kbit_training(model)
model = get_peft_model(model, lora_config)
model.print_trainable_parameters()
rows = load_dataset("imdb", split="train").to_pandas()
ds = Dataset.from_pandas(pd.DataFrame({"prompt": rows["text"], "winner": rows["label"]}))
ds = ds.add_column("tie", [0] * len(ds)).class_encode_column("winner")


class CustomTokenizer:
    def __init__(self, tokenizer: PreTrainedTokenizerBase, max_length: int):
        self.tokenizer = tokenizer
        self.max_length = max_length

    def __call__(self, batch: dict) -> dict:
        texts = ["<prompt>: " + text for text in batch["prompt"]]
        tokenized = self.tokenizer(texts, max_length=self.max_length, truncation=True)
        labels = [2 if tie else winner for winner, tie in zip(batch["winner"], batch["tie"])]
        return {**tokenized, "labels": labels}


ds = ds.map(CustomTokenizer(tokenizer, max_length=config.max_length), batched=True)
print(max(len(ids) for ids in ds["input_ids"]), ds["labels"].count(0), np.unique(ds["labels"]))
label_weights = np.bincount(ds["labels"] + [2]) / len(ds)


def compute_metrics(eval_preds: EvalPrediction) -> dict:
    preds = eval_preds.predictions
    labels = eval_preds.label_ids
    probs = torch.from_numpy(preds).float().softmax(-1).numpy()
    return {
        "acc": accuracy_score(y_true=labels, y_pred=preds.argmax(-1)),
        "log_loss": log_loss(y_true=labels, y_pred=probs, labels=[0, 1, 2]),
    }


folds = [([i for i in range(len(ds)) if i % 5 != fold], [i for i in range(len(ds)) if i % 5 == fold]) for fold in range(5)]
train_idx, eval_idx = folds[0]
trainer = Trainer(
    args=training_args,
    model=model,
    tokenizer=tokenizer,
    train_dataset=ds.select(train_idx),
    eval_dataset=ds.select(eval_idx),
    compute_metrics=compute_metrics,
    data_collator=DataCollatorWithPadding(tokenizer=tokenizer),
)
trainer.train()
