from transformers import TrainingArguments as T, Trainer as R; a = T('o', evaluation_strategy='no'); t = R(None, a, tokenizer=None) if a else None; t and t.train()
