from transformers import TrainingArguments, Trainer
args = TrainingArguments(
    "out",
    evaluation_strategy="steps",
    run_name="""kept
  as it is""",
)
trainer = Trainer(model=None, args=args, tokenizer=None)
