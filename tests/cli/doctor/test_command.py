"""The command: what it prints where, its exit status, and what it imports."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from patchkit.cli import main


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["doctor", *arguments], prog_name="patchkit")


@pytest.mark.parametrize(("variable", "status"), [("", 0), ("PATCHKIT_DISABEL", 1)])
def test_exit_status(installation, monkeypatch, variable: str, status: int) -> None:
    if variable:
        monkeypatch.setenv(variable, "all")
    result = invoke("--quick")
    assert result.exit_code == status, result.output
    assert result.stderr == ""
    assert "Traceback" not in result.output
    assert "\x1b" not in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


@pytest.mark.parametrize("columns", [50, 80, 200])
def test_it_folds_once(installation, columns: int) -> None:
    result = CliRunner().invoke(main, ["doctor", "--quick"], env={"COLUMNS": str(columns)})
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= min(columns, 80)
    begin = next(number for number, line in enumerate(lines) if line.startswith(" 1. "))
    assert lines[begin + 1].startswith("    ")


def test_json(installation) -> None:
    result = invoke("--quick", "--json")
    assert result.stderr == ""
    assert json.loads(result.stdout)["schema"] == 1


def test_help_has_examples_and_exit_statuses() -> None:
    result = invoke("--help")
    assert result.exit_code == 0
    assert "Examples:" in result.stdout
    assert "Exit status:" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_nothing_heavy_is_imported(fresh) -> None:
    loaded = fresh(
        """
        import sys
        from patchkit.cli.doctor import diagnose
        str(diagnose(quick=True))
        heavy = ("torch", "numpy", "transformers", "trl", "bitsandbytes", "rich")
        result = [name for name in heavy if name in sys.modules]
        """
    )
    assert loaded == []
