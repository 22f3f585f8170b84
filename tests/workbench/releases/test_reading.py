"""What is read of a release, and what the table is held against, on a made-up library."""

from __future__ import annotations

import zipfile

import pytest

from patchkit.legacy.changes import Keyword, Moved, Rename
from workbench.releases.archive import Archive
from workbench.releases.findings import findings
from workbench.releases.history import ReleaseHistory
from workbench.releases.interface import is_there, read
from workbench.releases.sources import Sources

OLD = {
    "trl/__init__.py": '_import_structure = {"trainer": ["Trainer", "Config", "helper"]}\n',
    "trl/trainer.py": (
        "from dataclasses import dataclass, field\n"
        "from .base import Base\n"
        "@dataclass\n"
        "class Config(Base):\n"
        "    length: int = field(default=512, metadata={})\n"
        "    hidden: int = field(default=1, init=False)\n"
        "class Trainer:\n"
        "    @deprecate_kwarg('older', new_name='tokenizer')\n"
        "    def __init__(self, model, tokenizer=None): pass\n"
        "def helper(): pass\n"
    ),
    "trl/base.py": "@dataclass\nclass Base:\n    # deprecated\n    shared: float = 0.5\n",
}
NEW = {
    "trl/__init__.py": '_import_structure = {"trainer": ["Trainer", "Config"]}\n',
    "trl/trainer.py": (
        OLD["trl/trainer.py"]
        .replace("default=512", "default=1024")
        .replace("tokenizer=None", "processing_class=None")
        .replace("    @deprecate_kwarg('older', new_name='tokenizer')\n", "")
        .replace("def helper(): pass\n", "")
    ),
    "trl/base.py": OLD["trl/base.py"],
}
SOURCE = {"gone": "trl 1.0.0", "source": "https://example.org"}


@pytest.fixture
def history(tmp_path) -> ReleaseHistory:
    sources = {}
    for version, files in {"0.9.0": OLD, "1.0.0": NEW}.items():
        wheel = tmp_path / f"trl-{version}.zip"
        with zipfile.ZipFile(wheel, "w") as archive:
            for name, text in files.items():
                archive.writestr(name, text)
        sources[version] = Sources(Archive(wheel, ("trl",)))
    return ReleaseHistory(
        "trl",
        {version: read(source, "trl") for version, source in sources.items()},
        lambda version, place: is_there(sources[version], place),
    )


def test_fields_are_read_with_those_of_base_classes(history):
    old = history.releases["0.9.0"].keywords
    assert old["Config"] == {"shared": "0.5", "length": "512"}
    assert old["Trainer"] == {"model": "<none>", "tokenizer": "None", "older": "<accepted>"}


def test_what_went_and_has_no_row_is_unknown(history):
    found = {finding.what for finding in findings({"trl": history}, [], {})}
    assert found == {
        "trl.helper",
        "trl.Trainer(tokenizer=)",
        "trl.Trainer(older=)",
        "default of trl.Config(length=)",
    }


def test_what_is_left_out_on_purpose_is_no_finding(history):
    found = {finding.what for finding in findings({"trl": history}, [], {"trl.helper": "a reason"})}
    assert "trl.helper" not in found


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (
            Keyword(owners=("trl.Trainer",), name="model", action=Rename("model"), **SOURCE),
            "the release has it",
        ),
        (
            Keyword(owners=("trl.Trainer",), name="never", action=Rename("model"), **SOURCE),
            "the release before it does not have it",
        ),
        (
            Keyword(owners=("trl.Trainer",), name="tokenizer", action=Rename("nothing"), **SOURCE),
            "Trainer has no nothing=",
        ),
        (
            Moved(name="trl.helper", to="trl.nowhere.helper", **SOURCE),
            "it has no trl.nowhere.helper",
        ),
    ],
)
def test_a_wrong_row_is_found(history, row, text):
    assert text in {finding.text for finding in findings({"trl": history}, [row], {})}


def test_a_right_row_is_no_finding(history):
    row = Keyword(
        owners=("trl.Trainer",),
        name="tokenizer",
        action=Rename("processing_class"),
        since="trl 1.0.0",
        **SOURCE,
    )
    found = [
        finding for finding in findings({"trl": history}, [row], {}) if "tokenizer" in finding.what
    ]
    assert not found
