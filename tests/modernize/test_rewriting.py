"""Scripts before and after they are rewritten."""

from __future__ import annotations

from textwrap import dedent

import pytest

from patchkit.legacy.rows import all_rows
from patchkit.legacy.versions.due import Due
from patchkit.modernize.findings import ScriptOutcome
from patchkit.modernize.python import modernize
from patchkit.modernize.target import due_for

from .conftest import Rewrite

OLD_DEFAULTS = "learning_rate=5e-05, logging_steps=500, bf16=False, gradient_checkpointing=False"

CASES = {
    "a name that moved": (
        "from trl import ORPOTrainer  # one stage\n",
        "from trl.experimental.orpo import ORPOTrainer  # one stage\n",
    ),
    "an optimizer with other defaults": (
        "from torch.optim import AdamW as A\nfrom transformers import AdamW\no = AdamW(p, lr=1e-3, no_deprecation_warning=True)\no.step()\nAdamW(p, 1, (0, 0), 1e-8, 0.1)\n",
        "from torch.optim import AdamW as A\nfrom torch.optim import AdamW\no = AdamW(p, lr=1e-3, eps=1e-6, weight_decay=0.0)\no.step()\nAdamW(p, 1, (0, 0), 1e-8, 0.1)\n",
    ),
    "an optimizer that PyTorch does not have": (
        "from transformers import AdamW\nAdamW(p, correct_bias=False)\n",
        "from patchkit.replacements import AdamW\nAdamW(p, correct_bias=False)\n",
    ),
    "an optimizer that is handed on": (
        "from transformers import AdamW\nprint(AdamW)\nAdamW(p)\n",
        "from patchkit.replacements import AdamW\nprint(AdamW)\nAdamW(p)\n",
    ),
    "names that nothing uses": (
        "from transformers.optimization import AdamW\nfrom transformers import TextDataset, Trainer\nTrainer()\n",
        "from transformers import Trainer\nTrainer()\n",
    ),
    "calls of what does nothing": (
        "from transformers.utils import send_example_telemetry, logging\nlogging.x()\n\n# Telemetry\n# is sent.\nsend_example_telemetry(\n    'a', b\n)\n\ndef f():\n    if b:\n        a()\n    else:\n        send_example_telemetry('b')\n        c()\n",
        "from transformers.utils import logging\nlogging.x()\n\ndef f():\n    if b:\n        a()\n    else:\n        c()\n",
    ),
    "calls of what does nothing, in other calls": (
        "from transformers.utils import send_example_telemetry\nprint(send_example_telemetry)\nsend_example_telemetry('b')\n",
        "from patchkit.replacements import send_example_telemetry\nprint(send_example_telemetry)\nsend_example_telemetry('b')\n",
    ),
    "calls of what does nothing, alone or below others' comments": (
        "from transformers.utils import send_example_telemetry as t\n# Settings\n\nt('b')\nif b:\n    t('c')\n",
        "from patchkit.replacements import send_example_telemetry as t\n# Settings\n\nt('b')\nif b:\n    t('c')\n",
    ),
    "a constructor that gives weights their first values": (
        "from transformers import BertPreTrainedModel\nclass T(BertPreTrainedModel):\n    def __init__(self, config):\n        super().__init__(config)\n        self.init_weights()\n",
        "from transformers import BertPreTrainedModel\nclass T(BertPreTrainedModel):\n    def __init__(self, config):\n        super().__init__(config)\n        self.post_init()\n",
    ),
    "a constructor that does not": (
        "from transformers import PreTrainedModel\nclass T(PreTrainedModel):\n    def __init__(self, config):\n        super().__init__(config)\n",
        "from transformers import PreTrainedModel\nclass T(PreTrainedModel):\n    # patchkit: T.__init__ does not call self.post_init() at its end; no model is loaded without, since Transformers 5.0.0\n    def __init__(self, config):\n        super().__init__(config)\n",
    ),
    "a constructor above that does": (
        "from transformers import BertForMaskedLM\nclass T(BertForMaskedLM):\n    def __init__(self, config):\n        super().__init__(config)\n        self.init_weights()\n",
        "from transformers import BertForMaskedLM\nclass T(BertForMaskedLM):\n    def __init__(self, config):\n        super().__init__(config)\n        self.init_weights()\n",
    ),
    "metrics of a checkpoint by position": (
        "from transformers import Trainer\nclass T(Trainer):\n    def _save_checkpoint(self, model, trial, metrics=None):\n        super(T, self)._save_checkpoint(model, trial, metrics)\n",
        "from transformers import Trainer\nclass T(Trainer):\n    def _save_checkpoint(self, model, trial, metrics=None):\n        super(T, self)._save_checkpoint(model, trial)\n",
    ),
    "a feature extractor of images": (
        "from transformers import AutoFeatureExtractor, AutoModelForImageClassification\nAutoFeatureExtractor.from_pretrained('m')\nAutoModelForImageClassification.from_config(c)\n",
        "from transformers import AutoFeatureExtractor, AutoModelForImageClassification\n# patchkit: AutoFeatureExtractor.from_pretrained finds none for models of images; write AutoImageProcessor, since Transformers 5.0.0\nAutoFeatureExtractor.from_pretrained('m')\nAutoModelForImageClassification.from_config(c)\n",
    ),
    "a feature extractor of sounds": (
        "from transformers import AutoFeatureExtractor\nAutoFeatureExtractor.from_pretrained('m')\n",
        "from transformers import AutoFeatureExtractor\nAutoFeatureExtractor.from_pretrained('m')\n",
    ),
    "adapters that are loaded, and others": (
        "from peft import AutoPeftModelForCausalLM\nfrom trl import DPOTrainer\nm = AutoPeftModelForCausalLM.from_pretrained('m', dtype='auto')\nDPOTrainer(m, args=a, peft_config=c)\nDPOTrainer(m.merge_and_unload(), args=a, peft_config=c)\n",
        "from peft import AutoPeftModelForCausalLM\nfrom trl import DPOTrainer\nm = AutoPeftModelForCausalLM.from_pretrained('m', dtype='auto')\n# patchkit: DPOTrainer(peft_config=) with a model that has adapters already has been gone since TRL 0.26.0; leave one of the two out, or merge_and_unload() the model first\nDPOTrainer(m, args=a, peft_config=c)\nDPOTrainer(m.merge_and_unload(), args=a, peft_config=c)\n",
    ),
    "keywords that a function hands on": (
        "from transformers import TrainingArguments\ndef f(out, **k):\n    k = TrainingArguments(out, **k)\n    return k\nf('o', evaluation_strategy='no')\n",
        "from transformers import TrainingArguments\ndef f(out, **k):\n    k = TrainingArguments(out, **k)\n    return k\nf('o', eval_strategy='no')\n",
    ),
    "keywords that a function reads itself": (
        "from transformers import TrainingArguments\ndef f(out, **k):\n    print(k['evaluation_strategy'])\n    return TrainingArguments(out, **k)\nf('o', evaluation_strategy='no')\n",
        "from transformers import TrainingArguments\ndef f(out, **k):\n    print(k['evaluation_strategy'])\n    return TrainingArguments(out, **k)\nf('o', evaluation_strategy='no')\n",
    ),
    "a command line as a list": (
        "from transformers import HfArgumentParser, TrainingArguments\n(a,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses(args=[\n    '--output_dir', 'o', '--warmup_ratio', r,\n    '--evaluation_strategy', 'no', '--optim', 'adamw_hf',\n    '--overwrite_output_dir',\n])\n",
        "from transformers import HfArgumentParser, TrainingArguments\n# patchkit: --overwrite_output_dir has been gone since Transformers 5.0.0: only scripts read it; leave it out\n(a,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses(args=[\n    '--output_dir', 'o', '--warmup_steps', r,\n    '--eval_strategy', 'no', '--optim', 'adamw_torch',\n    '--overwrite_output_dir',\n])\n",
    ),
    "a list for a parser of the script's own flags": (
        "from transformers import HfArgumentParser\nfrom dataclasses import dataclass\n@dataclass\nclass A:\n    warmup_ratio: float = 0\nHfArgumentParser(A).parse_args_into_dataclasses(['--warmup_ratio', '1'])\n",
        "from transformers import HfArgumentParser\nfrom dataclasses import dataclass\n@dataclass\nclass A:\n    warmup_ratio: float = 0\nHfArgumentParser(A).parse_args_into_dataclasses(['--warmup_ratio', '1'])\n",
    ),
    "a formatting_func for a row that has a column prompt": (
        "from datasets import load_dataset\nimport trl\nrows = load_dataset('r', split='train')\ndef f(e):\n    return e['prompt']\ntrl.SFTTrainer('m', tokenizer=t, train_dataset=rows, args=a, formatting_func=f)\n",
        "from datasets import load_dataset\nimport trl\nrows = load_dataset('r', split='train')\ndef f(e):\n    return e['prompt']\ntrl.SFTTrainer('m', processing_class=t, train_dataset=rows.map(lambda row: {'text': f(row)}, remove_columns=rows.column_names), args=a)\n",
    ),
    "a callback that knows both names": (
        "from transformers import TrainerCallback\nclass C(TrainerCallback):\n    def on_save(self, args, state, control, **k):\n        k.get('tokenizer') or k['processing_class']\n",
        "from transformers import TrainerCallback\nclass C(TrainerCallback):\n    def on_save(self, args, state, control, **k):\n        k.get('tokenizer') or k['processing_class']\n",
    ),
    "a tokenizer's kind that has no class of its own": (
        "from transformers import AutoTokenizer\nAutoTokenizer.from_pretrained('m', tokenizer_type='llama' if x else None)\nAutoTokenizer.from_pretrained('m', tokenizer_type='bert')\n",
        "from transformers import AutoTokenizer\n# patchkit: AutoTokenizer.from_pretrained(tokenizer_type='llama') has been gone since Transformers 5.0.0. Leave it out: the checkpoint says which tokenizer it has.\nAutoTokenizer.from_pretrained('m', tokenizer_type='llama' if x else None)\nAutoTokenizer.from_pretrained('m', tokenizer_type='bert')\n",
    ),
    "keywords that a constructor keeps": (
        "from transformers import Trainer\nclass T(Trainer):\n    def __init__(self, model, **k):\n        super().__init__(model, args=f(**k))\nT(m, tokenizer=t)\n",
        "from transformers import Trainer\nclass T(Trainer):\n    def __init__(self, model, **k):\n        super().__init__(model, args=f(**k))\nT(m, tokenizer=t)\n",
    ),
    "entities in groups": (
        "from transformers import pipeline\npipeline('ner', grouped_entities=True)\n",
        "from transformers import pipeline\n# patchkit: pipeline(grouped_entities=True) has been gone since Transformers 5.0.0. Say aggregation_strategy=\"simple\".\npipeline('ner', grouped_entities=True)\n",
    ),
    "a method of the script's own": (
        "from transformers import PreTrainedTokenizerBase\nclass T(PreTrainedTokenizerBase):\n    def prepare_for_model(self, ids):\n        return ids\n    def f(self):\n        return self.prepare_for_model([])\n",
        "from transformers import PreTrainedTokenizerBase\nclass T(PreTrainedTokenizerBase):\n    def prepare_for_model(self, ids):\n        return ids\n    def f(self):\n        return self.prepare_for_model([])\n",
    ),
    "a function that compares releases": (
        "from accelerate.utils import compare_versions\nif compare_versions('transformers', '<', '4.46'):\n    from transformers.deepspeed import HfDeepSpeedConfig\nelse:\n    from transformers.integrations import HfDeepSpeedConfig\n",
        "from accelerate.utils import compare_versions\nif compare_versions('transformers', '<', '4.46'):\n    from transformers.deepspeed import HfDeepSpeedConfig\nelse:\n    from transformers.integrations import HfDeepSpeedConfig\n",
    ),
    "some of the names moved": (
        "from trl import (\n    ORPOTrainer,  # one stage\n    SFTTrainer as S,\n)\n",
        "from trl import (\n    # one stage\n    SFTTrainer as S,\n)\nfrom trl.experimental.orpo import ORPOTrainer\n",
    ),
    "another name today": (
        "from trl import is_xpu_available as check\n",
        "from transformers.utils import is_torch_xpu_available as check\n",
    ),
    "another name of the same module": (
        "from transformers import SegformerFeatureExtractor, Trainer\nSegformerFeatureExtractor()\n",
        "from transformers import Trainer, SegformerImageProcessor\nSegformerImageProcessor()\n",
    ),
    "today's name beside the old one": (
        "from transformers import ViTFeatureExtractor, ViTImageProcessor\nViTFeatureExtractor()\n",
        "from transformers import ViTImageProcessor\nViTImageProcessor()\n",
    ),
    "the collator that a trainer made": (
        "from trl import DPOTrainer, DPOConfig\nfrom trl.trainer.utils import DPODataCollatorWithPadding as C\nDPOTrainer(m, args=DPOConfig('o'), data_collator=C(0))\n",
        "from trl import DPOTrainer, DPOConfig\nfrom trl.experimental.utils import DPODataCollatorWithPadding as C\nDPOTrainer(m, args=DPOConfig('o'))\n",
    ),
    "an old value in a dictionary of settings": (
        "from transformers import TrainingArguments\nh = {'lr': 1, 'opt': 'adamw_hf'}\nTrainingArguments('o', optim=h['opt'])\n",
        "from transformers import TrainingArguments\nh = {'lr': 1, 'opt': \"adamw_torch\"}\nTrainingArguments('o', optim=h['opt'])\n",
    ),
    "an old value that others may read": (
        "from transformers import TrainingArguments\nh = {'opt': 'adamw_hf'}\nprint(h)\nTrainingArguments('o', optim=h['opt'])\n",
        "from transformers import TrainingArguments\nh = {'opt': 'adamw_hf'}\nprint(h)\n# patchkit: TrainingArguments(optim='adamw_hf') has been gone since Transformers 4.50.0; write optim='adamw_torch'\nTrainingArguments('o', optim=h['opt'])\n",
    ),
    "an old value as the default of a field": (
        "from dataclasses import dataclass, field\nfrom transformers import TrainingArguments\n@dataclass\nclass A:\n    opt: str = field(default='adamw_hf')\na = A()\nTrainingArguments('o', optim=a.opt)\n",
        "from dataclasses import dataclass, field\nfrom transformers import TrainingArguments\n@dataclass\nclass A:\n    opt: str = field(default=\"adamw_torch\")\na = A()\nTrainingArguments('o', optim=a.opt)\n",
    ),
    "a switch that the configuration beside it has": (
        "from transformers import AutoModel, BitsAndBytesConfig\nAutoModel.from_pretrained('m', load_in_4bit=a.b, quantization_config=BitsAndBytesConfig(load_in_4bit=a.b))\n",
        "from transformers import AutoModel, BitsAndBytesConfig\nAutoModel.from_pretrained('m', quantization_config=BitsAndBytesConfig(load_in_4bit=a.b))\n",
    ),
    "a switch that the configuration beside it may not have": (
        "from transformers import AutoModel, BitsAndBytesConfig\nAutoModel.from_pretrained('m', load_in_4bit=a.b, quantization_config=BitsAndBytesConfig(load_in_4bit=a.c))\n",
        "from transformers import AutoModel, BitsAndBytesConfig\n# patchkit: AutoModel.from_pretrained(load_in_4bit=) is quantization_config= today, which is given too; keep one\nAutoModel.from_pretrained('m', load_in_4bit=a.b, quantization_config=BitsAndBytesConfig(load_in_4bit=a.c))\n",
    ),
    "batches of texts, and of pairs": (
        "t.batch_encode_plus(x, pad_to_max_length=True)\nt.batch_encode_plus(list(zip(x, y)))\n",
        "t(x, padding=True)\n# patchkit: PreTrainedTokenizerBase.batch_encode_plus has been gone since Transformers 5.0.0; call the tokenizer itself, with lists of texts\nt.batch_encode_plus(list(zip(x, y)))\n",
    ),
    "a parameter by position, whatever its name": (
        "from transformers import Trainer\nclass T(Trainer):\n    def _get_train_sampler(self, dataset=None):\n        pass\n",
        "from transformers import Trainer\nclass T(Trainer):\n    def _get_train_sampler(self, dataset=None):\n        pass\n",
    ),
    "what is for older releases alone": (
        "import transformers\nfrom packaging import version\nif version.parse(transformers.__version__) < version.parse('4.33'):\n    from transformers.deepspeed import deepspeed_config\nelse:\n    from transformers.deepspeed import is_deepspeed_zero3_enabled\n",
        "import transformers\nfrom packaging import version\nif version.parse(transformers.__version__) < version.parse('4.33'):\n    from transformers.deepspeed import deepspeed_config\nelse:\n    from transformers.integrations.deepspeed import is_deepspeed_zero3_enabled\n",
    ),
    "what objects of older releases have": (
        "from transformers import DynamicCache\nc = DynamicCache()\nif hasattr(c, 'layers'):\n    c.layers[0].keys\nelse:\n    c.key_cache[0]\n",
        "from transformers import DynamicCache\nc = DynamicCache()\nif hasattr(c, 'layers'):\n    c.layers[0].keys\nelse:\n    c.key_cache[0]\n",
    ),
    "keywords of what has another name today": (
        "from peft import prepare_model_for_int8_training as p\np(m, layer_norm_names=['norm'])\n",
        "from peft import prepare_model_for_kbit_training as p\np(m)\n",
    ),
    "arguments with a star": (
        "from trl import ModelConfig, TrlParser\ndef main(m):\n    return m.torch_dtype\nmain(*TrlParser((ModelConfig,)).parse_args_and_config())\n",
        "from trl import ModelConfig, TrlParser\ndef main(m):\n    return m.dtype\nmain(*TrlParser((ModelConfig,)).parse_args_and_config())\n",
    ),
    "what a flag may have said": (
        "from transformers import AutoModel\nfrom trl import ModelConfig, TrlParser\n(m,) = TrlParser((ModelConfig,)).parse_args_and_config()\nAutoModel.from_pretrained('m', trust_remote_code=m.trust_remote_code)\n",
        "from transformers import AutoModel\nfrom trl import ModelConfig, TrlParser\n(m,) = TrlParser((ModelConfig,)).parse_args_and_config()\n# patchkit: ModelConfig.trust_remote_code has been gone since TRL 1.7.0; write here what its flag said\nAutoModel.from_pretrained('m', trust_remote_code=False)\n",
    ),
    "a task that is gone, as the first argument": (
        "from transformers import pipeline\npipeline('summarization', model=m)\npipeline('vqa')\npipeline('fill-mask')\n",
        "from transformers import pipeline\n# patchkit: pipeline has no task summarization, translation or text2text-generation: call generate() of the model, since Transformers 5.0.0\npipeline('summarization', model=m)\n# patchkit: pipeline(task='vqa') has been gone since Transformers 5.3.0. Write image-text-to-text, with a model that chats about images.\npipeline('vqa')\npipeline('fill-mask')\n",
    ),
    "a number that only a person knows": (
        "from peft import AdaLoraConfig\nAdaLoraConfig(r=2)\nAdaLoraConfig(total_step=9)\n",
        "from peft import AdaLoraConfig\n# patchkit: AdaLoraConfig needs total_step=, the number of training steps, since PEFT 0.15.0\nAdaLoraConfig(r=2)\nAdaLoraConfig(total_step=9)\n",
    ),
    "a module that moved": (
        "from transformers.deepspeed import HfDeepSpeedConfig\n",
        "from transformers.integrations.deepspeed import HfDeepSpeedConfig\n",
    ),
    "a module with another name": (
        "import transformers.deepspeed as ds\nds.is_deepspeed_zero3_enabled()\n",
        "import transformers.integrations.deepspeed as ds\nds.is_deepspeed_zero3_enabled()\n",
    ),
    "a name of a module": (
        "import trl as t\nt.setup_chat_format(m, k)\n",
        "import trl as t\nfrom patchkit.replacements import setup_chat_format\nsetup_chat_format(m, k)\n",
    ),
    "a star": (
        "from trl import *\nORPOTrainer()\n",
        "from trl import *\nfrom trl.experimental.orpo import ORPOTrainer\nORPOTrainer()\n",
    ),
    "a keyword with another name": (
        "from transformers import Trainer\nTrainer(m, tokenizer = t)\n",
        "from transformers import Trainer\nTrainer(m, processing_class = t)\n",
    ),
    "a keyword of a trainer's arguments": (
        "from transformers import *\nTrainer(m, TrainingArguments('o'), prediction_loss_only=True)\n",
        "from transformers import *\nTrainer(m, TrainingArguments('o', prediction_loss_only=True))\n",
    ),
    "a keyword of arguments that a trainer has not got": (
        "from transformers import Trainer\nTrainer(m, prediction_loss_only=True)\n",
        'from transformers import Trainer, TrainingArguments\nTrainer(m, args=TrainingArguments(output_dir="tmp_trainer", prediction_loss_only=True))\n',
    ),
    "a name that is gone, and that nothing uses": (
        "from trl import SFTTrainer, DataCollatorForCompletionOnlyLM, PPOTrainer as P\nSFTTrainer(m)\n",
        "from trl import SFTTrainer\nSFTTrainer(m)\n",
    ),
    "a field of any type": (
        "from typing import Any\nclass C:\n    p: Any\n    def f(self, e):\n        with self.p.as_target_processor():\n            return self.p.pad(e)\n",
        "from typing import Any\nclass C:\n    p: Any\n    def f(self, e):\n        return self.p.tokenizer.pad(e)\n",
    ),
    "a name in the place of another one in brackets": (
        "from transformers import (\n    Trainer,  # the trainer\n    AdamW,\n)\nTrainer(m, optimizer=AdamW(p), prediction_loss_only=True)\n",
        'from transformers import (\n    Trainer,  # the trainer\n    TrainingArguments,\n)\nfrom torch.optim import AdamW\nTrainer(m, optimizer=AdamW(p, eps=1e-6, weight_decay=0.0), args=TrainingArguments(output_dir="tmp_trainer", prediction_loss_only=True))\n',
    ),
    "a keyword that a class of the script's own takes": (
        "from transformers import Trainer\nclass T(Trainer):\n    def __init__(self, tokenizer=None, **k):\n        super().__init__(tokenizer=tokenizer, **k)\nT(tokenizer=t)\n",
        "from transformers import Trainer\nclass T(Trainer):\n    def __init__(self, tokenizer=None, **k):\n        super().__init__(processing_class=tokenizer, **k)\nT(tokenizer=t)\n",
    ),
    "what an object of the script's own holds": (
        "from transformers import AutoTokenizer\nclass T:\n    def __init__(self, w):\n        self.w = w\n    def f(self):\n        return self.w.encode_plus('a')\nT(AutoTokenizer.from_pretrained('m'))\n",
        "from transformers import AutoTokenizer\nclass T:\n    def __init__(self, w):\n        self.w = w\n    def f(self):\n        return self.w('a')\nT(AutoTokenizer.from_pretrained('m'))\n",
    ),
    "a chat template that is read as ids": (
        "from transformers import AutoTokenizer\nids = AutoTokenizer.from_pretrained('m').apply_chat_template(c)\nm.generate(ids.to(0))\n",
        "from transformers import AutoTokenizer\nids = AutoTokenizer.from_pretrained('m').apply_chat_template(c, return_dict=False)\nm.generate(ids.to(0))\n",
    ),
    "settings of generate of a model of two others": (
        "from transformers import VisionEncoderDecoderModel\nm = VisionEncoderDecoderModel.from_pretrained('m', dtype='auto')\nm.config.num_beams = 4\n",
        "from transformers import VisionEncoderDecoderModel\nm = VisionEncoderDecoderModel.from_pretrained('m', dtype='auto')\nm.generation_config.num_beams = 4\n",
    ),
    "a context for the texts of labels": (
        "def f(e, tok):\n    x = tok(e['a'])\n    # the labels\n    with tok.as_target_tokenizer():\n        y = tok(e['b'], truncation=True)\n        z = tok(text=e['c'])\n    x['labels'] = y['input_ids']\n",
        "def f(e, tok):\n    x = tok(e['a'])\n    # the labels\n    y = tok(text_target=e['b'], truncation=True)\n    z = tok(text_target=e['c'])\n    x['labels'] = y['input_ids']\n",
    ),
    "a context in which a tokenizer does more": (
        "def f(e, tok):\n    with tok.as_target_tokenizer():\n        return tok.pad(e)\n",
        "def f(e, tok):\n    # patchkit: PreTrainedTokenizerBase.as_target_tokenizer has been gone since Transformers 5.0.0; write tokenizer(text_target=…)\n    with tok.as_target_tokenizer():\n        return tok.pad(e)\n",
    ),
    "a context for the texts of a processor": (
        "class C:\n    processor: Any\n    def __call__(self, e):\n        with self.processor.as_target_processor():\n            y = self.processor.pad(e)\n        return y\n",
        "class C:\n    processor: Any\n    def __call__(self, e):\n        y = self.processor.tokenizer.pad(e)\n        return y\n",
    ),
    "what only tokenizers have": (
        "tok = None\ndef f():\n    global tok\n    tok = load()\ndef g(e):\n    return tok.encode_plus(e)\n",
        "tok = None\ndef f():\n    global tok\n    tok = load()\ndef g(e):\n    return tok(e)\n",
    ),
    "predictions that are decoded as they come": (
        "from transformers import *\nSeq2SeqTrainingArguments('o', predict_with_generate=True)\ndef m(p):\n    predictions, labels = p\n    labels = where(labels != -100, labels, 0)\n    t.batch_decode(labels)\n    t.batch_decode(predictions)\n",
        "from transformers import *\nSeq2SeqTrainingArguments('o', predict_with_generate=True)\ndef m(p):\n    predictions, labels = p\n    labels = where(labels != -100, labels, 0)\n    t.batch_decode(labels)\n    # patchkit: batch_decode gets predictions that are filled up with -100, which it does not take; give it np.where(predictions != -100, predictions, tokenizer.pad_token_id), or write generation_max_length= in the arguments, since Transformers 5.0.0\n    t.batch_decode(predictions)\n",
    ),
    "predictions that are not decoded as they come": (
        "from transformers import *\nSeq2SeqTrainingArguments('o', predict_with_generate=True)\ndef m(p):\n    ids = p.predictions\n    ids[ids == -100] = 0\n    t.batch_decode(ids)\n",
        "from transformers import *\nSeq2SeqTrainingArguments('o', predict_with_generate=True)\ndef m(p):\n    ids = p.predictions\n    ids[ids == -100] = 0\n    t.batch_decode(ids)\n",
    ),
    "metrics of pairs in an older script": (
        "import trl\ntrl.RewardTrainer(m, tokenizer=t, args=a, compute_metrics=f)\n",
        "import trl\n# patchkit: RewardTrainer gives compute_metrics the rewards of a batch, the chosen halves before the rejected ones, and no labels, and evaluates its own accuracy, since TRL 0.24.0\ntrl.RewardTrainer(m, processing_class=t, args=a, compute_metrics=f)\n",
    ),
    "metrics of pairs in a script of today": (
        "import trl\ntrl.RewardTrainer(m, processing_class=t, compute_metrics=f)\n",
        "import trl\ntrl.RewardTrainer(m, processing_class=t, compute_metrics=f)\n",
    ),
    "a formatted text as a variable's value": (
        "from transformers import TrainingArguments\nTrainingArguments('o', logging_dir=f'l{n}')\n",
        "import os\nfrom transformers import TrainingArguments\nos.environ[\"TENSORBOARD_LOGGING_DIR\"] = f'l{n}'\nTrainingArguments('o')\n",
    ),
    "a formatting_func that reads prompts of a dataset": (
        "from datasets import load_dataset\nimport trl\nrows = load_dataset('r', split='train')\ndef f(e):\n    return [t for t in e['prompt']]\ntrl.SFTTrainer('m', train_dataset=rows, args=a, formatting_func=f)\n",
        "from datasets import load_dataset\nimport trl\nrows = load_dataset('r', split='train')\ndef f(e):\n    return [t for t in e['prompt']]\ntrl.SFTTrainer('m', train_dataset=rows.map(lambda batch: {'text': f(batch)}, batched=True, remove_columns=rows.column_names), args=a)\n",
    ),
    "a formatting_func that reads prompts of what is not known": (
        "import trl\ndef f(e):\n    return [t for t in e['prompt']]\ntrl.SFTTrainer('m', train_dataset=g(), formatting_func=f)\n",
        "import trl\ndef f(e):\n    return [t for t in e['prompt']]\n# patchkit: SFTTrainer(formatting_func=) that returns a list for a batch has been gone since TRL 0.16.0; rows with a column prompt are not formatted: give the trainer rows.map(lambda batch: {'text': f(batch)}, batched=True, remove_columns=rows.column_names) and no formatting_func\ntrl.SFTTrainer('m', train_dataset=g(), formatting_func=f)\n",
    ),
    "settings of generate for a model that is loaded": (
        "from transformers import AutoModelForCausalLM\nAutoModelForCausalLM.from_pretrained('m', dtype='auto', num_beams=4)\n",
        "from transformers import AutoModelForCausalLM\n# patchkit: AutoModelForCausalLM.from_pretrained takes no settings of generate, which belong on model.generation_config, since Transformers 5.0.0\nAutoModelForCausalLM.from_pretrained('m', dtype='auto', num_beams=4)\n",
    ),
    "in a dictionary": (
        "import trl\nk = {'tokenizer': t, 'args': a}\ntrl.KTOTrainer(**k)\n",
        "import trl\nk = {'processing_class': t, 'args': a}\ntrl.KTOTrainer(**k)\n",
    ),
    "in a call of dict": (
        "import trl\nk = dict(tokenizer=t, args=a)\ntrl.KTOTrainer(**k)\n",
        "import trl\nk = dict(processing_class=t, args=a)\ntrl.KTOTrainer(**k)\n",
    ),
    "a value": (
        "from transformers import TrainingArguments\nTrainingArguments('o', optim='adamw_hf')\n",
        "from transformers import TrainingArguments\nTrainingArguments('o', optim=\"adamw_torch\")\n",
    ),
    "a value that is converted": (
        "from transformers import TrainingArguments as TA\nTA('o', warmup_ratio=0.1, adafactor=True)\n",
        "from transformers import TrainingArguments as TA\nTA('o', warmup_steps=0.1, optim=\"adafactor\")\n",
    ),
    "an expression that is converted": (
        "from transformers import TrainingArguments as TA\nTA('o', group_by_length=a or b)\n",
        "from transformers import TrainingArguments as TA\n"
        'TA(\'o\', train_sampling_strategy="group_by_length" if (a or b) else "random")\n',
    ),
    "two that go together": (
        "from transformers import TrainingArguments as TA\n"
        "TA('o', push_to_hub_model_id='m', push_to_hub_organization='us')\n",
        "from transformers import TrainingArguments as TA\nTA('o', hub_model_id=\"us/m\")\n",
    ),
    "an environment variable": (
        "from transformers import TrainingArguments\n\n# to train\nTrainingArguments('o', logging_dir=d)\n",
        "import os\nfrom transformers import TrainingArguments\n\n# to train\n"
        "os.environ[\"TENSORBOARD_LOGGING_DIR\"] = str(d)\nTrainingArguments('o')\n",
    ),
    "quantized": (
        "from transformers import AutoModelForCausalLM as A\n"
        "A.from_pretrained('m', dtype='auto', load_in_4bit=True, bnb_4bit_quant_type='nf4')\n",
        "from transformers import AutoModelForCausalLM as A, BitsAndBytesConfig\n"
        "A.from_pretrained('m', dtype='auto', quantization_config="
        'BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4"))\n',
    ),
    "moved to a configuration in the call": (
        "from trl import SFTConfig, SFTTrainer\n"
        "SFTTrainer(m, args=SFTConfig('o'), max_seq_length=1, packing=p)\n",
        "from trl import SFTConfig, SFTTrainer\nSFTTrainer(m, args=SFTConfig('o', max_length=1, packing=p))\n",
    ),
    "moved to a configuration above": (
        "from trl import SFTConfig, SFTTrainer\na = SFTConfig(\n    'o',  # out\n)\nSFTTrainer(m, a, packing=True)\n",
        "from trl import SFTConfig, SFTTrainer\na = SFTConfig(\n    'o',  # out\n    packing=True,\n)\nSFTTrainer(m, a)\n",
    ),
    "without a configuration": (
        "from trl import SFTTrainer\nSFTTrainer('m', packing=True)\n",
        "from trl import SFTTrainer, SFTConfig\n"
        f"SFTTrainer('m', args=SFTConfig(output_dir=\"tmp_trainer\", {OLD_DEFAULTS}, packing=True))\n",
    ),
    "training arguments of a trainer with its own": (
        "import transformers, trl\ntrl.RewardTrainer(m, transformers.TrainingArguments('o', bf16=True), max_length=9)\n",
        "import transformers, trl\n"
        "trl.RewardTrainer(m, trl.RewardConfig('o', bf16=True, learning_rate=5e-05, logging_steps=500, "
        "gradient_checkpointing=False, max_length=9))\n",
    ),
    "training arguments that SFTTrainer takes": (
        "import transformers, trl\ntrl.SFTTrainer(m, transformers.TrainingArguments('o'), tokenizer=t)\n",
        "import transformers, trl\ntrl.SFTTrainer(m, transformers.TrainingArguments('o'), processing_class=t)\n",
    ),
    "a configuration from elsewhere": (
        "from trl import SFTTrainer\ndef f(a):\n    SFTTrainer(m, args=a, packing=True)\n",
        "from trl import SFTTrainer, SFTConfig\n"
        "from patchkit.replacements import configured\n"
        "def f(a):\n    SFTTrainer(m, args=configured(a, SFTConfig, packing=True))\n",
    ),
    "a value that comes after the configuration": (
        "from trl import SFTConfig, SFTTrainer\na = SFTConfig('o')\nn = 9\nSFTTrainer(m, a, max_seq_length=n)\n",
        "from trl import SFTConfig, SFTTrainer\na = SFTConfig('o')\nn = 9\na.max_length = n\nSFTTrainer(m, a)\n",
    ),
    "a value that comes after the arguments": (
        "import trl\nfrom transformers import TrainingArguments\na = TrainingArguments('o', bf16=True, learning_rate=1, logging_steps=1)\n"
        "n = 9\nt = trl.SFTTrainer(m, args=a, max_seq_length=n, packing=True)\n",
        "import trl\nfrom transformers import TrainingArguments\na = trl.SFTConfig('o', bf16=True, learning_rate=1, logging_steps=1, "
        "gradient_checkpointing=False, packing=True)\nn = 9\na.max_length = n\nt = trl.SFTTrainer(m, args=a)\n",
    ),
    "a value that comes after the configuration, which derives others from it": (
        "from trl import DPOConfig, DPOTrainer\na = DPOConfig('o')\nn = 'ipo'\nDPOTrainer(m, args=a, loss_type=n)\n",
        "from trl import DPOConfig, DPOTrainer\nfrom patchkit.replacements import configured\n"
        "a = DPOConfig('o')\nn = 'ipo'\nDPOTrainer(m, args=configured(a, DPOConfig, loss_type=n))\n",
    ),
    "by position": (
        "from trl import DPOTrainer, DPOConfig\nDPOTrainer(m, r, 0.1, args=DPOConfig('o'))\n",
        "from trl import DPOTrainer, DPOConfig\nDPOTrainer(model=m, ref_model=r, args=DPOConfig('o', beta=0.1))\n",
    ),
    "by position, before the loss": (
        "from transformers import Trainer\nTrainer(m, a, d, t, e, tokenizer, None, compute_metrics)\n",
        "from transformers import Trainer\nTrainer(model=m, args=a, data_collator=d, train_dataset=t, eval_dataset=e, "
        "processing_class=tokenizer, model_init=None, compute_metrics=compute_metrics)\n",
    ),
    "prompts that were truncated": (
        "from trl import DPOTrainer, DPOConfig\na = DPOConfig('o', max_prompt_length=9)\nDPOTrainer(m, args=a)\n",
        "from trl import DPOTrainer, DPOConfig\nfrom patchkit.replacements import truncating\n"
        "a = DPOConfig('o')\ntruncating(DPOTrainer, max_prompt_length=9)(m, args=a)\n",
    ),
    "adapters that the model has": (
        "import trl, peft\nc = peft.LoraConfig()\nm = peft.get_peft_model(b, c)\ntrl.DPOTrainer(m, peft_config=c)\n",
        "import trl, peft\nc = peft.LoraConfig()\nm = peft.get_peft_model(b, c)\n"
        'trl.DPOTrainer(m, args=trl.DPOConfig(output_dir="tmp_trainer", '
        f"{OLD_DEFAULTS}))\n",
    ),
    "a formatting function of its time": (
        "import trl\ndef f(e):\n    t = []\n    return t\ntrl.SFTTrainer(m, a, formatting_func=f)\n",
        "import trl\ndef f(e):\n    t = []\n    return t\ntrl.SFTTrainer(m, a, "
        "formatting_func=lambda row: f({name: [value] for name, value in row.items()})[0])\n",
    ),
    "a formatting function without a name": (
        "import trl\ntrl.SFTTrainer(m, a, formatting_func=lambda e: [t for t in e['text']])\n",
        "import trl\ntrl.SFTTrainer(m, a, formatting_func=lambda row: (lambda e: [t for t in e['text']])"
        "({name: [value] for name, value in row.items()})[0])\n",
    ),
    "attributes": (
        "from trl import ModelConfig, TrlParser\n(c,) = TrlParser(ModelConfig).parse_args_and_config()\n"
        "f(c.torch_dtype, c.trust_remote_code)\n",
        "from trl import ModelConfig, TrlParser\n(c,) = TrlParser(ModelConfig).parse_args_and_config()\n"
        "f(c.dtype, False)\n",
    ),
    "attributes that are set": (
        "from transformers import TrainingArguments\na = TrainingArguments('o')\n"
        "a.evaluation_strategy = 'steps'\na.warmup_ratio = 0.1\n",
        "from transformers import TrainingArguments\na = TrainingArguments('o')\n"
        "a.eval_strategy = 'steps'\na.warmup_steps = 0.1\n",
    ),
    "padding to a length": (
        "from transformers import AutoTokenizer\nt = AutoTokenizer.from_pretrained('m')\n"
        "t('a', max_length=9, pad_to_max_length=True)\nt('a', pad_to_max_length=True)\n"
        "t('a', truncation=True, truncation_strategy='longest_first')\n",
        "from transformers import AutoTokenizer\nt = AutoTokenizer.from_pretrained('m')\n"
        "t('a', max_length=9, padding=\"max_length\")\nt('a', padding=True)\n"
        "t('a', truncation=True)\n",
    ),
    "conditions that are known": (
        "from transformers import TrainingArguments\na = TrainingArguments('o')\n"
        "if b and not a.overwrite_output_dir:\n    c()\n"
        "if a.past_index >= 0:\n    d(a.past_index)\n"
        "if not a.overwrite_output_dir or b:\n    e()\n"
        "if a.past_index >= 0:  # why\n    f()\n",
        "from transformers import TrainingArguments\na = TrainingArguments('o')\n"
        "if b:\n    c()\n"
        "if True:\n    e()\n"
        "if False:  # why\n    f()\n",
    ),
    "a number that is no condition": (
        "from trl import GRPOConfig\na = GRPOConfig(max_prompt_length=4)\nprint(a.max_prompt_length)",
        "from trl import GRPOConfig\n# patchkit: max_prompt_length=4 truncated what the trainer got; do it there\na = GRPOConfig()\nprint(4)",
    ),
    "a function with another name, and its keyword": (
        "from peft import prepare_model_for_int8_training\n"
        "prepare_model_for_int8_training(m, layer_norm_names=[])",
        "from peft import prepare_model_for_kbit_training\nprepare_model_for_kbit_training(m)",
    ),
    "a model that is loaded with its adapter": (
        "from peft import AutoPeftModelForCausalLM\n"
        'AutoPeftModelForCausalLM.from_pretrained("x", load_in_4bit=True)',
        "from peft import AutoPeftModelForCausalLM\nfrom transformers import BitsAndBytesConfig\n"
        'AutoPeftModelForCausalLM.from_pretrained("x", '
        "quantization_config=BitsAndBytesConfig(load_in_4bit=True))",
    ),
    "limits that are none": (
        "from trl import GRPOConfig, GRPOTrainer\na = GRPOConfig('o', max_prompt_length=None)\nGRPOTrainer(m, f, a)\n",
        "from trl import GRPOConfig, GRPOTrainer\na = GRPOConfig('o')\nGRPOTrainer(m, f, a)\n",
    ),
    "an own loss": (
        "from transformers import Trainer\nclass T(Trainer):\n    def compute_loss(self, model, inputs):\n        return 1\n",
        "from transformers import Trainer\nclass T(Trainer):\n"
        "    loss_is_scaled_for_ga = False\n\n"
        "    def compute_loss(self, model, inputs, num_items_in_batch=None):\n        return 1\n",
    ),
    "an own callback": (
        "from transformers import TrainerCallback as C\nclass A(C):\n"
        "    def on_log(self, args, tokenizer, **kwargs): print(tokenizer)\n"
        "    def on_save(self, args, **kw): print(kw['tokenizer'])\n",
        "from transformers import TrainerCallback as C\nclass A(C):\n"
        "    def on_log(self, args, processing_class, **kwargs): print(processing_class)\n"
        '    def on_save(self, args, **kw): print(kw["processing_class"])\n',
    ),
    "a field of a dataclass": (
        "import transformers as t\nclass A(t.TrainingArguments):\n    evaluation_strategy: str = 'no'  # none\n",
        "import transformers as t\nclass A(t.TrainingArguments):\n    eval_strategy: str = 'no'  # none\n",
    ),
    "several statements on a line": (
        "import trl; t = trl.PPOTrainer(); x = 1\n",
        "# patchkit: trl.PPOTrainer has been gone since TRL 0.29.0. TRL trains with rewards by GRPOTrainer and "
        "RLOOTrainer, which have no value head.\nimport trl; t = trl.PPOTrainer(); x = 1\n",
    ),
}


