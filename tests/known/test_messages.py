"""`python -m workbench messages`: reads `raise` statements, and counts what `explain` knows of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from patchkit.known import raised
from patchkit.known.answering import answered
from patchkit.known.reading import read
from workbench.messages.command import add_places, count, known_by
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


def test_digests_are_fnv_1a_as_in_the_browser() -> None:
    assert [raised.digest(text) for text in ("", "a", "foobar")] == [
        "fgGL1",
        "<P0e+",
        "znuAK",
    ]


def test_a_message_without_a_traceback_is_found_whatever_stands_in_its_holes(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "raised.json"
    add_places(site, table)
    written = table.read_text()
    add_places(site, table)
    assert table.read_text() == written, "each message stands there once"
    monkeypatch.setattr(raised, "TABLE", table)
    raised._known.cache_clear()
    try:
        said = "ValueError: At most one of fp16 and bf16 can be True, but not both"
        assert raised.raised_in(said) == "trl/trainer/a.py"
        assert raised.raised_in("the moon, the stars and all the rest of it") == ""
        assert raised.raised_in("no float16 here, got 3") == "", "too short to be known again"
    finally:
        raised._known.cache_clear()


def test_what_other_fields_say_too_is_left_out_also_of_older_releases(
    site: Path, tmp_path: Path
) -> None:
    table, others = tmp_path / "raised.json", tmp_path / "others"
    add_places(site, table)
    assert json.loads(table.read_text())["trl/"]
    (site / "trl" / "trainer" / "a.py").unlink()
    (others / "shop").mkdir(parents=True)
    said = "Sorry: at most one of fp16 and bf16 can be True in a shop"
    (others / "shop" / "a.py").write_text(f'raise ValueError("{said}")\n')
    add_places(site, table, others)
    assert "trl/" not in json.loads(table.read_text())


def test_an_error_is_answered_by_where_its_message_is_raised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = read(
        "ValueError: When `layers_pattern` is specified, `layers_to_transform` must be, too"
    )
    with_table = answered(said, lambda distribution: None)
    assert [answer.id for answer in with_table.answers] == ["argument-needs-another"]
    monkeypatch.setattr("patchkit.known.answering.raised_in", lambda message: "")
    assert not answered(said, lambda distribution: None).answers
