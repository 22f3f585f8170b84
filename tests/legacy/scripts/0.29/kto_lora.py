# KTO with LoRA, before it became stable.
from datasets import load_dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import KTOConfig, KTOTrainer

name = "Qwen/Qwen2.5-0.5B-Instruct"
trainer = KTOTrainer(
    model=AutoModelForCausalLM.from_pretrained(name, dtype="float32"),
    args=KTOConfig(
        output_dir="kto",
        per_device_train_batch_size=4,
        max_length=256,
        learning_rate=1e-5,
        max_steps=4,
        logging_steps=1,
        warmup_ratio=0.1,
        report_to="none",
    ),
    processing_class=AutoTokenizer.from_pretrained(name),
    train_dataset=load_dataset("trl-lib/kto-mix-14k", split="train"),
    peft_config=LoraConfig(r=8, target_modules="all-linear", task_type="CAUSAL_LM"),
)
trainer.train()
