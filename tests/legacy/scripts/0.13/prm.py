# A process reward model.
from datasets import load_dataset
from transformers import AutoModelForTokenClassification, AutoTokenizer
from trl import PRMConfig, PRMTrainer

model = AutoModelForTokenClassification.from_pretrained("HuggingFaceTB/SmolLM2-135M", num_labels=2)
tokenizer = AutoTokenizer.from_pretrained("HuggingFaceTB/SmolLM2-135M")
train_dataset = load_dataset("trl-lib/math_shepherd", split="train")

training_args = PRMConfig(output_dir="Qwen2-0.5B-PRM", logging_steps=1, report_to="none")
trainer = PRMTrainer(model=model, args=training_args, processing_class=tokenizer, train_dataset=train_dataset)
trainer.train()
