import os
from transformers import TrainingArguments
x = 1
args = TrainingArguments('a',
   no_cuda=True,
   adafactor=True)
y = '''a
b
'''
