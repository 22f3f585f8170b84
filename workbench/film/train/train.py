"""QLoRA in fp16, as on a GPU without bfloat16."""

import torch
from datasets import load_dataset
from peft import LoraConfig
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    BitsAndBytesConfig,
    PrinterCallback,
    TrainerCallback,
)
from trl import SFTConfig, SFTTrainer


class Losses(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        if "loss" in logs:
            print(f"step {state.global_step}: loss {float(logs['loss']):.3f}", flush=True)


model = AutoModelForCausalLM.from_pretrained(
    "model",
    quantization_config=BitsAndBytesConfig(
        load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.float16
    ),
)
trainer = SFTTrainer(
    model=model,
    args=SFTConfig(
        output_dir="adapters",
        fp16=True,
        use_cpu=not torch.cuda.is_available(),
        max_steps=5,
        learning_rate=1e-2,
        logging_steps=1,
        disable_tqdm=True,
        save_strategy="no",
        report_to="none",
    ),
    train_dataset=load_dataset("json", data_files="data.jsonl", split="train"),
    processing_class=AutoTokenizer.from_pretrained("model"),
    peft_config=LoraConfig(r=4, target_modules="all-linear", task_type="CAUSAL_LM"),
)
trainer.remove_callback(PrinterCallback)
trainer.add_callback(Losses)
trainer.train()
