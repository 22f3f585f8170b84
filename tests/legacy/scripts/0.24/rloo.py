from datasets import load_dataset
from trl import RLOOConfig, RLOOTrainer

def reward(completions, **kwargs):
    return [float(len(set(c))) for c in completions]


dataset = load_dataset("trl-lib/tldr", split="train")
args = RLOOConfig(
    output_dir="rloo", per_device_train_batch_size=4, num_generations=4, max_prompt_length=64, max_completion_length=16,
    max_steps=4, logging_steps=1, beta=0.05, normalize_advantages=True, reward_clip_range=(-10.0, 10.0), report_to="none",
    learning_rate=1e-6, warmup_ratio=0.05, bf16=True,
)
trainer = RLOOTrainer(
    model="Qwen/Qwen2.5-0.5B",
    reward_funcs=reward,
    args=args,
    train_dataset=dataset,
)
trainer.train()
