from transformers import TrainingArguments
TrainingArguments('a', evaluation_strategy='no')#end