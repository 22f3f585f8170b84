"""Names of its own that look like those of the libraries."""
import argparse


class TrainingArguments:
    def __init__(self, evaluation_strategy="no", no_cuda=False):
        self.evaluation_strategy, self.no_cuda = evaluation_strategy, no_cuda


class SFTTrainer(object):
    def __init__(self, tokenizer=None, max_seq_length=3): pass


def AdamW(params): return params


parser = argparse.ArgumentParser()
parser.add_argument("--evaluation_strategy", default="no")
parser.add_argument("--no_cuda", action="store_true")
args = parser.parse_args([])
training = TrainingArguments(evaluation_strategy=args.evaluation_strategy, no_cuda=args.no_cuda)
trainer = SFTTrainer(tokenizer=None, max_seq_length=8)
print(training.evaluation_strategy, AdamW([]))
from mypackage.trl import SFTTrainer as Theirs
Theirs(tokenizer=None)
