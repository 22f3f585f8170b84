import sys
from dataclasses import dataclass, field
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForLanguageModeling, HfArgumentParser, Trainer, TrainingArguments
from datasets import load_dataset


@dataclass
class ModelArguments:
    model_name_or_path: str = field(default="gpt2")


def main():
    parser = HfArgumentParser((ModelArguments, TrainingArguments))
    model_args, training_args = parser.parse_json_file(json_file=sys.argv[1], allow_extra_keys=False)
    tokenizer = AutoTokenizer.from_pretrained(model_args.model_name_or_path)
    tokenizer.pad_token = tokenizer.eos_token
    model = AutoModelForCausalLM.from_pretrained(model_args.model_name_or_path)
    data = load_dataset("imdb", split="train")
    texts = data["text"]
    encodings = tokenizer(texts, truncation=True, max_length=64)
    data = data.add_column("input_ids", encodings["input_ids"]).remove_columns(["text", "label"])
    trainer = Trainer(
        model=model,
        args=training_args,
        train_dataset=data,
        tokenizer=tokenizer,
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
    )
    trainer.train()


main()
