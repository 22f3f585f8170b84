# DPO of spring 2026.
from datasets import load_dataset
from peft import LoraConfig
from trl import DPOConfig, DPOTrainer

trainer = DPOTrainer(
    model="Qwen/Qwen2.5-0.5B-Instruct",
    args=DPOConfig(
        output_dir="dpo",
        per_device_train_batch_size=2,
        learning_rate=1e-5,
        max_length=256,
        max_steps=6,
        logging_steps=1,
        warmup_ratio=0.1,
        logging_dir="runs",
        report_to="none",
    ),
    train_dataset=load_dataset("trl-lib/ultrafeedback_binarized", split="train"),
    peft_config=LoraConfig(r=8, target_modules="all-linear"),
)
trainer.train()
