"""An embedding model or a reranker, as the documentation of sentence-transformers trains them.

python sentence_transformers_trainer.py '{"model": …, "task": "embedding", …}'
"""

import json
import sys

import torch
from datasets import load_dataset
from peft import LoraConfig
from sentence_transformers import (
    CrossEncoder,
    CrossEncoderTrainer,
    CrossEncoderTrainingArguments,
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from sentence_transformers.cross_encoder.losses import BinaryCrossEntropyLoss
from sentence_transformers.losses import MultipleNegativesRankingLoss
from transformers import BitsAndBytesConfig


def main():
    options = json.loads(sys.argv[1])
    dtype = getattr(torch, options["dtype"])
    model_kwargs = {"torch_dtype": dtype}
    if options["bits"] == 4:
        model_kwargs["quantization_config"] = BitsAndBytesConfig(
            load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=dtype
        )
    dataset = load_dataset("json", data_files=options["dataset"], split="train")
    if options["task"] == "embedding":
        model = SentenceTransformer(options["model"], model_kwargs=model_kwargs)
        task = "FEATURE_EXTRACTION"
        loss = MultipleNegativesRankingLoss(model)
        args = SentenceTransformerTrainingArguments(**options["arguments"])
        trainer_class = SentenceTransformerTrainer
    else:
        model = CrossEncoder(options["model"], num_labels=1, model_kwargs=model_kwargs)
        task = "SEQ_CLS"
        loss = BinaryCrossEntropyLoss(model)
        args = CrossEncoderTrainingArguments(**options["arguments"])
        trainer_class = CrossEncoderTrainer
        dataset = dataset.map(lambda row, at: {"label": float(at % 2)}, with_indices=True)
    if options["lora"]:
        model.add_adapter(
            LoraConfig(r=4, lora_alpha=8, target_modules="all-linear", task_type=task)
        )
    trainer = trainer_class(model=model, args=args, train_dataset=dataset, loss=loss)
    trainer.train()
    model.save_pretrained("out/final")


if __name__ == "__main__":
    main()
