from transformers import TrainingArguments
args = TrainingArguments("out", evaluation_strategy="no")
print "training", args.learning_rate
exec "x = 1"
