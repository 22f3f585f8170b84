# ORPO, one stage instead of SFT and DPO.
import torch
from datasets import load_dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import ORPOConfig, ORPOTrainer, is_xpu_available, setup_chat_format

assert not is_xpu_available()
base_model = "meta-llama/Meta-Llama-3-8B"
new_model = "OrpoLlama-3-8B"

peft_config = LoraConfig(
    r=16,
    lora_alpha=32,
    lora_dropout=0.0,
    bias="none",
    task_type="CAUSAL_LM",
    target_modules=["up_proj", "down_proj", "gate_proj", "k_proj", "q_proj", "v_proj", "o_proj"],
)

tokenizer = AutoTokenizer.from_pretrained(base_model)
tokenizer.chat_template = None
model = AutoModelForCausalLM.from_pretrained(base_model, device_map="auto", torch_dtype=torch.float32)
model, tokenizer = setup_chat_format(model, tokenizer)

dataset = load_dataset("mlabonne/orpo-dpo-mix-40k", split="all")
dataset = dataset.shuffle(seed=42).select(range(32))


def format_chat_template(row):
    row["chosen"] = tokenizer.apply_chat_template(row["chosen"], tokenize=False)
    row["rejected"] = tokenizer.apply_chat_template(row["rejected"], tokenize=False)
    return row


dataset = dataset.map(format_chat_template, num_proc=1)
dataset = dataset.train_test_split(test_size=0.25, seed=42)

orpo_args = ORPOConfig(
    learning_rate=8e-6,
    beta=0.1,
    lr_scheduler_type="linear",
    max_length=256,
    max_prompt_length=128,
    per_device_train_batch_size=2,
    per_device_eval_batch_size=2,
    gradient_accumulation_steps=4,
    optim="adamw_torch",
    num_train_epochs=1,
    evaluation_strategy="steps",
    eval_steps=0.5,
    logging_steps=1,
    warmup_steps=2,
    report_to="none",
    output_dir="./results/",
    remove_unused_columns=False,
)

trainer = ORPOTrainer(
    model=model,
    args=orpo_args,
    train_dataset=dataset["train"],
    eval_dataset=dataset["test"],
    peft_config=peft_config,
    tokenizer=tokenizer,
)
trainer.train()
trainer.save_model(new_model)