@pytest.mark.parametrize(("before", "after"), CASES.values(), ids=CASES)
def test_what_is_written(rewrite, before: str, after: str) -> None:
    assert rewrite(before).text == after


TODAYS = """\
from trl import SFTConfig, SFTTrainer
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("m", dtype="auto")
trainer = SFTTrainer(model, args=SFTConfig("o", bf16=True, gradient_checkpointing=False, learning_rate=1e-5),
                     processing_class = None,)
tokenizer = dict(tokenizer=1, max_seq_length=2)
other(tokenizer=1, **tokenizer)
"""

MOVED_ITSELF = """\
import transformers as t
class A(t.TrainingArguments):
    warmup_ratio: float = 0.1
    evaluation_strategy: str = "no"

    def __post_init__(self):
        self.warmup_steps, self.eval_strategy = self.warmup_ratio, getattr(self, "evaluation_strategy")
        super().__post_init__()
"""


def test_a_field_that_its_class_reads_is_its_own(rewrite) -> None:
    result = rewrite(MOVED_ITSELF)
    assert result.text == MOVED_ITSELF
    assert not result.findings


def test_what_is_todays_stays(rewrite) -> None:
    result = rewrite(TODAYS)
    assert result.text == TODAYS
    assert not result.findings


@pytest.mark.parametrize(
    ("text", "remark", "outcome"),
    [
        (
            "from trl import PPOTrainer, PPOConfig",
            "trl.PPOTrainer, trl.PPOConfig have been gone since TRL 0.29.0. ",
            ScriptOutcome.GONE,
        ),
        (
            "trl.SFTTrainer(m, args=a, model_init=f)",
            "SFTTrainer(model_init=) has been gone since TRL 0.15.0. Pass the model",
            ScriptOutcome.REMARKED,
        ),
        (
            "transformers.TrainingArguments('o', mp_parameters='x')",
            "TrainingArguments(mp_parameters='x') has been gone",
            ScriptOutcome.GONE,
        ),
        (
            "transformers.TrainingArguments('o', fsdp_min_num_params=n)",
            "TrainingArguments(fsdp_min_num_params=) has been gone",
            ScriptOutcome.REMARKED,
        ),
        (
            "transformers.TrainingArguments('o', warmup_ratio=2)",
            "TrainingArguments(warmup_ratio=2) has been gone since Transformers 5.15.0. warmup_ratio=2 is not a share",
            ScriptOutcome.GONE,
        ),
        (
            "trl.SFTTrainer(m, args=a, tokenizer=t, processing_class=t)",
            "SFTTrainer(tokenizer=) is processing_class= today, which is given too; keep one",
            ScriptOutcome.REMARKED,
        ),
        (
            "trl.RLOOTrainer(m, args=a, policy=p)",
            "RLOOTrainer(policy=p) has been gone since TRL 0.25.0. ",
            ScriptOutcome.GONE,
        ),
        (
            "k = dict(tokenizer=t)\ntrl.SFTTrainer(m, a, **k)\nother(**k)",
            "SFTTrainer(tokenizer=) has been gone since TRL 0.16.0; write processing_class=, but see who else gets the dictionary",
            ScriptOutcome.REMARKED,
        ),
    ],
)
def test_where_a_person_must_decide(
    rewrite, text: str, remark: str, outcome: ScriptOutcome
) -> None:
    before = "import transformers, trl\n\nif True:\n    " + text.replace("\n", "\n    ") + "\n"
    result = rewrite(before)
    (line,) = (line for line in result.text.splitlines() if "# patchkit:" in line)
    assert line.startswith(f"    # patchkit: {remark}")
    assert result.text.replace(line + "\n", "") == before
    assert outcome in {finding.outcome for finding in result.findings}


