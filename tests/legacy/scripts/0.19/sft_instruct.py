# SFT of summer 2025: processing_class, max_length, assistant turns alone by a collator.
import torch
from datasets import load_dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig
from trl import SFTConfig, SFTTrainer

model_id = "Qwen/Qwen2.5-1.5B-Instruct"
tokenizer = AutoTokenizer.from_pretrained(model_id)
model = AutoModelForCausalLM.from_pretrained(
    model_id,
    torch_dtype=torch.bfloat16,
    quantization_config=BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_use_double_quant=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_compute_dtype=torch.bfloat16,
    ),
)
dataset = load_dataset("HuggingFaceH4/no_robots", split="train")
dataset = dataset.remove_columns(["prompt_id"])

trainer = SFTTrainer(
    model=model,
    train_dataset=dataset.select_columns(["messages"]),
    processing_class=tokenizer,
    peft_config=LoraConfig(r=8, lora_alpha=16, target_modules="all-linear", task_type="CAUSAL_LM"),
    args=SFTConfig(
        output_dir="qwen-no-robots",
        max_seq_length=256,
        packing=True,
        per_device_train_batch_size=2,
        gradient_accumulation_steps=2,
        gradient_checkpointing=True,
        gradient_checkpointing_kwargs={"use_reentrant": False},
        optim="adamw_torch",
        logging_steps=1,
        max_steps=6,
        learning_rate=2e-4,
        bf16=True,
        tf32=False,
        warmup_ratio=0.03,
        lr_scheduler_type="constant",
        logging_dir="runs",
        report_to="tensorboard",
    ),
)
trainer.train()
trainer.save_model()
