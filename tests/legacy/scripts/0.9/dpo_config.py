# DPO with a DPOConfig, prompts formatted with the chat template.
import torch
from datasets import load_dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import DPOConfig, DPOTrainer

model_id = "mistralai/Mistral-7B-Instruct-v0.2"
tokenizer = AutoTokenizer.from_pretrained(model_id)
tokenizer.pad_token = tokenizer.eos_token
tokenizer.padding_side = "left"
tokenizer.truncation_side = "left"

dataset = load_dataset("argilla/dpo-mix-7k", split="train")


def create_triplets(example):
    prompt_messages = example["chosen"][:-1]
    chosen_messages = example["chosen"][-1:]
    rejected_messages = example["rejected"][-1:]
    return {
        "prompt": tokenizer.apply_chat_template(prompt_messages, tokenize=False),
        "chosen": " " + chosen_messages[0]["content"] + tokenizer.eos_token,
        "rejected": " " + rejected_messages[0]["content"] + tokenizer.eos_token,
    }


dataset = dataset.map(create_triplets, remove_columns=dataset.features)

model = AutoModelForCausalLM.from_pretrained(
    model_id, device_map="auto", use_cache=False, torch_dtype=torch.bfloat16
)

peft_config = LoraConfig(
    lora_alpha=128, lora_dropout=0.0, r=64, bias="none", target_modules="all-linear", task_type="CAUSAL_LM"
)

args = DPOConfig(
    output_dir="doplhin-dpo",
    num_train_epochs=1,
    per_device_train_batch_size=4,
    gradient_accumulation_steps=1,
    gradient_checkpointing=True,
    optim="adamw_torch",
    learning_rate=5e-5,
    max_grad_norm=0.3,
    warmup_ratio=0.1,
    lr_scheduler_type="cosine",
    logging_steps=1,
    save_steps=500,
    save_total_limit=2,
    bf16=True,
    report_to="none",
    beta=0.1,
    loss_type="sigmoid",
    max_length=256,
    max_prompt_length=128,
)

trainer = DPOTrainer(
    model,
    ref_model=None,
    peft_config=peft_config,
    args=args,
    train_dataset=dataset,
    tokenizer=tokenizer,
)
trainer.train()
trainer.save_model()