COPY = """\
from transformers.models.llama.modeling_llama import LlamaAttention, LlamaModel

def forward(self, hidden_states, attention_mask=None, {parameter}=None, **kwargs):
    return {result}

class Own({base}):
    def forward(self, hidden_states, {parameter}=None):
        return {result}

LlamaAttention.{method} = forward
"""


@pytest.mark.parametrize(
    ("parameter", "base", "method", "result", "told"),
    [
        ("past_key_value", "LlamaAttention", "forward", "hidden_states", [3, 7]),
        ("head_mask", "LlamaAttention", "other", "hidden_states", [7]),
        ("past_key_value", "LlamaModel", "forward", "hidden_states", [3]),
        ("past_key_value", "LlamaAttention", "forward", "super().forward(hidden_states)", []),
        ("past_key_values", "LlamaAttention", "forward", "hidden_states", []),
    ],
)
def test_copies_of_methods_of_layers(
    rewrite: Rewrite, parameter: str, base: str, method: str, result: str, told: list[int]
) -> None:
    text = COPY.format(parameter=parameter, base=base, method=method, result=result)
    found = rewrite(text).findings
    assert [finding.line for finding in found] == told
    for finding in found:
        assert finding.outcome is ScriptOutcome.GONE
        assert finding.old.startswith("the LlamaAttention.forward that forward is a copy of")


