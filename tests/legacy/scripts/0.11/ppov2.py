# PPO, second version.
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer
from trl import PPOv2Config, PPOv2Trainer

name = "EleutherAI/pythia-160m"
tokenizer = AutoTokenizer.from_pretrained(name, padding_side="left")
tokenizer.add_special_tokens({"pad_token": "[PAD]"})
value_model = AutoModelForSequenceClassification.from_pretrained(name, num_labels=1)
reward_model = AutoModelForSequenceClassification.from_pretrained(name, num_labels=1)
ref_policy = AutoModelForCausalLM.from_pretrained(name)
policy = AutoModelForCausalLM.from_pretrained(name)
for model in (value_model, reward_model, ref_policy, policy):
    model.resize_token_embeddings(len(tokenizer))

dataset = load_dataset("trl-lib/tldr", split="train")
dataset = dataset.map(
    lambda row: {"input_ids": tokenizer(row["prompt"])["input_ids"]}, remove_columns=dataset.column_names
)
trainer = PPOv2Trainer(
    config=PPOv2Config(
        output_dir="ppo",
        per_device_train_batch_size=2,
        gradient_accumulation_steps=1,
        total_episodes=4,
        num_ppo_epochs=1,
        num_mini_batches=1,
        response_length=8,
        num_sample_generations=0,
        missing_eos_penalty=1.0,
        report_to="none",
    ),
    tokenizer=tokenizer,
    policy=policy,
    ref_policy=ref_policy,
    reward_model=reward_model,
    value_model=value_model,
    train_dataset=dataset.select(range(40)),
    eval_dataset=dataset.select(range(40, 48)),
)
trainer.train()
