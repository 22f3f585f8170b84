# KTO with the chat dataset given as it is.
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import KTOConfig, KTOTrainer

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2-0.5B-Instruct")
tokenizer = AutoTokenizer.from_pretrained("Qwen/Qwen2-0.5B-Instruct")
train_dataset = load_dataset("trl-lib/kto-mix-14k", split="train")

training_args = KTOConfig(
    output_dir="Qwen2-0.5B-KTO",
    per_device_train_batch_size=4,
    desirable_weight=1.0,
    undesirable_weight=1.33,
    max_length=256,
    max_prompt_length=128,
    max_completion_length=128,
    logging_steps=1,
    max_steps=4,
    report_to="none",
)
trainer = KTOTrainer(model=model, args=training_args, processing_class=tokenizer, train_dataset=train_dataset)
trainer.train()