def test_remarks_stand_above_statements(rewrite) -> None:
    before = """\
    #!/usr/bin/env python
    from trl import PPOTrainer

    @decorated
    def f():
        if a:
            pass
        elif PPOTrainer(b, c=trl.PRMTrainer()):
            return 1
    import trl
    """
    result = rewrite(before).text
    lines = result.splitlines()
    assert [lines[place + 1] for place, line in enumerate(lines) if "# patchkit:" in line] == [
        "from trl import PPOTrainer",
        "    if a:",
    ] or "PRMTrainer has been gone" not in result


def test_what_is_silent(rewrite) -> None:
    result = rewrite(
        """\
        from trl import DPOConfig
        from transformers import AutoModel, AutoTokenizer
        DPOConfig("o", bf16=False, gradient_checkpointing=True, learning_rate=1, max_length=1)
        AutoModel.from_pretrained("m")
        AutoTokenizer.from_pretrained("m").apply_chat_template([])
        AutoTokenizer.from_pretrained("m").apply_chat_template([], tokenize=False)
        """
    )
    assert [(finding.line, finding.old, finding.outcome) for finding in result.findings] == [
        (3, "DPOConfig", ScriptOutcome.SILENT),
        (4, "AutoModel.from_pretrained", ScriptOutcome.SILENT),
        (5, "PreTrainedTokenizerBase.apply_chat_template", ScriptOutcome.SILENT),
    ]
    assert "truncation_mode was 'keep_end' until TRL 0.29.0" in result.findings[0].because


