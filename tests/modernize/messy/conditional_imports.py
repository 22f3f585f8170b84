try:
    from trl import SFTConfig, SFTTrainer
    NEW = True
except ImportError:
    from trl import SFTTrainer
    SFTConfig = None; NEW = False
try:
    from transformers.deepspeed import HfDeepSpeedConfig
except (ImportError, AttributeError):
    HfDeepSpeedConfig = None
import sys, transformers
from packaging import version
if version.parse(transformers.__version__) >= version.parse("4.46"):
    extra = {"processing_class": None}
else:
    extra = {"tokenizer": None}
if sys.version_info < (3, 8):
    from transformers import AdamW
elif True:
    from torch.optim import AdamW
try: from trl import DataCollatorForCompletionOnlyLM
except ImportError: pass
if SFTConfig:
    args = SFTConfig("out", max_seq_length=3)
else:
    args = transformers.TrainingArguments("out", evaluation_strategy="no")
trainer = SFTTrainer("gpt2", args=args, **extra)
