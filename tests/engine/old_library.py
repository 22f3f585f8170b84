"""A made-up Transformers that both the legacy layer and an opt-in patch concern."""

from __future__ import annotations

from pathlib import Path

from .. import installed

_FILES = {
    "transformers-4.57.1.dist-info/METADATA": (
        "Metadata-Version: 2.1\nName: transformers\nVersion: 4.57.1\n"
    ),
    "transformers/__init__.py": """
from .trainer import Trainer
from .training_args import TrainingArguments
""",
    "transformers/training_args.py": """
class TrainingArguments:
    def __init__(self, output_dir=None, eval_strategy="no"):
        self.eval_strategy = eval_strategy
""",
    "transformers/trainer.py": """
class Trainer:
    def train(self):
        return "trained"


ORIGINAL = Trainer.train.__code__
""",
}

SEE = """
import patchkit


def see():
    \"\"\"Return what is on: read off the report, and off what the live objects do.\"\"\"
    import transformers

    report = patchkit.report()
    status = report["transformers-preflight"].status
    checked = transformers.Trainer.train.__code__ is not transformers.trainer.ORIGINAL
    assert checked is (status == "applied"), (checked, status)
    try:
        transformers.TrainingArguments("out", evaluation_strategy="steps")
        old = True
    except TypeError:
        old = False
    assert old is (report.legacy is not None), (old, report.legacy)
    return "".join(["p" * checked, "l" * old])
"""
"""`see()` in a program: `p` where `preflight` is on, `l` where the layer is, `pl` for both."""


def write(folder: Path) -> Path:
    """Write the library into a folder, which is returned."""
    return installed.write(folder, _FILES)