@pytest.mark.parametrize(
    ("before", "first"),
    [
        (
            "m = ['q_proj', 'lm_head']\npeft.LoraConfig(target_modules=m)\ntrl.SFTTrainer(m)",
            "SFTTrainer",
        ),
        ("peft.LoraConfig(modules_to_save=['lm_head'])\ntrl.SFTTrainer(m)", ""),
        ("transformers.Seq2SeqTrainingArguments('o', predict_with_generate=True)", "Seq2SeqTr"),
        (
            "m.config.max_length = 9\ntransformers.Seq2SeqTrainingArguments('o', predict_with_generate=True)",
            "",
        ),
    ],
)
def test_what_the_rest_of_a_script_shows(rewrite: Rewrite, before: str, first: str) -> None:
    findings = rewrite(f"import peft, transformers, trl\n{before}\n").findings
    assert [finding.old[: len(first)] for finding in findings] == [first] * bool(first)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("KTOConfig('o')", ["learning_rate", "bf16"]),
        ("KTOConfig('o', fp16=True)", ["learning_rate"]),
        ("KTOTrainer(m, args=KTOConfig('o'), processing_class=t)", ["bf16"]),
    ],
)
def test_a_default_that_the_script_cannot_have_had_otherwise_is_not_told(
    rewrite: Rewrite, text: str, told: list[str]
) -> None:
    result = rewrite(f"from trl import KTOConfig, KTOTrainer\n{text}\n")
    because = " ".join(finding.because for finding in result.findings)
    assert [name for name in ("learning_rate", "bf16") if f"{name} was" in because] == told


