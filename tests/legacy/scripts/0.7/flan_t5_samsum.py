# Summaries of dialogues with FLAN-T5, 8-bit LoRA and the Seq2SeqTrainer.
from datasets import concatenate_datasets, load_dataset
from peft import LoraConfig, TaskType, get_peft_model
from transformers import (
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    DataCollatorForSeq2Seq,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
)

dataset = load_dataset("samsum")
model_id = "google/flan-t5-small"
tokenizer = AutoTokenizer.from_pretrained(model_id)

tokenized_inputs = concatenate_datasets([dataset["train"], dataset["test"]]).map(
    lambda x: tokenizer(x["dialogue"], truncation=True), batched=True, remove_columns=["dialogue", "summary"]
)
max_source_length = max(len(x) for x in tokenized_inputs["input_ids"])
max_target_length = 32


def preprocess_function(sample, padding="max_length"):
    inputs = ["summarize: " + item for item in sample["dialogue"]]
    model_inputs = tokenizer(inputs, max_length=max_source_length, padding=padding, truncation=True)
    labels = tokenizer(
        text_target=sample["summary"], max_length=max_target_length, padding=padding, truncation=True
    )
    if padding == "max_length":
        labels["input_ids"] = [
            [(l if l != tokenizer.pad_token_id else -100) for l in label] for label in labels["input_ids"]
        ]
    model_inputs["labels"] = labels["input_ids"]
    return model_inputs


tokenized_dataset = dataset.map(preprocess_function, batched=True, remove_columns=["dialogue", "summary", "id"])

model = AutoModelForSeq2SeqLM.from_pretrained(model_id)
lora_config = LoraConfig(
    r=16, lora_alpha=32, target_modules=["q", "v"], lora_dropout=0.05, bias="none", task_type=TaskType.SEQ_2_SEQ_LM
)
model = get_peft_model(model, lora_config)

training_args = Seq2SeqTrainingArguments(
    output_dir="lora-flan-t5",
    per_device_train_batch_size=4,
    per_device_eval_batch_size=8,
    learning_rate=1e-3,
    num_train_epochs=1,
    predict_with_generate=True,
    generation_max_length=8,
    evaluation_strategy="epoch",
    logging_dir="lora-flan-t5/logs",
    logging_strategy="steps",
    logging_steps=1,
    save_strategy="no",
    report_to="tensorboard",
)
trainer = Seq2SeqTrainer(
    model=model,
    args=training_args,
    data_collator=DataCollatorForSeq2Seq(tokenizer, model=model, label_pad_token_id=-100, pad_to_multiple_of=8),
    train_dataset=tokenized_dataset["train"],
    eval_dataset=tokenized_dataset["test"],
    tokenizer=tokenizer,
)
model.config.use_cache = False
trainer.train()
trainer.model.save_pretrained("results")
tokenizer.save_pretrained("results")
