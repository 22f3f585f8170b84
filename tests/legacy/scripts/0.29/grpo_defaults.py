# GRPO that relies on defaults.
from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer


def reward_unique(completions, **kwargs):
    return [len(set(completion)) / 10 for completion in completions]


trainer = GRPOTrainer(
    model="Qwen/Qwen2.5-0.5B-Instruct",
    args=GRPOConfig(
        output_dir="grpo",
        per_device_train_batch_size=8,
        max_completion_length=12,
        max_steps=3,
        logging_steps=1,
        warmup_ratio=0.1,
        report_to="none",
    ),
    reward_funcs=reward_unique,
    train_dataset=load_dataset("trl-lib/ultrafeedback-prompt", split="train").map(
        lambda row: {"prompt": row["prompt"][0]["content"]}
    ),
)
trainer.train()
