"""What a script gets from modules beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from patchkit.legacy.versions.due import Due
from patchkit.modernize.python import modernize

SETTINGS = "def settings(lr):\n    return dict(learning_rate=lr, warmup_ratio=0.05)\n"
ARGUMENTS = "from transformers import TrainingArguments\nARGUMENTS = TrainingArguments('o')\n"
OWN = "from trl import ModelConfig\nclass Mine(ModelConfig):\n    rank: int = 4\n"
LOADING = (
    "from transformers import AutoTokenizer\n"
    "def load(name):\n    return None, AutoTokenizer.from_pretrained(name)\n"
)
FORMATTING = "def form(rows):\n    texts = []\n    return texts\n"
CASES = {
    "settings that a function returns": (
        {"common.py": SETTINGS},
        "from common import settings\nimport trl\ntrl.DPOConfig(**settings(1.0), beta=0.1)\n",
        "# patchkit: DPOConfig(warmup_ratio=) of common.py has been gone since Transformers 5.15.0; "
        "write warmup_steps=0.05\ntrl.DPOConfig(",
    ),
    "arguments of a module": (
        {"config.py": ARGUMENTS},
        "import config\nimport trl\ntrl.RewardTrainer(m, args=config.ARGUMENTS)\n",
        "args=configured(config.ARGUMENTS, trl.RewardConfig)",
    ),
    "a class of a package": (
        {"args/__init__.py": "", "args/model.py": OWN},
        "from args.model import Mine\nconfig = Mine(rank=8)\nf(config.trust_remote_code)\n",
        "f(False)",
    ),
    "what a function returns among others": (
        {"tools.py": LOADING},
        "from .tools import load\nmodel, tok = load('m')\nprint(tok.additional_special_tokens)\n",
        "print(tok.extra_special_tokens)",
    ),
    "settings of a name, in a file whose path is not written down": (
        {"conf/a.yaml": "x: 1\ntrain:\n  arguments:\n    warmup_ratio: 0.1\n"},
        "import trl\ntrl.DPOConfig(**read(sys.argv[1]).train.arguments, beta=0.1)\n",
        "# patchkit: DPOConfig(warmup_ratio=) of conf/a.yaml has been gone since Transformers 5.15.0; "
        "write warmup_steps=0.1\ntrl.DPOConfig(",
    ),
    "the same by a key": (
        {"a.json": '{"arguments": {"warmup_ratio": 0.1}}'},
        "import trl\ntrl.DPOConfig(**OmegaConf.to_container(c)['arguments'])\n",
        "# patchkit: DPOConfig(warmup_ratio=) of a.json has been gone since Transformers 5.15.0; "
        "write warmup_steps=0.1\ntrl.DPOConfig(",
    ),
    "settings that a call makes a dictionary of": (
        {"a.json": '{"train": {"warmup_ratio": 0.1}}'},
        "import trl\ntrl.DPOConfig(**OmegaConf.to_container(c.train, resolve=True), beta=0.1)\n",
        "# patchkit: DPOConfig(warmup_ratio=) of a.json has been gone since Transformers 5.15.0; "
        "write warmup_steps=0.1\ntrl.DPOConfig(",
    ),
    "a trainer that derives from one of the libraries": (
        {"mine.py": "from trl import SFTTrainer\nclass Mine(SFTTrainer):\n    pass\n"},
        "from mine import Mine\nimport trl\nMine(m, args=a, tokenizer=t)\n",
        "Mine(m, args=a, processing_class=t)",
    ),
    "a function for rows": (
        {"prompts.py": FORMATTING},
        "from prompts import form\nimport trl\ntrl.SFTTrainer(m, a, formatting_func=form)\n",
        "formatting_func=lambda row: form(",
    ),
}


@pytest.mark.parametrize(("files", "text", "expected"), CASES.values(), ids=CASES)
def test_what_is_written(
    newest: Due, tmp_path: Path, files: dict[str, str], text: str, expected: str
) -> None:
    for name, content in files.items():
        tmp_path.joinpath(name).parent.mkdir(exist_ok=True)
        tmp_path.joinpath(name).write_text(content)
    assert expected in modernize(text, newest, tmp_path).text
    assert expected not in modernize(text, newest).text
    assert {name: tmp_path.joinpath(name).read_text() for name in files} == files


@pytest.mark.parametrize("beside", ["", "def settings(:\n", "from train import x\n"])
def test_a_module_that_says_nothing(newest: Due, tmp_path: Path, beside: str) -> None:
    tmp_path.joinpath("common.py").write_text(beside)
    tmp_path.joinpath("train.py").write_text("from common import settings\n")
    text = "from common import settings\nimport trl\ntrl.DPOConfig(**settings(1.0))\n"
    assert modernize(text, newest, tmp_path).text == text


def test_a_library_in_the_folder_is_not_read(newest: Due, tmp_path: Path) -> None:
    tmp_path.joinpath("trl.py").write_text("def DPOConfig():\n    return dict(warmup_ratio=0.1)\n")
    text = "from trl import DPOConfig\nDPOConfig(**DPOConfig())\n"
    assert modernize(text, newest, tmp_path).text == text


def test_a_function_beside_may_keep_what_it_gets(newest: Due, tmp_path: Path) -> None:
    tmp_path.joinpath("common.py").write_text("def f(**k):\n    k = g(**k)\n    return k\n")
    text = (
        "from common import f\nimport transformers\nf(a=1)\ntransformers.Trainer(m, tokenizer=t)\n"
    )
    assert modernize(text, newest, tmp_path).text == text.replace("tokenizer", "processing_class")


def test_what_is_installed_is_not_beside(newest: Due, tmp_path: Path) -> None:
    package = tmp_path / "site-packages" / "package"
    package.mkdir(parents=True)
    package.with_name("common.py").write_text(SETTINGS)
    text = "from common import settings\nimport trl\ntrl.DPOConfig(**settings(1.0))\n"
    assert modernize(text, newest, package).text == text
