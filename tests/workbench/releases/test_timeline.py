"""What is read of made-up releases for the history, and how it is written down."""

from __future__ import annotations

import zipfile
from collections.abc import Callable

import pytest

from workbench.releases.archive import Archive
from workbench.releases.interface import Interface, read
from workbench.releases.modules import modules
from workbench.releases.sources import Sources
from workbench.releases.timeline import Released, timeline, written

from ...cli.conftest import refused
from ..conftest import invoke

TRL = {
    "trl/__init__.py": '_import_structure = {"trainer": ["Config", "Trainer", "Open", "made"]}\n',
    "trl/trainer.py": (
        "import os\n"
        "from dataclasses import dataclass\n"
        "from transformers import Trainer as Base, TrainingArguments\n"
        "from .parts import *\n"
        "from .parts import helper as again\n"
        "_private = 1\n"
        "@dataclass\n"
        "class Config(TrainingArguments):\n"
        "    length: int = 1\n"
        "class Trainer(Base):\n"
        "    def __init__(self, model): pass\n"
        "class Open(Base):\n"
        "    def __init__(self, model, **kwargs): pass\n"
        "def made(a, **kwargs): pass\n"
    ),
    "trl/parts.py": "import sys\nhelper = 1\n_hidden = 2\n",
}
TRANSFORMERS = {
    "transformers/__init__.py": (
        '_import_structure = {"trainer": ["Trainer"]}\n'
        '_LEGACY_MODULE_ALIASES = {"older": "newer"}\n'
    ),
    "transformers/trainer.py": "class Trainer: pass\n",
    "transformers/models/__init__.py": "from .llama import *\n",
    "transformers/models/llama/__init__.py": "",
    "transformers/models/llama/modeling_llama.py": '__all__ = [\n    "LlamaModel",\n]\nhidden = 1\n',
    "transformers/models/auto/modeling_auto.py": '__all__ = ["AutoModel"]\nclass AutoModel: pass\n',
}


@pytest.fixture
def sources(tmp_path) -> Callable[..., Sources]:
    def write(library: str, files: dict[str, str]) -> Sources:
        wheel = tmp_path / f"{library}.zip"
        with zipfile.ZipFile(wheel, "w") as archive:
            for name, text in files.items():
                archive.writestr(name, text)
        return Sources(Archive(wheel, (library,)))

    return write


def test_whose_keywords_are_taken(sources) -> None:
    interface = read(sources("trl", TRL), "trl")
    assert interface.taken_from == {
        "Config": ["transformers.TrainingArguments"],
        "Open": ["*", "transformers.Trainer"],
        "made": ["*"],
    }


def test_names_in_modules(sources) -> None:
    assert modules(sources("trl", TRL), "trl") == {
        "": ["Config", "Open", "Trainer", "made"],
        "parts": ["helper"],
        "trainer": ["Config", "Open", "Trainer", "again", "helper", "made"],
    }


def test_models_are_read_by_what_they_declare(sources) -> None:
    found = modules(sources("transformers", TRANSFORMERS), "transformers")
    assert found[""] == ["AutoModel", "LlamaModel", "Trainer"]
    assert found["models.llama"] == []
    assert "models.llama.modeling_llama" not in found
    assert found["models.auto.modeling_auto"] == ["AutoModel"]
    assert found["older"] == []


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((0, 1, 2, 3), ".."),
        ((1, 2), "1.1..2.0"),
        ((0, 3), "..1.0 2.1.."),
        ((2,), "2.0..2.0"),
        ((), ""),
    ],
)
def test_releases_in_words(numbers, text: str) -> None:
    assert written(numbers, ["1.0", "1.1", "2.0", "2.1"]) == text


def _released(names: str, keywords: str = "", **found: str) -> Released:
    return Released(
        Interface({}, {"Kind": dict.fromkeys(keywords.split(), "None")} if keywords else {}),
        {
            "": names.split(),
            **{module: names_inside.split() for module, names_inside in found.items()},
        },
    )


def test_what_belongs_together_stands_together() -> None:
    content = timeline(
        {
            "trl": {
                "1.0": _released("a b", "x", part="same"),
                "1.1": _released("b c", "x y", part="same late"),
            }
        }
    )
    assert content["trl"] == {
        "releases": "1.0 1.1",
        "complete": True,
        "always": "",
        "modules": {"..": "part"},
        "names": {"": {"..": "b", "..1.0": "a", "1.1..": "c"}, "part": {"1.1..": "late"}},
        "keywords": {"Kind": {"..": "x", "1.1..": "y"}},
        "taken_from": {},
    }


def test_classes_that_transformers_5_finds_by_their_spelling() -> None:
    content = timeline(
        {
            "transformers": {
                "4.0": _released("BertTokenizerFast Gone Trainer"),
                "5.0": _released("Trainer"),
                "5.1": _released("Trainer"),
            }
        }
    )
    # What all releases have is only listed: there are thousands.
    assert content["transformers"]["names"] == {"": {"..4.0": "Gone"}}
    assert content["transformers"]["always"] == "BertTokenizerFast Trainer"
    assert content["transformers"]["complete"] is False


def test_a_history_needs_all_releases(tmp_path) -> None:
    file = tmp_path / "history.json"
    for narrowed in (["--last", "1"], ["--library", "trl"]):
        result = invoke("releases", "--history", str(file), *narrowed)
        refused(result, "--history needs all libraries and releases")
    assert not file.exists()
