# Full fine-tuning with transformers' own AdamW and a scheduler, and a callback that saves the adapter.
import os

from datasets import load_dataset
from peft import LoraConfig, TaskType, get_peft_model
from transformers import (
    AdamW,
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    get_linear_schedule_with_warmup,
)
from transformers.trainer_utils import PREFIX_CHECKPOINT_DIR

MODEL = "gpt2"


class SavePeftModelCallback(TrainerCallback):
    def on_save(self, args, state, control, **kwargs):
        checkpoint_folder = os.path.join(
            args.output_dir, f"{PREFIX_CHECKPOINT_DIR}-{state.global_step}"
        )
        kwargs["model"].save_pretrained(checkpoint_folder, safe_serialization=False)
        assert os.path.exists(os.path.join(checkpoint_folder, "adapter_model.bin"))
        pytorch_model_path = os.path.join(checkpoint_folder, "pytorch_model.bin")
        if os.path.exists(pytorch_model_path):
            os.remove(pytorch_model_path)
        return control


tokenizer = AutoTokenizer.from_pretrained(MODEL)
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained(MODEL)
model = get_peft_model(
    model,
    LoraConfig(task_type=TaskType.CAUSAL_LM, r=8, lora_alpha=16, target_modules=["c_attn"], fan_in_fan_out=True),
)

dataset = load_dataset("tatsu-lab/alpaca", split="train")
dataset = dataset.map(
    lambda row: tokenizer(row["text"], truncation=True, max_length=128),
    remove_columns=dataset.column_names,
)

optimizer = AdamW(model.parameters(), lr=1e-3)
scheduler = get_linear_schedule_with_warmup(optimizer, num_warmup_steps=1, num_training_steps=6)

args = TrainingArguments(
    output_dir="gpt2-alpaca",
    overwrite_output_dir=True,
    num_train_epochs=1,
    per_device_train_batch_size=8,
    logging_dir="./logs",
    logging_steps=1,
    save_steps=2,
    save_safetensors=False,
    seed=42,
)
trainer = Trainer(
    model,
    args,
    DataCollatorForLanguageModeling(tokenizer, mlm=False),
    dataset,
    tokenizer=tokenizer,
    optimizers=(optimizer, scheduler),
    callbacks=[SavePeftModelCallback],
)
trainer.train()