def test_a_guarded_import_of_what_is_gone(rewrite) -> None:
    text = "try:\n    from trl import PPOTrainer\nexcept ImportError:\n    PPOTrainer = None\n"
    assert rewrite(text).text == text


def test_findings_in_order(rewrite) -> None:
    result = rewrite(
        "import trl\ntrl.SFTTrainer(\n    m,\n    tokenizer=t,\n    packing=True,\n)\n"
    )
    assert [(finding.line, finding.old, finding.new) for finding in result.findings] == [
        (2, "SFTTrainer without args=", "args=trl.SFTConfig(…)"),
        (4, "SFTTrainer(tokenizer=)", "processing_class="),
        (5, "SFTTrainer(packing=)", "packing=True in the configuration"),
    ]
    assert result.findings[1].because == "it has been gone since TRL 0.16.0"


def test_an_own_loss_for_a_release_without_the_attribute() -> None:
    text, _ = CASES["an own loss"]
    result = modernize(text, due_for("transformers==5.18.0"))
    assert "self.model_accepts_loss_kwargs = self.loss_is_scaled_for_ga = False" in result.text


def test_to_an_older_release() -> None:
    text = dedent(
        """\
        from trl import SFTConfig, SFTTrainer
        SFTTrainer(m, args=SFTConfig("o", max_length=9), processing_class=t)
        """
    )
    result = modernize(text, due_for("trl==0.11.4, transformers==4.44.2"))
    assert 'SFTConfig("o", max_seq_length=9), tokenizer=t)' in result.text


