# DPO of a small chat model, the conversational dataset given as it is.
import torch
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import DPOConfig, DPOTrainer, setup_chat_format

device = "cuda" if torch.cuda.is_available() else "cpu"
model_name = "HuggingFaceTB/SmolLM2-135M-Instruct"
model = AutoModelForCausalLM.from_pretrained(
    pretrained_model_name_or_path=model_name, torch_dtype=torch.float32
).to(device)
model.config.use_cache = False
tokenizer = AutoTokenizer.from_pretrained(model_name)
dataset = load_dataset("trl-lib/ultrafeedback_binarized", split="train")

training_args = DPOConfig(
    per_device_train_batch_size=4,
    gradient_accumulation_steps=2,
    learning_rate=5e-5,
    lr_scheduler_type="cosine",
    max_steps=10,
    save_strategy="no",
    logging_steps=1,
    output_dir="smol_dpo_output",
    warmup_steps=2,
    bf16=False,
    report_to="none",
    remove_unused_columns=False,
    use_mps_device=device == "mps",
    max_prompt_length=128,
    max_length=256,
)
trainer = DPOTrainer(model=model, args=training_args, train_dataset=dataset, processing_class=tokenizer)
trainer.train()
trainer.save_model("./smol-dpo")
