# Tags of tokens with a LoRA, then a masked model with TextDataset-like blocks, with collators of Transformers.
import numpy as np
from datasets import ClassLabel, Dataset, DatasetDict, Features, Sequence, Value, load_dataset
from peft import LoraConfig, TaskType, get_peft_model
from transformers import (
    AutoModelForMaskedLM,
    AutoModelForTokenClassification,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    DataCollatorForTokenClassification,
    LineByLineTextDataset,
    TextDataset,
    Trainer,
    TrainingArguments,
)

names = ["O", "B-X", "I-X"]
texts = load_dataset("imdb", split="train")["text"]
features = Features({"tokens": Sequence(Value("string")), "ner_tags": Sequence(ClassLabel(names=names))})
rows = {"tokens": [text.split() for text in texts], "ner_tags": [[i % 3 for i in range(len(text.split()))] for text in texts]}
raw = DatasetDict({"train": Dataset.from_dict(rows, features=features)})
raw["validation"] = raw["train"].select(range(8))
label_list = raw["train"].features["ner_tags"].feature.names
id2label = {i: label for i, label in enumerate(label_list)}
label2id = {label: i for i, label in id2label.items()}
tokenizer = AutoTokenizer.from_pretrained("FacebookAI/roberta-base", add_prefix_space=True)


def align(examples):
    tokenized = tokenizer(examples["tokens"], truncation=True, is_split_into_words=True)
    labels = []
    for i, tags in enumerate(examples["ner_tags"]):
        previous, ids = None, []
        for word in tokenized.word_ids(batch_index=i):
            ids.append(-100 if word is None or word == previous else tags[word])
            previous = word
        labels.append(ids)
    tokenized["labels"] = labels
    return tokenized


tokenized = raw.map(align, batched=True, remove_columns=["tokens", "ner_tags"])
model = AutoModelForTokenClassification.from_pretrained(
    "FacebookAI/roberta-base", num_labels=3, id2label=id2label, label2id=label2id, ignore_mismatched_sizes=True
)
model = get_peft_model(
    model, LoraConfig(task_type=TaskType.TOKEN_CLS, inference_mode=False, r=16, lora_alpha=16, bias="all")
)


def compute_metrics(p):
    predictions = np.argmax(p[0], axis=2)
    return {"accuracy": float((predictions == p[1])[p[1] != -100].mean())}


arguments = dict(
    learning_rate=1e-3, per_device_train_batch_size=8, per_device_eval_batch_size=8, num_train_epochs=1,
    weight_decay=0.01, logging_steps=1, evaluation_strategy="epoch", save_strategy="epoch",
    load_best_model_at_end=True, report_to="none",
)
trainer = Trainer(
    model=model,
    args=TrainingArguments(output_dir="ner", **arguments),
    train_dataset=tokenized["train"],
    eval_dataset=tokenized["validation"],
    tokenizer=tokenizer,
    data_collator=DataCollatorForTokenClassification(tokenizer=tokenizer),
    compute_metrics=compute_metrics,
)
trainer.train()
with open("corpus.txt", "w") as file:
    file.write("\n".join(texts))
model = AutoModelForMaskedLM.from_pretrained("FacebookAI/roberta-base")
for dataset in (
    LineByLineTextDataset(tokenizer=tokenizer, file_path="./corpus.txt", block_size=64),
    TextDataset(tokenizer=tokenizer, file_path="./corpus.txt", block_size=32),
):
    trainer = Trainer(
        model=model,
        args=TrainingArguments(
            output_dir="./mlm", overwrite_output_dir=True, num_train_epochs=1, per_gpu_train_batch_size=8,
            save_steps=10_000, save_total_limit=2, prediction_loss_only=True, logging_steps=1, report_to="none",
        ),
        data_collator=DataCollatorForLanguageModeling(tokenizer=tokenizer, mlm=True, mlm_probability=0.15),
        train_dataset=dataset,
    )
    trainer.train()
trainer.save_model("./mlm")
