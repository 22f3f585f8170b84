# A classifier from encodings of a whole column, batch_encode_plus, and metrics of scikit-learn.
import numpy as np
import torch
from datasets import load_dataset
from sklearn.metrics import accuracy_score, precision_recall_fscore_support
from sklearn.utils.class_weight import compute_class_weight
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments

raw = load_dataset("imdb")
tokenizer = AutoTokenizer.from_pretrained("distilbert-base-uncased", do_lower_case=True)
train_texts, train_labels = raw["train"]["text"], raw["train"]["label"]
test_texts, test_labels = raw["test"]["text"][:8], raw["test"]["label"][:8]
train_encodings = tokenizer(train_texts, truncation=True, padding=True, max_length=64)
test_encodings = tokenizer.batch_encode_plus(
    test_texts, truncation=True, padding="max_length", max_length=64, return_attention_mask=True
)
weights = compute_class_weight(class_weight="balanced", classes=np.unique(train_labels), y=train_labels)


class ImdbDataset(torch.utils.data.Dataset):
    def __init__(self, encodings, labels):
        self.encodings = encodings
        self.labels = labels

    def __getitem__(self, idx):
        item = {key: torch.tensor(val[idx]) for key, val in self.encodings.items()}
        item["labels"] = torch.tensor(self.labels[idx])
        return item

    def __len__(self):
        return len(self.labels)


def compute_metrics(pred):
    labels = pred.label_ids
    preds = pred.predictions.argmax(-1)
    precision, recall, f1, _ = precision_recall_fscore_support(labels, preds, average="binary", zero_division=0)
    return {"accuracy": accuracy_score(labels, preds), "f1": f1, "precision": precision, "recall": recall}


class WeightedTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        labels = inputs.get("labels")
        outputs = model(**inputs)
        if self.args.past_index >= 0:
            self._past = outputs[self.args.past_index]
        loss_fct = torch.nn.CrossEntropyLoss(weight=torch.tensor(weights, dtype=torch.float))
        loss = loss_fct(outputs.get("logits").view(-1, self.model.config.num_labels), labels.view(-1))
        return (loss, outputs) if return_outputs else loss


model = AutoModelForSequenceClassification.from_pretrained("distilbert-base-uncased", num_labels=2)
trainer = WeightedTrainer(
    model=model,
    args=TrainingArguments(
        output_dir="./results",
        num_train_epochs=1,
        per_device_train_batch_size=8,
        per_device_eval_batch_size=8,
        warmup_ratio=0.1,
        weight_decay=0.01,
        logging_dir="./logs",
        logging_steps=1,
        evaluation_strategy="steps",
        eval_steps=2,
        save_strategy="steps",
        save_steps=2,
        load_best_model_at_end=True,
        metric_for_best_model="f1",
        no_cuda=True,
        report_to="none",
    ),
    train_dataset=ImdbDataset(train_encodings, train_labels),
    eval_dataset=ImdbDataset(test_encodings, test_labels),
    compute_metrics=compute_metrics,
)
trainer.train()
print(trainer.evaluate())
predictions, label_ids, metrics = trainer.predict(ImdbDataset(test_encodings, test_labels))
print(len(train_texts + test_texts), predictions.shape)
