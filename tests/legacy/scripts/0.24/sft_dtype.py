# Autumn 2025: dtype instead of torch_dtype, peft_config, assistant turns alone.
import torch
from datasets import load_dataset
from peft import LoraConfig
from transformers import AutoTokenizer
from trl import SFTConfig, SFTTrainer

model_id = "Qwen/Qwen3-0.6B"
tokenizer = AutoTokenizer.from_pretrained(model_id)
tokenizer.chat_template = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{% if message['role'] == 'assistant' %}{% generation %}{{ message['content'] }}<|im_end|>{% endgeneration %}"
    "{% else %}{{ message['content'] }}<|im_end|>{% endif %}\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)

trainer = SFTTrainer(
    model=model_id,
    processing_class=tokenizer,
    train_dataset=load_dataset("trl-lib/Capybara", split="train"),
    args=SFTConfig(
        output_dir="qwen3-capybara",
        model_init_kwargs={"dtype": torch.bfloat16},
        assistant_only_loss=True,
        max_length=256,
        per_device_train_batch_size=2,
        gradient_accumulation_steps=2,
        learning_rate=2e-4,
        warmup_ratio=0.1,
        max_steps=8,
        logging_steps=1,
        group_by_length=True,
        logging_dir="logs",
        save_safetensors=True,
        report_to="none",
    ),
    peft_config=LoraConfig(r=16, lora_alpha=32, target_modules="all-linear"),
)
trainer.train()
