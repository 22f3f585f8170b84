# An adapter on the head too, special tokens of its own, and columns as lists.
import json
from datasets import Dataset, load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig, DataCollatorForSeq2Seq
from peft import LoraConfig, prepare_model_for_kbit_training
from trl import SFTConfig, SFTTrainer
import torch

name = "HuggingFaceTB/SmolLM2-135M-Instruct"
tokenizer = AutoTokenizer.from_pretrained(name, trust_remote_code=True)
tokenizer.padding_side = "right"
tokens = ["<think>", "</think>", "<tools>", "</tools>"]
tokenizer.add_special_tokens({"additional_special_tokens": tokens})
print(tokenizer.additional_special_tokens, tokenizer.special_tokens_map["eos_token"])
model = AutoModelForCausalLM.from_pretrained(name, torch_dtype=torch.bfloat16, trust_remote_code=True)
model.resize_token_embeddings(len(tokenizer))
model.config.pad_token_id = tokenizer.pad_token_id
rows = load_dataset("mlabonne/FineTome-100k", split="train[:32]")


def convert(example):
    roles = {"human": "user", "gpt": "assistant"}
    messages = [{"role": roles[m["from"]], "content": m["value"]} for m in example["conversations"]]
    return {"text": tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=False)}


rows = rows.map(convert, remove_columns=["conversations"])
lengths = [len(tokenizer.encode(t)) for t in rows["text"]]
print(max(lengths), sorted(lengths)[:3])
peft_config = LoraConfig(
    r=16, lora_alpha=64, lora_dropout=0.05, target_modules=["gate_proj", "q_proj", "lm_head", "embed_tokens"], task_type="CAUSAL_LM"
)
args = SFTConfig(
    output_dir="gemma-function",
    per_device_train_batch_size=2,
    per_device_eval_batch_size=1,
    gradient_accumulation_steps=2,
    save_strategy="no",
    eval_strategy="epoch",
    logging_steps=1,
    learning_rate=1e-4,
    max_grad_norm=1.0,
    weight_decay=0.1,
    warmup_ratio=0.1,
    lr_scheduler_type="cosine",
    report_to="tensorboard",
    bf16=True,
    hub_private_repo=False,
    push_to_hub=False,
    num_train_epochs=1,
    gradient_checkpointing=True,
    gradient_checkpointing_kwargs={"use_reentrant": False},
    packing=True,
    max_seq_length=128,
    logging_dir="logs",
    dataset_text_field="text",
)
split = rows.train_test_split(0.1)
trainer = SFTTrainer(
    model=model, args=args, train_dataset=split["train"], eval_dataset=split["test"], processing_class=tokenizer, peft_config=peft_config
)
trainer.train()
trainer.save_model()
with open("log.json", "w") as f:
    json.dump({"texts": rows["text"][:2], "history": trainer.state.log_history}, f)
