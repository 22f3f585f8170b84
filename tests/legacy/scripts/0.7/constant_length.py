# Continue pre-training on packed text with ConstantLengthDataset.
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainingArguments
from trl import SFTTrainer
from trl.trainer import ConstantLengthDataset

tokenizer = AutoTokenizer.from_pretrained("EleutherAI/pythia-160m")
tokenizer.pad_token = tokenizer.eos_token
data = load_dataset("lvwerra/stack-exchange-paired", split="train", use_auth_token=True)


def chars_token_ratio(dataset, nb_examples=40):
    total_characters, total_tokens = 0, 0
    for _, example in zip(range(nb_examples), iter(dataset)):
        text = prepare_sample_text(example)
        total_characters += len(text)
        total_tokens += len(tokenizer(text).tokens())
    return total_characters / total_tokens


def prepare_sample_text(example):
    return f"Question: {example['question']}\n\nAnswer: {example['response_j']}"


chars_per_token = chars_token_ratio(data)
print(f"The character to token ratio of the dataset is: {chars_per_token:.2f}")

train_dataset = ConstantLengthDataset(
    tokenizer,
    data,
    formatting_func=prepare_sample_text,
    infinite=True,
    seq_length=64,
    chars_per_token=chars_per_token,
)

trainer = SFTTrainer(
    model=AutoModelForCausalLM.from_pretrained("EleutherAI/pythia-160m"),
    args=TrainingArguments(
        output_dir="sft",
        max_steps=4,
        per_device_train_batch_size=2,
        logging_steps=1,
        report_to="none",
    ),
    train_dataset=train_dataset,
    packing=True,
    max_seq_length=None,
    tokenizer=tokenizer,
)
trainer.train()
