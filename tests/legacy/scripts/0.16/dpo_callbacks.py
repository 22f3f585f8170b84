# DPO with lists, callbacks and reference synchronisation.
import torch
from datasets import load_dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback, set_seed
from trl import DPOConfig, DPOTrainer, RichProgressCallback, SyncRefModelCallback, LogCompletionsCallback
from trl.data_utils import maybe_extract_prompt, maybe_apply_chat_template

set_seed(1)
name = "Qwen/Qwen2.5-0.5B-Instruct"
tokenizer = AutoTokenizer.from_pretrained(name, padding_side="left")
model = AutoModelForCausalLM.from_pretrained(name, torch_dtype="auto", attn_implementation="sdpa")
dataset = load_dataset("trl-lib/ultrafeedback_binarized")
dataset = dataset.map(maybe_extract_prompt)
dataset = dataset.map(maybe_apply_chat_template, fn_kwargs={"tokenizer": tokenizer})
print(dataset["train"][0]["prompt"])


class Print(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        if state.is_local_process_zero:
            print(kwargs["processing_class"].eos_token, logs.get("rewards/margins"))


config = DPOConfig(
    output_dir="dpo",
    per_device_train_batch_size=2,
    gradient_accumulation_steps=1,
    gradient_checkpointing=True,
    gradient_checkpointing_kwargs={"use_reentrant": False},
    learning_rate=5e-6,
    warmup_ratio=0.1,
    max_steps=5,
    logging_steps=1,
    bf16=True,
    beta=0.1,
    loss_type="sigmoid",
    rpo_alpha=1.0,
    label_smoothing=0.0,
    max_length=256,
    max_prompt_length=128,
    max_completion_length=128,
    truncation_mode="keep_end",
    precompute_ref_log_probs=False,
    sync_ref_model=True,
    ref_model_mixup_alpha=0.6,
    ref_model_sync_steps=2,
    dataset_num_proc=1,
    generate_during_eval=False,
    model_adapter_name=None,
    padding_value=None,
    label_pad_token_id=-100,
    reference_free=False,
    force_use_ref_model=False,
    use_weighting=False,
    disable_dropout=True,
    optim="adamw_torch_fused",
    save_strategy="no",
    report_to=[],
    remove_unused_columns=False,
)
trainer = DPOTrainer(
    model=model,
    args=config,
    train_dataset=dataset["train"],
    eval_dataset=dataset["test"],
    processing_class=tokenizer,
    callbacks=[Print()],
)
trainer.train()
