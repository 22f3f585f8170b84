import os
from functools import partial
from transformers import Trainer, TrainingArguments, EarlyStoppingCallback


def arguments(folder, epochs=3, **more):
    """Make the arguments."""
    def inner(strategy):
        return TrainingArguments(folder, evaluation_strategy=strategy, num_train_epochs=epochs,
                                 logging_dir=os.path.join(folder, "logs"), **more)
    return inner("epoch" if epochs > 1 else "no")


make = partial(TrainingArguments, evaluation_strategy="steps")
lazy = lambda out: TrainingArguments(out, warmup_ratio=0.1, no_cuda=not os.environ.get("GPU"))


class Run:
    args = arguments("class-level")

    @staticmethod
    def start(model, tokenizer, data):
        class Mine(Trainer):
            def compute_loss(self, model, inputs, return_outputs=False):
                loss = super().compute_loss(model, inputs)
                return (loss, None) if return_outputs else loss

        return Mine(model=model, args=Run.args, train_dataset=data, tokenizer=tokenizer,
                    callbacks=[EarlyStoppingCallback()]).train()
