"""Few-shot classification, as SetFit's documentation does it.

python setfit_trainer.py '{"model": …, "dataset": …, "dtype": …, "fp16": true}'
"""

import json
import sys

import torch
from datasets import load_dataset
from sentence_transformers import SentenceTransformer
from setfit import SetFitModel, Trainer, TrainingArguments


def main():
    options = json.loads(sys.argv[1])
    body = SentenceTransformer(
        options["model"], model_kwargs={"torch_dtype": getattr(torch, options["dtype"])}
    )
    head = SetFitModel.from_pretrained(options["model"]).model_head
    model = SetFitModel(model_body=body, model_head=head)
    dataset = load_dataset("json", data_files=options["dataset"], split="train")
    args = TrainingArguments(
        output_dir="out",
        batch_size=2,
        max_steps=options["max_steps"],
        num_epochs=1,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        use_amp=options["amp"],
        seed=0,
    )
    trainer = Trainer(model=model, args=args, train_dataset=dataset)
    trainer.train()
    model.save_pretrained("out/final")


if __name__ == "__main__":
    main()
