import transformers as tf_hub, trl as rl
from transformers import TrainingArguments as TA, \
    AutoTokenizer as Tok
from trl import (
    SFTTrainer as Trainer,  # the trainer
    DataCollatorForCompletionOnlyLM as Collator,
)
import trl.trainer.utils as utils

tokenizer = Tok.from_pretrained("gpt2", use_auth_token=None)
model = tf_hub.AutoModelForCausalLM.from_pretrained("gpt2")
args = TA("out", evaluation_strategy="steps", per_device_train_batch_size=2 , max_steps=3)
trainer = Trainer(model, args, tokenizer=tokenizer, max_seq_length=64,
                  dataset_text_field="text", train_dataset=[])
other = rl.DPOTrainer(model=model, args=rl.DPOConfig("o", max_prompt_length=3), tokenizer=tokenizer)
