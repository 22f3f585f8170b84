# A Trainer with a loss of its own, which knows the two arguments that compute_loss had.
import torch
from datasets import load_dataset
from torch import nn
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("distilbert-base-uncased")
model = AutoModelForSequenceClassification.from_pretrained("distilbert-base-uncased", num_labels=2)
dataset = load_dataset("imdb", split="train")
dataset = dataset.map(
    lambda rows: tokenizer(rows["text"], padding="max_length", max_length=64, truncation=True), batched=True
)


class WeightedTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss_fct = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0], device=outputs.logits.device))
        loss = loss_fct(outputs.logits.view(-1, 2), labels.view(-1))
        return (loss, outputs) if return_outputs else loss


trainer = WeightedTrainer(
    model=model,
    args=TrainingArguments(
        output_dir="weighted",
        per_device_train_batch_size=8,
        num_train_epochs=1,
        learning_rate=5e-4,
        logging_steps=1,
        evaluation_strategy="no",
        report_to="none",
    ),
    train_dataset=dataset,
    tokenizer=tokenizer,
)
trainer.train()
print(trainer.tokenizer.pad_token)
