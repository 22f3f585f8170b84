from trl import PPOConfig, PPOTrainer, AutoModelForCausalLMWithValueHead, create_reference_model
from trl.core import LengthSampler

config = PPOConfig(model_name="gpt2", learning_rate=1e-5, log_with="wandb")
model = AutoModelForCausalLMWithValueHead.from_pretrained(config.model_name)
ppo_trainer = PPOTrainer(config, model, create_reference_model(model), tokenizer=None)
sampler = LengthSampler(2, 8)
