# Dolly with a formatting function over batches, packing off, a model given by name.
import torch
from datasets import load_dataset
from peft import LoraConfig
from transformers import AutoTokenizer
from trl import SFTConfig, SFTTrainer

model_id = "EleutherAI/pythia-1b-deduped"
tokenizer = AutoTokenizer.from_pretrained(model_id)
tokenizer.pad_token = tokenizer.eos_token


def format_dolly(samples):
    texts = []
    for instruction, context, response in zip(
        samples["instruction"], samples["context"], samples["response"]
    ):
        context = f"### Context\n{context}\n\n" if len(context) > 0 else ""
        texts.append(f"### Instruction\n{instruction}\n\n{context}### Answer\n{response}")
    return texts


trainer = SFTTrainer(
    model_id,
    args=SFTConfig(
        output_dir="pythia-dolly",
        max_seq_length=128,
        per_device_train_batch_size=4,
        learning_rate=1e-4,
        max_steps=5,
        logging_steps=1,
        model_init_kwargs={"torch_dtype": "float32"},
        gradient_checkpointing=False,
        save_strategy="no",
        report_to="none",
    ),
    train_dataset=load_dataset("databricks/databricks-dolly-15k", split="train"),
    tokenizer=tokenizer,
    formatting_func=format_dolly,
    peft_config=LoraConfig(r=8, target_modules=["query_key_value"], task_type="CAUSAL_LM"),
)
trainer.train()
trainer.save_model("pythia-dolly")
