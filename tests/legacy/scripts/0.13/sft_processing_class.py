# Half old, half new: processing_class, but max_seq_length and a collator.
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import DataCollatorForCompletionOnlyLM, SFTConfig, SFTTrainer

model_name = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(model_name)
model = AutoModelForCausalLM.from_pretrained(model_name)

dataset = load_dataset("yahma/alpaca-cleaned", split="train")


def to_text(row):
    return {"text": f"### Instruction:\n{row['instruction']}\n\n### Response:\n{row['output']}{tokenizer.eos_token}"}


dataset = dataset.map(to_text, remove_columns=["instruction", "input", "output"])
response_template_ids = tokenizer.encode("\n### Response:\n", add_special_tokens=False)[2:]
collator = DataCollatorForCompletionOnlyLM(response_template_ids, tokenizer=tokenizer)

trainer = SFTTrainer(
    model=model,
    processing_class=tokenizer,
    args=SFTConfig(
        output_dir="smollm2-alpaca",
        dataset_text_field="text",
        max_seq_length=256,
        packing=False,
        per_device_train_batch_size=4,
        learning_rate=5e-5,
        warmup_ratio=0.1,
        max_steps=8,
        logging_steps=1,
        eval_strategy="no",
        use_liger=False,
        report_to="none",
    ),
    train_dataset=dataset,
    data_collator=collator,
)
trainer.train()
