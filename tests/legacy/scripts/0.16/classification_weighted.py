# Token classification / text classification with BERT-like model, LoRA, encode_plus, dataset columns.
import numpy as np
import torch
from datasets import load_dataset
from peft import LoraConfig, TaskType, get_peft_model
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    DataCollatorWithPadding,
    EarlyStoppingCallback,
    Trainer,
    TrainingArguments,
)

dataset = load_dataset("stanfordnlp/imdb")
tokenizer = AutoTokenizer.from_pretrained("distilbert-base-uncased")
labels = dataset["train"]["label"]
weights = [len(labels) / (2 * labels.count(i)) for i in range(2)]
train_encodings = tokenizer(dataset["train"]["text"], truncation=True, padding=True, max_length=64)
test_encodings = tokenizer(dataset["test"]["text"], truncation=True, padding=True, max_length=64)


class Reviews(torch.utils.data.Dataset):
    def __init__(self, encodings, labels):
        self.encodings = encodings
        self.labels = labels

    def __getitem__(self, idx):
        item = {key: torch.tensor(val[idx]) for key, val in self.encodings.items()}
        item["labels"] = torch.tensor(self.labels[idx])
        return item

    def __len__(self):
        return len(self.labels)


class WeightedTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = torch.nn.functional.cross_entropy(outputs.logits, labels, weight=torch.tensor(weights))
        return (loss, outputs) if return_outputs else loss


model = AutoModelForSequenceClassification.from_pretrained(
    "distilbert-base-uncased", num_labels=2, id2label={0: "neg", 1: "pos"}, label2id={"neg": 0, "pos": 1}
)
model = get_peft_model(model, LoraConfig(task_type=TaskType.SEQ_CLS, r=4, target_modules=["q_lin", "v_lin"]))


def compute_metrics(eval_pred):
    predictions, labels = eval_pred
    predictions = np.argmax(predictions, axis=1)
    return {"accuracy": (predictions == labels).mean()}


args = TrainingArguments(
    output_dir="out",
    num_train_epochs=1,
    per_device_train_batch_size=4,
    per_device_eval_batch_size=16,
    warmup_steps=2,
    weight_decay=0.01,
    logging_dir="./logs",
    logging_steps=1,
    eval_strategy="steps",
    eval_steps=2,
    save_steps=2,
    load_best_model_at_end=True,
    metric_for_best_model="accuracy",
    report_to="none",
    save_safetensors=False,
)
trainer = WeightedTrainer(
    model=model,
    args=args,
    train_dataset=Reviews(train_encodings, labels),
    eval_dataset=Reviews(test_encodings, dataset["test"]["label"]),
    compute_metrics=compute_metrics,
    tokenizer=tokenizer,
    data_collator=DataCollatorWithPadding(tokenizer),
    callbacks=[EarlyStoppingCallback(early_stopping_patience=3)],
)
trainer.train()
predictions = trainer.predict(Reviews(test_encodings, dataset["test"]["label"]))
enc = tokenizer.encode_plus("a quiet garden", return_tensors="pt", max_length=16, pad_to_max_length=True)
print(model(**enc).logits)
