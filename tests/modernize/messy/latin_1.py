# -*- coding: latin-1 -*-
from transformers import TrainingArguments
args = TrainingArguments('größe', evaluation_strategy='no')  # für später
