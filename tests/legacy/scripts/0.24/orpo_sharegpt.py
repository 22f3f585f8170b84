# ORPO, imported from the top of TRL in its last months there.
from datasets import load_dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import ORPOConfig, ORPOTrainer

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B")
tokenizer = AutoTokenizer.from_pretrained("Qwen/Qwen2.5-0.5B")
dataset = load_dataset("mlabonne/orpo-dpo-mix-40k", split="train")
dataset = dataset.remove_columns(["source", "question", "prompt"])

trainer = ORPOTrainer(
    model=model,
    args=ORPOConfig(
        output_dir="orpo",
        per_device_train_batch_size=2,
        beta=0.1,
        max_length=256,
        max_steps=4,
        logging_steps=1,
        bf16=True,
        report_to="none",
    ),
    train_dataset=dataset,
    processing_class=tokenizer,
    peft_config=LoraConfig(r=8, target_modules="all-linear", task_type="CAUSAL_LM"),
)
trainer.train()
