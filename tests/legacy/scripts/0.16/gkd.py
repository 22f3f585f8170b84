# Generalized knowledge distillation.
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GKDConfig, GKDTrainer

tokenizer = AutoTokenizer.from_pretrained("Qwen/Qwen2-0.5B-Instruct")
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2-0.5B-Instruct")
teacher_model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-1.7B")
train_dataset = load_dataset("trl-lib/Capybara", split="train")

training_args = GKDConfig(
    output_dir="gkd-model",
    per_device_train_batch_size=2,
    max_new_tokens=8,
    lmbda=0.0,
    max_seq_length=256,
    max_steps=4,
    logging_steps=1,
    report_to="none",
)
trainer = GKDTrainer(
    model=model,
    teacher_model=teacher_model,
    args=training_args,
    processing_class=tokenizer,
    train_dataset=train_dataset,
)
trainer.train()
