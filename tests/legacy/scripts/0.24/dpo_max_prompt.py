# DPO on prompts of text, cut to a length.
from datasets import load_dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig
from trl import DPOConfig, DPOTrainer

bnb = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype="bfloat16")
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B-Instruct", quantization_config=bnb, dtype="bfloat16")
tokenizer = AutoTokenizer.from_pretrained("Qwen/Qwen2.5-0.5B-Instruct")

dataset = load_dataset("Dahoas/rm-static", split="train").select_columns(["prompt", "chosen", "rejected"])

trainer = DPOTrainer(
    model=model,
    args=DPOConfig(
        output_dir="dpo-static",
        per_device_train_batch_size=2,
        gradient_accumulation_steps=2,
        beta=0.1,
        learning_rate=5e-5,
        max_length=128,
        max_prompt_length=16,
        max_completion_length=24,
        max_steps=6,
        logging_steps=1,
        warmup_ratio=0.1,
        report_to="none",
    ),
    train_dataset=dataset,
    processing_class=tokenizer,
    peft_config=LoraConfig(r=8, lora_alpha=16, target_modules="all-linear", task_type="CAUSAL_LM"),
)
trainer.train()
