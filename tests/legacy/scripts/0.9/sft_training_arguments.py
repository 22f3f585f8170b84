# TrainingArguments for an SFTTrainer whose own settings are keywords of the trainer.
from datasets import load_dataset
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainingArguments
from trl import SFTTrainer
from trl.trainer.utils import DataCollatorForCompletionOnlyLM

model_name = "TinyLlama/TinyLlama-1.1B-Chat-v1.0"
tokenizer = AutoTokenizer.from_pretrained(model_name)
model = AutoModelForCausalLM.from_pretrained(model_name)

peft_config = LoraConfig(r=8, lora_alpha=16, lora_dropout=0.0, task_type="CAUSAL_LM")
model = get_peft_model(model, peft_config)

dataset = load_dataset("HuggingFaceH4/no_robots", split="train")
dataset = dataset.map(
    lambda row: {"text": tokenizer.apply_chat_template(row["messages"], tokenize=False)}
)

# The tokens of the template depend on what stands before it, so they are given as ids.
response_template_ids = tokenizer.encode("\n<|assistant|>\n", add_special_tokens=False)[1:]
collator = DataCollatorForCompletionOnlyLM(response_template_ids, tokenizer=tokenizer, mlm=False)

trainer = SFTTrainer(
    model=model,
    tokenizer=tokenizer,
    train_dataset=dataset,
    dataset_text_field="text",
    data_collator=collator,
    max_seq_length=256,
    args=TrainingArguments(
        output_dir="tinyllama-no-robots",
        per_device_train_batch_size=4,
        gradient_accumulation_steps=2,
        learning_rate=1e-4,
        lr_scheduler_type="cosine",
        warmup_steps=2,
        max_steps=6,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
    ),
    neftune_noise_alpha=None,
    dataset_num_proc=1,
    peft_config=peft_config,
)
trainer.train()
