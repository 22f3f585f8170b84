# Spring 2026, Transformers 5: nearly today's names.
from datasets import load_dataset
from peft import LoraConfig
from trl import SFTConfig, SFTTrainer

trainer = SFTTrainer(
    model="Qwen/Qwen3-0.6B",
    args=SFTConfig(
        output_dir="qwen3-sft",
        max_length=256,
        packing=True,
        learning_rate=2e-4,
        warmup_ratio=0.03,
        per_device_train_batch_size=2,
        gradient_accumulation_steps=2,
        max_steps=6,
        logging_steps=1,
        logging_dir="runs",
        group_by_length=False,
        bf16=True,
        report_to="none",
    ),
    train_dataset=load_dataset("trl-lib/Capybara", split="train"),
    peft_config=LoraConfig(r=16, lora_alpha=32),
)
trainer.train()