def test_what_is_imported_by_todays_name_is_called_by_it(rewrite: Rewrite) -> None:
    text = (
        "from peft import prepare_model_for_int8_training\n"
        "model = prepare_model_for_int8_training(model)\n"
    )
    result = rewrite(text)
    assert result.text == text.replace("int8", "kbit")
    assert {finding.line for finding in result.findings} == {1, 2}
    # A name that may be another one stays.
    again = rewrite(text + "def prepare_model_for_int8_training(model):\n    return model\n").text
    assert "kbit_training as prepare_model_for_int8_training" in again
    as_text = rewrite(text + "__all__ = ['prepare_model_for_int8_training']\n").text
    assert "kbit_training as prepare_model_for_int8_training" in as_text


@pytest.mark.parametrize(
    "made",
    [
        'EncoderDecoderModel.from_encoder_decoder_pretrained("e", "d")',
        'VisionEncoderDecoderModel.from_encoder_decoder_pretrained("e", "d")',
    ],
)
def test_settings_of_generate_of_a_model_of_two_checkpoints(made: str, rewrite: Rewrite) -> None:
    text = f"from transformers import {made.partition('.')[0]}\nmodel = {made}\n"
    result = rewrite(text + "model.config.num_beams = 4\n").text
    assert result == text + "model.generation_config.num_beams = 4\n"


