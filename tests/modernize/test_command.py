"""`patchkit modernize`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from patchkit.cli import main

TO = "trl==1.16.0,transformers==5.23.0,peft==0.21.2,accelerate==1.15.0"
OLD = "from trl import SFTTrainer\n\nSFTTrainer(m, a, tokenizer=t)  # train\n"
NEW = OLD.replace("tokenizer=", "processing_class=")

Call = Callable[..., Result]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.py").write_text(OLD)
    (tmp_path / "new.py").write_text(NEW)

    def called(*arguments: str) -> Result:
        return CliRunner().invoke(main, ["modernize", "--to", TO, *arguments])

    return called


def test_the_difference(call: Call) -> None:
    result = call(".")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "--- a/old.py",
        "+++ b/old.py",
        "@@ -1,3 +1,3 @@",
        " from trl import SFTTrainer",
        " ",
        "-SFTTrainer(m, a, tokenizer=t)  # train",
        "+SFTTrainer(m, a, processing_class=t)  # train",
    ]
    assert Path("old.py").read_text() == OLD


def test_check(call: Call) -> None:
    result = call("--check", "old.py", "new.py")
    assert result.exit_code == 1
    assert result.stdout == (
        "old.py:3: SFTTrainer(tokenizer=) -> processing_class= (it has been gone since TRL 0.16.0)\n"
    )
    assert call("--check", "new.py").exit_code == 0


def test_check_fails_for_what_is_gone(call: Call) -> None:
    text = "from trl import PPOTrainer\n"
    Path("gone.py").write_text(text)
    assert call("--write", "gone.py").exit_code == 0
    assert Path("gone.py").read_text().endswith(text)
    result = call("--check", "gone.py")
    assert result.exit_code == 1
    assert result.stdout.startswith(
        "gone.py:2: trl.PPOTrainer -> nothing (has been gone since TRL 0.29.0. "
    )


def test_write(call: Call) -> None:
    result = call("--write", ".")
    assert (result.exit_code, result.stdout) == (0, "old.py: rewritten\n")
    assert Path("old.py").read_text() == NEW
    assert call("--write", ".").stdout == ""


def test_json(call: Call) -> None:
    (first, second) = json.loads(call("--json", ".").stdout)["files"]
    assert (first["file"], first["changed"], second["changed"]) == ("new.py", False, True)
    assert second["text"] == NEW
    assert second["findings"] == [
        {
            "line": 3,
            "cell": 0,
            "old": "SFTTrainer(tokenizer=)",
            "new": "processing_class=",
            "because": "it has been gone since TRL 0.16.0",
            "outcome": "changed",
        }
    ]


def test_a_file_that_cannot_be_read_stops_no_other(call: Call) -> None:
    Path("broken.py").write_text("print 'hello'\n")
    result = call("--write", ".")
    assert result.exit_code == 64
    assert result.stderr == (
        "Error: broken.py: line 1: no Python source: this is Python 2; run 2to3 over it first\n"
    )
    assert Path("old.py").read_text() == NEW


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Missing argument 'PATH"),
        (("none.py",), "there is no none.py"),
        (("--to", "trl==1.2.9", "old.py"), "there never was TRL 1.2.9"),
    ],
)
def test_what_makes_no_sense(call: Call, arguments: tuple[str, ...], message: str) -> None:
    result = call(*arguments)
    assert result.exit_code == 64
    assert message in result.stderr


def test_without_libcst(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "libcst", None)
    for name in ("writing", "arguments"):
        monkeypatch.delitem(sys.modules, f"patchkit.modernize.python.{name}", raising=False)
    result = call("old.py")
    assert result.exit_code == 64
    assert result.stderr == (
        "Error: old.py: LibCST is missing, which rewrites scripts; install libcst\n"
    )
    assert call("new.py").exit_code == 0


def test_what_is_silent_is_listed_and_no_failure(call: Call) -> None:
    Path("silent.py").write_text(
        'from transformers import AutoModel\nAutoModel.from_pretrained("m")\n'
    )
    result = call("--check", "silent.py")
    assert result.exit_code == 0
    assert result.stdout.startswith(
        "silent.py:2: AutoModel.from_pretrained -> as it is (since Transformers 5.0.0 it loads the model"
    )
