from transformers import *
from trl import *

args = TrainingArguments(output_dir='out', no_cuda=True, evaluation_strategy='no')
trainer = SFTTrainer(model='gpt2', tokenizer=None, args=args, packing=True, max_seq_length=128)
trainer.train()