def test_settings_of_generate_are_set_where_they_are(rewrite: Rewrite) -> None:
    text = (
        "from transformers import AutoConfig, AutoModelForCausalLM\n"
        'model = AutoModelForCausalLM.from_pretrained("m", dtype="auto")\n'
        "model.config.num_beams = 4\n"
        "model.config.hidden_size = 4\n"
        'config = AutoConfig.from_pretrained("m")\n'
        "config.num_beams = 4\n"
        "print(model.config.max_length, model.config.hidden_size)\n"
    )
    lines = rewrite(text).text.splitlines()
    assert "PreTrainedConfig.max_length has been gone" in lines[-2]
    assert "hidden_size" not in lines[-2]
    assert "model.generation_config.num_beams = 4" in lines
    assert "model.config.hidden_size = 4" in lines
    assert (
        "write model.generation_config.num_beams ="
        in lines[lines.index("config.num_beams = 4") - 1]
    )


@pytest.mark.parametrize(
    ("made", "is_told"),
    [
        ("LlamaConfig(hidden_size=8)", False),
        ('AutoConfig.from_pretrained("m")', False),
        ('PretrainedConfig.from_pretrained("m")', False),
        ("PretrainedConfig(bos_token_id=3)", False),
        ("PretrainedConfig(vocab_size=8)", True),
    ],
)
def test_the_configuration_of_a_model_may_have_what_all_had(
    rewrite: Rewrite, made: str, is_told: bool
) -> None:
    name = made.partition("(")[0].partition(".")[0]
    text = f"from transformers import {name}\nprint({made}.bos_token_id)\n"
    assert bool(rewrite(text).findings) is is_told


@pytest.mark.parametrize(("keyword", "told"), [("tokenizer", 1), ("processing_class", 0)])
def test_the_command_line_of_an_older_script_is_mentioned(rewrite, keyword: str, told: int) -> None:
    text = (
        "from transformers import HfArgumentParser, Trainer, TrainingArguments\n"
        "(args,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()\n"
        f"Trainer(m, args, {keyword}=t)\n"
    )
    found = [finding.because for finding in rewrite(text).findings]
    assert sum("look for old flags there" in because for because in found) == told


def test_what_is_found_names_the_objects_of_the_script() -> None:
    due = Due(all_rows(), lambda library: "5.23.0")
    text = "class C:\n    def f(self, e):\n        with self.p.as_target_processor():\n            return self.p.pad(e)\n"
    (found,) = modernize(text, due).findings
    assert found.new == "self.p.tokenizer"


def test_a_part_of_a_metric_is_the_metric() -> None:
    due = Due(all_rows(), lambda library: "5.2.0")
    before = "from datasets import load_metric\nr = load_metric('rouge')\nround(r['a'].mid.fmeasure, 2)\n"
    after = "import evaluate\nr = evaluate.load('rouge')\nround(r['a'], 2)\n"
    assert modernize(before, due).text == after


def test_other_parts_of_a_metric_get_one_remark() -> None:
    due = Due(all_rows(), lambda library: "5.2.0")
    before = "import datasets\nr = datasets.load_metric('rouge')\nd = datasets.load_metric('wer')\ns = r['a'].mid\n"
    text = modernize(before, due).text
    assert text.count("# patchkit: .mid has been gone since Datasets 3.0.0; the result is ") == 1
    assert text.endswith("of the package rouge_score\ns = r['a'].mid\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "from datasets import Dataset, load_metric  # both\nm = load_metric('f1')\nDataset(m)\n",
            "from datasets import Dataset  # both\nimport evaluate\nm = evaluate.load('f1')\nDataset(m)\n",
        ),
        (
            "import evaluate\nfrom datasets import load_metric\nm = load_metric('f1')\n",
            "import evaluate\nm = evaluate.load('f1')\n",
        ),
        (
            "from datasets import load_metric\ndef evaluate():\n    return load_metric('f1')\n",
            "from evaluate import load\ndef evaluate():\n    return load('f1')\n",
        ),
        (
            "import datasets\ndatasets.load_metric('f1')\n",
            "import evaluate\nimport datasets\nevaluate.load('f1')\n",
        ),
        (
            "from datasets import load_dataset\nload_dataset('d', ignore_verifications=True)\nload_dataset('d', ignore_verifications=v)\n",
            "from datasets import load_dataset\nload_dataset('d', verification_mode=\"no_checks\")\nload_dataset('d', verification_mode=\"no_checks\" if v else None)\n",
        ),
    ],
)
def test_what_is_written_with_the_newest_datasets(before: str, after: str) -> None:
    due = Due(all_rows(), lambda library: "5.2.0")
    assert modernize(before, due).text == after
    assert modernize(after, due).text == after
