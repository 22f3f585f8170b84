# Iterative SFT: a loop of one's own around the trainer's step.
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainingArguments
from trl import IterativeSFTTrainer

model = AutoModelForCausalLM.from_pretrained("gpt2")
tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.pad_token = tokenizer.eos_token
dataset = load_dataset("tatsu-lab/alpaca", split="train")

trainer = IterativeSFTTrainer(
    model,
    tokenizer=tokenizer,
    max_length=64,
    args=TrainingArguments("iterative", max_steps=3, logging_steps=1, report_to="none"),
)
for start in range(0, 12, 4):
    trainer.step(texts=dataset[start : start + 4]["text"])
