# A reward model by its name.
from datasets import load_dataset
from trl import RewardConfig, RewardTrainer

trainer = RewardTrainer(
    model="Qwen/Qwen2.5-0.5B-Instruct",
    args=RewardConfig(
        output_dir="reward",
        per_device_train_batch_size=4,
        max_length=256,
        max_steps=4,
        logging_steps=1,
        warmup_steps=1,
        report_to="none",
    ),
    train_dataset=load_dataset("trl-lib/ultrafeedback_binarized", split="train"),
)
trainer.train()
