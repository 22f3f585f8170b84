from trl import DPOTrainer
from transformers import TrainingArguments
def train(model, ref, tokenizer, data):
	if model is not None:
		trainer = DPOTrainer(
			model,
			ref,
			beta=0.1,	# the temperature
			args=TrainingArguments("out", evaluation_strategy="no"),
			train_dataset=data,
			tokenizer=tokenizer,	max_length=512, max_prompt_length=128,
		)
		trainer.train()
	return
