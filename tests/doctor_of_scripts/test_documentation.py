"""docs/script-versions.md: its example is what the command prints, and it has every key of the JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from patchkit.cli import main
from patchkit.cli.doctor import scripts as of_scripts

TEXT = (Path(__file__).parents[2] / "docs" / "script-versions.md").read_text(encoding="utf-8")


def _block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)
    assert found
    return found[1]


@pytest.fixture(autouse=True)
def in_a_folder(script, monkeypatch, tmp_path, pins) -> None:
    script(_block("python"), "train_2024.py")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(of_scripts, "readable_version", pins("1.16").get)


def test_the_example() -> None:
    result = CliRunner().invoke(main, ["doctor", "train_2024.py"])
    assert result.stdout == _block("text")


def test_every_key_is_documented() -> None:
    found = json.loads(CliRunner().invoke(main, ["doctor", "train_2024.py", "--json"]).stdout)
    one = found["scripts"][0]
    keys = {*found, *one, *one["releases"]["trl"], *one["lacking"][0], *one["silent"][0]}
    assert [key for key in keys - {"schema"} if f"`{key}`" not in TEXT] == []
    assert f"schema {found['schema']}" in TEXT
