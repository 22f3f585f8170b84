# alpaca-lora's hack of state_dict, torch.compile, a resumed adapter, and no token for the Hub.
import os
import sys

import torch
import transformers
from datasets import load_dataset
from huggingface_hub import HfFolder
from peft import LoraConfig, get_peft_model, get_peft_model_state_dict, set_peft_model_state_dict
from transformers import AutoModelForCausalLM, AutoTokenizer

print("token", HfFolder.get_token() is not None)
model = AutoModelForCausalLM.from_pretrained("EleutherAI/pythia-160m", torch_dtype=torch.float32)
tokenizer = AutoTokenizer.from_pretrained("EleutherAI/pythia-160m")
tokenizer.pad_token_id = 0
model = get_peft_model(
    model, LoraConfig(r=8, lora_alpha=16, target_modules=["query_key_value"], lora_dropout=0.0, task_type="CAUSAL_LM")
)
resume_from_checkpoint = "adapter"
model.save_pretrained(resume_from_checkpoint, safe_serialization=False)
checkpoint_name = os.path.join(resume_from_checkpoint, "adapter_model.bin")
if os.path.exists(checkpoint_name):
    adapters_weights = torch.load(checkpoint_name)
    set_peft_model_state_dict(model, adapters_weights)
if not torch.cuda.is_available() or torch.cuda.device_count() < 2:
    model.is_parallelizable = True
    model.model_parallel = True
data = load_dataset("tatsu-lab/alpaca", split="train").map(
    lambda row: tokenizer(row["text"], truncation=True, max_length=64, padding="max_length")
)
data = data.remove_columns(["text", "instruction", "input", "output"])
trainer = transformers.Trainer(
    model=model,
    train_dataset=data,
    args=transformers.TrainingArguments(
        per_device_train_batch_size=4,
        gradient_accumulation_steps=1,
        warmup_ratio=0.1,
        max_steps=3,
        learning_rate=3e-4,
        logging_steps=1,
        optim="adamw_torch",
        evaluation_strategy="no",
        save_strategy="steps",
        save_steps=2,
        output_dir="lora-alpaca",
        save_total_limit=3,
        ddp_find_unused_parameters=None,
        group_by_length=False,
        report_to=None,
        run_name=None,
    ),
    data_collator=transformers.DataCollatorForLanguageModeling(tokenizer, mlm=False),
)
model.config.use_cache = False
old_state_dict = model.state_dict
model.state_dict = (lambda self, *_, **__: get_peft_model_state_dict(self, old_state_dict())).__get__(
    model, type(model)
)
if torch.__version__ >= "2" and sys.platform != "win32":
    model = torch.compile(model, backend="eager")
trainer.train()
model.save_pretrained("lora-alpaca")
