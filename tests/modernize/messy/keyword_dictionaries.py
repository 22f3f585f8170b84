from transformers import TrainingArguments
from trl import SFTTrainer

DEBUG = True
common = dict(learning_rate=1e-4, evaluation_strategy="epoch",)
kwargs = {
    "model": "gpt2",
    'tokenizer': None,   # the tokenizer
    "train_dataset": [],
    "max_seq_length": 32, "packing": False
}
kwargs["dataset_text_field"] = "text"
if DEBUG:
    kwargs.update(neftune_noise_alpha=5)
training = {"output_dir": "x", **common, "fp16_backend": "auto"}
trainer = SFTTrainer(args=TrainingArguments(**training), **kwargs)


def build(**extra):
    return SFTTrainer(**{**kwargs, **extra})


build(tokenizer=None)
