# Chat SFT with SFTConfig, eval_strategy, and trl's dataset formatting of messages.
import torch
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2-0.5B-Instruct", torch_dtype=torch.float32)
tokenizer = AutoTokenizer.from_pretrained("Qwen/Qwen2-0.5B-Instruct")

dataset = load_dataset("HuggingFaceH4/ultrachat_200k")

training_args = SFTConfig(
    output_dir="qwen2-ultrachat",
    per_device_train_batch_size=2,
    gradient_accumulation_steps=2,
    max_seq_length=256,
    learning_rate=2e-5,
    lr_scheduler_type="cosine_with_min_lr",
    lr_scheduler_kwargs={"min_lr_rate": 0.1},
    warmup_steps=2,
    max_steps=10,
    logging_steps=1,
    eval_strategy="steps",
    eval_steps=100,
    group_by_length=True,
    logging_dir="logs",
    remove_unused_columns=True,
    report_to=["none"],
    dataset_num_proc=1,
)

trainer = SFTTrainer(
    model=model,
    args=training_args,
    train_dataset=dataset["train_sft"],
    eval_dataset=dataset["test_sft"],
    tokenizer=tokenizer,
)
trainer.train()
