# Text classification with the plain Trainer and LoRA.
import numpy as np
from datasets import load_dataset
from peft import LoraConfig, TaskType, get_peft_model
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    DataCollatorWithPadding,
    Trainer,
    TrainingArguments,
)

checkpoint = "distilbert-base-uncased"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
dataset = load_dataset("stanfordnlp/imdb")
tokenized = dataset.map(lambda rows: tokenizer(rows["text"], truncation=True), batched=True)
model = AutoModelForSequenceClassification.from_pretrained(
    checkpoint, num_labels=2, id2label={0: "NEGATIVE", 1: "POSITIVE"}, label2id={"NEGATIVE": 0, "POSITIVE": 1}
)
model = get_peft_model(
    model, LoraConfig(task_type=TaskType.SEQ_CLS, r=4, lora_alpha=32, target_modules=["q_lin", "v_lin"])
)


def compute_metrics(eval_pred):
    predictions, labels = eval_pred
    return {"accuracy": float((np.argmax(predictions, axis=1) == labels).mean())}


trainer = Trainer(
    model=model,
    args=TrainingArguments(
        output_dir="distilbert-lora",
        overwrite_output_dir=True,
        learning_rate=1e-3,
        per_device_train_batch_size=8,
        per_device_eval_batch_size=8,
        num_train_epochs=2,
        weight_decay=0.01,
        eval_strategy="epoch",
        save_strategy="epoch",
        logging_steps=1,
        load_best_model_at_end=True,
        warmup_ratio=0.1,
        report_to="none",
    ),
    train_dataset=tokenized["train"],
    eval_dataset=tokenized["test"],
    tokenizer=tokenizer,
    data_collator=DataCollatorWithPadding(tokenizer=tokenizer),
    compute_metrics=compute_metrics,
)
trainer.train()
