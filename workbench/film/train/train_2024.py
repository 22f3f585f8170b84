# Written for TRL 0.11.
import torch
from datasets import load_dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer, PrinterCallback, TrainerCallback
from trl import SFTConfig, SFTTrainer


class Losses(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        if "loss" in logs:
            print(f"step {state.global_step}: loss {float(logs['loss']):.3f}", flush=True)


trainer = SFTTrainer(
    model=AutoModelForCausalLM.from_pretrained("model", torch_dtype=torch.float32),
    args=SFTConfig(
        output_dir="adapters",
        max_seq_length=64,
        bf16=False,
        gradient_checkpointing=False,
        use_cpu=not torch.cuda.is_available(),
        max_steps=5,
        learning_rate=1e-2,
        logging_steps=1,
        disable_tqdm=True,
        save_strategy="no",
        report_to="none",
    ),
    train_dataset=load_dataset("json", data_files="data.jsonl", split="train"),
    tokenizer=AutoTokenizer.from_pretrained("model"),
    peft_config=LoraConfig(r=4, task_type="CAUSAL_LM"),
)
trainer.remove_callback(PrinterCallback)
trainer.add_callback(Losses)
trainer.train()
