# Train a reward model on UltraFeedback with LoRA.
from datasets import load_dataset
from peft import LoraConfig
from transformers import AutoModelForSequenceClassification, AutoTokenizer
from trl import RewardConfig, RewardTrainer

model_name = "Qwen/Qwen2-0.5B-Instruct"
model = AutoModelForSequenceClassification.from_pretrained(model_name, num_labels=1)
tokenizer = AutoTokenizer.from_pretrained(model_name, use_fast=True)
model.config.pad_token_id = tokenizer.pad_token_id

dataset = load_dataset("HuggingFaceH4/ultrafeedback_binarized", split="train_prefs")
max_length = 256


def tokenize(row):
    chosen = tokenizer(tokenizer.apply_chat_template(row["chosen"], tokenize=False), truncation=True, max_length=max_length)
    rejected = tokenizer(tokenizer.apply_chat_template(row["rejected"], tokenize=False), truncation=True, max_length=max_length)
    return {
        "input_ids_chosen": chosen["input_ids"],
        "attention_mask_chosen": chosen["attention_mask"],
        "input_ids_rejected": rejected["input_ids"],
        "attention_mask_rejected": rejected["attention_mask"],
        "margin": row["score_chosen"] - row["score_rejected"],
    }


dataset = dataset.map(tokenize, remove_columns=dataset.column_names)

training_args = RewardConfig(
    output_dir="qwen2-reward",
    per_device_train_batch_size=4,
    num_train_epochs=1,
    learning_rate=1e-4,
    max_length=max_length,
    logging_steps=1,
    remove_unused_columns=False,
    report_to="none",
)

trainer = RewardTrainer(
    model,
    training_args,
    train_dataset=dataset,
    tokenizer=tokenizer,
    peft_config=LoraConfig(task_type="SEQ_CLS", r=8, lora_alpha=16, target_modules=["q_proj", "v_proj"], modules_to_save=["score"]),
)
trainer.train()
