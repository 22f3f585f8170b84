"""`python -m workbench messages`: reads `raise` statements, and counts what `explain` knows of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from workbench.messages.command import count, known_by
from workbench.messages.raised import RaisedMessage, messages
from workbench.messages.scope import is_asked_for, reason_left_out

SOURCE = """
def check(value, dtype):
    if value:
        raise ValueError("At most one of fp16 and bf16 can be True, but not both")
    raise errors.Bad(f"no {dtype} here, " + "got %s" % value)

class A:
    def b(self):
        raise ValueError("the {} speaks of bf16".format(self))
        raise ValueError(self.text)
raise
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "trl" / "trainer").mkdir(parents=True)
    (tmp_path / "trl" / "trainer" / "a.py").write_text(SOURCE)
    (tmp_path / "torch" / "fx").mkdir(parents=True)
    (tmp_path / "torch" / "fx" / "b.py").write_text('raise ValueError("some dtype or other")\n')
    return tmp_path


def test_what_is_read(site: Path) -> None:
    assert [(one.function, one.type, one.message) for one in messages(site, "trl")] == [
        ("check", "ValueError", "At most one of fp16 and bf16 can be True, but not both"),
        ("check", "errors.Bad", "no {dtype} here, got {value}"),
        ("b", "ValueError", "the {} speaks of bf16"),
    ]


def test_an_example() -> None:
    raised = RaisedMessage("trl/a.py", "f", "ValueError", "no {x.dtype} of {len(y)} for {name}")
    assert raised.example() == "no torch.float16 of 3 for something"
    assert raised.library == "trl"


def test_what_is_asked_for() -> None:
    dtype = RaisedMessage("trl/x.py", "f", "ValueError", "the dtype is wrong")
    assert is_asked_for(dtype)
    assert not reason_left_out(dtype)
    assert not is_asked_for(RaisedMessage("trl/x.py", "f", "ValueError", "the moon is full"))
    assert is_asked_for(RaisedMessage("trl/trainer/x.py", "f", "ValueError", "the moon is full"))
    inside = RaisedMessage("torch/fx/x.py", "f", "ValueError", "the dtype is wrong")
    assert reason_left_out(inside) == "the inside of the compiler"


def test_by_what_it_is_known() -> None:
    def known(message: str) -> str:
        return known_by(RaisedMessage("trl/trainer/x.py", "f", "ValueError", message))

    assert known("At most one of fp16 and bf16 can be True, but not both") == "row"
    assert known("`moon` must be full, got {value}") == "kind"
    assert known("the moon, the stars") == "nothing"


def test_the_table(site: Path) -> None:
    result = CliRunner().invoke(count, ["--from", str(site), "--missing"])
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert any(
        line.startswith("trl/trainer/a.py:b ValueError: the {} speaks of bf16") for line in lines
    )
    (total,) = (line for line in lines if line.startswith("all"))
    assert total.split()[1:3] == ["2", "1"]
    assert any("1 the inside of the compiler" in line for line in lines)
