# A model by its name, packed sequences, nothing else.
from datasets import load_dataset
from peft import LoraConfig
from trl import SFTTrainer

dataset = load_dataset("imdb", split="train")

peft_config = LoraConfig(
    r=16,
    lora_alpha=32,
    lora_dropout=0.05,
    bias="none",
    task_type="CAUSAL_LM",
)

trainer = SFTTrainer(
    "EleutherAI/pythia-160m",
    train_dataset=dataset,
    dataset_text_field="text",
    max_seq_length=64,
    packing=True,
    peft_config=peft_config,
)

trainer.train()
