"""From which classes those of the libraries derive: what is read of releases, and what was."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from patchkit.legacy.rows import all_rows
from patchkit.modernize.reading.kinship import FILE, ancestors, made_by
from workbench.releases.archive import Archive
from workbench.releases.parents import Classes, newest_of_each_minor
from workbench.releases.sources import Sources

MOST = 100_000
TRANSFORMERS = {
    "transformers/__init__.py": (
        "_import_structure = {'trainer': ['Trainer', 'TrainingArguments'], 'models.llama': "
        "['LlamaForCausalLM'], 'modeling_utils': ['PreTrainedModel', 'PretrainedModel'], "
        "'generation': ['GenerationMixin']}\n"
    ),
    "transformers/trainer.py": "class Trainer:\n    pass\n@dataclass\nclass TrainingArguments:\n    a: int\n",
    "transformers/modeling_utils.py": (
        "class PreTrainedModel(nn.Module, metaclass=Meta):\n    pass\nPretrainedModel = PreTrainedModel\n"
    ),
    "transformers/generation.py": "class GenerationMixin:\n    pass\n",
    "transformers/models/llama/modeling_llama.py": (
        "class LlamaPreTrainedModel(PreTrainedModel):\n    pass\n"
        "class LlamaForCausalLM(\n    LlamaPreTrainedModel,\n    modeling.GenerationMixin[int],\n):\n"
        "    pass\nclass LlamaMLP(nn.Module):\n    pass\nclass _Inner(PreTrainedModel): pass\n"
        "class LlamaHidden(PreTrainedModel): pass\n"
    ),
    "transformers/models/auto/auto_factory.py": "class _BaseAutoModelClass:\n    pass\n",
    "transformers/models/auto/modeling_auto.py": (
        "__all__ = ['AutoModel']\nclass AutoModel(_BaseAutoModelClass): pass\n"
    ),
}
TRL = {
    "trl/__init__.py": "from .sft import SFTTrainer\n",
    "trl/base.py": "class _BaseTrainer(Trainer): pass\n",
    "trl/sft.py": "class SFTTrainer(_BaseTrainer): pass\nclass SFTConfig(TrainingArguments): pass\n",
    "trl/gkd.py": "class GKDTrainer(SFTTrainer): pass\nclass Loop(Loop): pass\n",
}


@pytest.fixture
def opened(tmp_path: Path) -> Callable[..., Sources]:
    def write(library: str, files: dict[str, str]) -> Sources:
        wheel = tmp_path / f"{library}.zip"
        with zipfile.ZipFile(wheel, "w") as archive:
            for name, text in files.items():
                archive.writestr(name, text)
        return Sources(Archive(wheel, (library,)))

    return write


def test_what_is_read_of_a_release(opened) -> None:
    transformers = Classes(opened("transformers", TRANSFORMERS), "transformers")
    read = transformers.parents()
    assert {name: parents for name, parents in read.items() if parents} == {
        "transformers.LlamaForCausalLM": (
            "transformers.PreTrainedModel",
            "transformers.GenerationMixin",
        ),
        "transformers.PretrainedModel": ("transformers.PreTrainedModel",),
        "transformers.AutoModel": ("transformers._BaseAutoModelClass",),
    }
    assert read["transformers.Trainer"] == ()
    of_trl = Classes(opened("trl", TRL), "trl", transformers).parents()
    assert of_trl == {
        "trl.SFTTrainer": ("transformers.Trainer",),
        "trl.SFTConfig": ("transformers.TrainingArguments",),
        "trl.GKDTrainer": ("trl.SFTTrainer",),
        "trl.Loop": (),
    }


def test_releases_that_are_read() -> None:
    versions = ("0.7.0", "0.7.11", "0.8.0", "1.0.0", "1.1.0", "1.1.2")
    assert list(newest_of_each_minor(versions)) == ["0.7.11", "0.8.0", "1.0.0", "1.1.2"]


def test_form() -> None:
    content = json.loads(FILE.read_text(encoding="utf-8"))
    assert FILE.stat().st_size < MOST
    for groups in content.values():
        for parents, names in groups.items():
            assert parents
            assert names.split() == sorted(set(names.split()))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("trl.SFTTrainer", "transformers.Trainer"),
        ("trl.trainer.dpo_config.DPOConfig", "transformers.TrainingArguments"),
        ("trl.PPOv2Config", "trl.PPOConfig transformers.TrainingArguments"),
        ("trl.GKDConfig", "trl.SFTConfig transformers.TrainingArguments"),
        ("trl.XPOTrainer", "trl.OnlineDPOTrainer transformers.Trainer"),
        ("trl.TrlParser", "trl.HfArgumentParser"),
        ("trl.DDPOTrainer", ""),
        ("trl.ModelConfig", ""),
        ("transformers.AutoModelForCausalLM", "transformers._BaseAutoModelClass"),
        ("transformers.BitsAndBytesConfig", ""),
        (
            "transformers.LlavaForConditionalGeneration",
            "transformers.PreTrainedModel transformers.PushToHubMixin transformers.GenerationMixin "
            "transformers.ContinuousMixin",
        ),
        ("transformers.LlamaConfig", "transformers.PreTrainedConfig transformers.PushToHubMixin"),
        (
            "transformers.PretrainedConfig",
            "transformers.PreTrainedConfig transformers.PushToHubMixin",
        ),
        ("transformers.TFTrainingArguments", ""),
        ("peft.PeftModelForCausalLM", "peft.PeftModel transformers.PushToHubMixin"),
        ("datasets.load_dataset", "datasets.DatasetBuilder"),
        ("mine.Trainer", ""),
    ],
)
def test_ancestors(name: str, expected: str) -> None:
    public, *others = ancestors(name)
    assert public == f"{name.partition('.')[0]}.{name.rpartition('.')[2]}"
    assert " ".join(others) == expected


def test_each_class_with_rows_that_others_derive_from_is_known() -> None:
    """A row for a class is one for those that derive from it."""
    content = json.loads(FILE.read_text(encoding="utf-8"))
    parents = {
        parent for groups in content.values() for group in groups for parent in group.split()
    }
    owners = {owner for row in all_rows() for owner in getattr(row, "owners", ())}
    assert {"transformers.Trainer", "transformers.TrainingArguments", "peft.PeftModel"} <= (
        parents & owners
    )


def test_what_calls_return() -> None:
    assert made_by("transformers.AutoModelForCausalLM", "from_pretrained") == (
        "transformers.PreTrainedModel"
    )
    assert (
        made_by("transformers.LlamaTokenizer", "from_pretrained") == "transformers.LlamaTokenizer"
    )
    assert made_by("peft.get_peft_model", "") == "peft.PeftModel"
