"""`patchkit verify`, where there is nothing to run; the rest is in tests/verification."""

from __future__ import annotations

import json
import sys

from .conftest import invoke, patch


def test_without_the_libraries_nothing_was_looked_at(use, tmp_path) -> None:
    use(patch("absent-bug", "absent:f", affects={"absent": ""}))
    file = tmp_path / "verdicts.json"
    for arguments in ((), ("absent",), ("--output", str(file)), ("--json",)):
        result = invoke("verify", *arguments)
        assert result.exit_code == 69
        assert f"Nothing was looked at: {sys.executable} has none of the libraries" in result.stderr
    assert json.loads(result.stdout)["verdicts"] == json.loads(file.read_text())["verdicts"]


def test_nothing_is_due(use) -> None:
    use(patch("madeup-fixed", affects={"madeup": ">=2"}))
    result = invoke("verify", "madeup")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "nothing is due here" in result.stdout


def test_a_version_that_does_not_parse_is_one_finding(madeup, library) -> None:
    library.release("of-today")
    result = invoke("verify", "madeup", env={"COLUMNS": "200"})
    assert (result.exit_code, result.stderr) == (1, "")
    assert result.stdout.count("of-today") == 1
    assert "not run: madeup is installed, but its version 'of-today' is not" in result.stdout
    assert "reinstall madeup" in result.stdout
    verdicts = json.loads(invoke("verify", "madeup", "--json").stdout)["verdicts"]
    assert {verdict["outcome"] for verdict in verdicts} == {"error"}
