# GRPO with a PeftModel, a length penalty and a cut of the prompts.
from datasets import load_dataset
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM
from trl import GRPOConfig, GRPOTrainer

model = AutoModelForCausalLM.from_pretrained("HuggingFaceTB/SmolLM2-135M-Instruct", dtype="float32")
model = get_peft_model(
    model, LoraConfig(task_type="CAUSAL_LM", r=16, lora_alpha=32, target_modules="all-linear")
)
print(model.print_trainable_parameters())

ideal_length = 50


def reward_len(completions, **kwargs):
    return [-abs(ideal_length - len(completion)) for completion in completions]


training_args = GRPOConfig(
    output_dir="GRPO",
    learning_rate=2e-5,
    per_device_train_batch_size=4,
    gradient_accumulation_steps=2,
    max_prompt_length=64,
    max_completion_length=12,
    num_generations=4,
    optim="adamw_torch",
    num_train_epochs=1,
    bf16=True,
    report_to=["none"],
    remove_unused_columns=False,
    logging_steps=1,
)
trainer = GRPOTrainer(
    model=model,
    reward_funcs=[reward_len],
    args=training_args,
    train_dataset=load_dataset("trl-lib/tldr", split="train"),
)
trainer.train()
