from typing import Dict, Any
from transformers import Trainer, TrainingArguments  # type: ignore[import]


def make(name,  # type: str
         options=None,  # type: Dict[str, Any]
         ):
    # type: (...) -> Trainer
    args = TrainingArguments(name, evaluation_strategy="no")  # type: TrainingArguments
    trainers = {}  # type: Dict[str, Trainer]
    with open(name) as f:  # type: Any
        for line in f:  # type: str
            trainers[line] = Trainer(None, args, tokenizer=None)  # noqa: E501
    return trainers[name]
