# Binary classifier optimization.
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import BCOConfig, BCOTrainer

name = "TinyLlama/TinyLlama-1.1B-Chat-v1.0"
model = AutoModelForCausalLM.from_pretrained(name)
model_ref = AutoModelForCausalLM.from_pretrained(name)
tokenizer = AutoTokenizer.from_pretrained(name)

dataset = load_dataset("trl-lib/kto-mix-14k", split="train")
dataset = dataset.map(
    lambda row: {
        "prompt": tokenizer.apply_chat_template(row["prompt"], tokenize=False),
        "completion": row["completion"][0]["content"],
    }
)
trainer = BCOTrainer(
    model,
    model_ref,
    args=BCOConfig(
        output_dir="bco",
        per_device_train_batch_size=4,
        max_length=256,
        max_prompt_length=128,
        beta=0.1,
        max_steps=3,
        logging_steps=1,
        report_to="none",
    ),
    train_dataset=dataset,
    tokenizer=tokenizer,
)
trainer.train()
