"""`patchkit report`: exit status, text and JSON."""

from __future__ import annotations

import html
import json
import re

import pytest

import patchkit
from patchkit.errors import UsageError

from .conftest import invoke, patch, patches


def test_the_text(madeup) -> None:
    result = invoke("report")
    assert (result.exit_code, result.stderr) == (0, "")
    standing = "2 patches due and not applied"
    assert result.stdout.startswith(f"patchkit {patchkit.__version__}: {standing}\n")
    for text in ("\n  madeup-cast  ", "\nnot affected: madeup-fixed", "\nnot installed: absent"):
        assert text in result.stdout
    assert not [line for line in result.stdout.splitlines() if line != line.rstrip()]


def test_the_json(madeup) -> None:
    result = invoke("report", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    assert json.loads(result.stdout) == json.loads(patchkit.report().to_json())


def test_nothing_is_applied(madeup) -> None:
    before = [record.status for record in patchkit.report()]
    invoke("report")
    assert [record.status for record in patchkit.report()] == before


def test_trouble_is_exit_status_1(use, library) -> None:
    use(patch("madeup-cast"), broken=True)
    result = invoke("report")
    assert result.exit_code == 1
    assert "addon.bad" in result.stdout
    assert invoke("report", "--json").exit_code == 1
    use(patch("madeup-cast"))
    assert invoke("report").exit_code == 0
    library.release("unknown")
    assert invoke("report").exit_code == 1


VARIABLES = {
    "PATCHKIT_DISABLE": ("madeup-csat", "names no patch: 'madeup-csat'"),
    "PATCHKIT_MADEUP_CAST": ("bfloat", "must be one of 'off', 'on', not 'bfloat'"),
    "PATCHKIT_PREFLIGHT": ("perhaps", "must be 1 or 0, not 'perhaps'"),
}


@pytest.mark.parametrize("variable", VARIABLES)
def test_a_variable_that_apply_refuses(madeup, monkeypatch, variable: str) -> None:
    value, problem = VARIABLES[variable]
    monkeypatch.setenv(variable, value)
    with pytest.raises(UsageError, match=re.escape(problem)):
        patchkit.apply(strict=True)
    result = invoke("report")
    text = " ".join(result.stdout.split())
    assert (result.exit_code, result.stderr) == (1, "")
    assert variable in text
    assert problem in text
    assert "correct that variable, or unset it" in text
    assert "patchkit.apply()" not in text
    given = json.loads(invoke("report", "--json").stdout)
    assert problem in given["refusals"][0]
    (due,) = (patch for patch in given["patches"] if patch["id"] == "madeup-cast")
    assert problem in due["reason"]
    assert "apply() applies it" not in due["advice"]
    assert html.escape(problem) in patchkit.report()._repr_html_()


@pytest.mark.parametrize("names", [("madeup-cast", "madeup-w*"), ("madeup",)])
def test_ids_globs_and_libraries(madeup, names: tuple[str, ...]) -> None:
    listed = [
        patch["id"] for patch in json.loads(invoke("list", "--json", *names).stdout)["patches"]
    ]
    reported = json.loads(invoke("report", "--json", *names).stdout)["patches"]
    assert sorted(patch["id"] for patch in reported) == sorted(listed)
    assert 0 < len(reported) < len(patches())
    assert "madeup-cast" in invoke("diff", *names).stdout
    assert invoke("report", "madeup-csat").exit_code == 64


def test_a_version_that_does_not_parse_is_one_finding(madeup, library) -> None:
    library.release("of-today")
    result = invoke("report", env={"COLUMNS": "200"})
    sentence = "madeup is installed, but its version 'of-today' is not a version"
    assert result.exit_code == 1
    assert result.stdout.count("of-today") == 1
    assert sentence in result.stdout
    assert "1 version unreadable" in result.stdout.splitlines()[0]
    assert "reinstall madeup" in result.stdout
    assert "please report" not in result.stdout
    ids = "madeup-cast, madeup-fixed, madeup-asked and 1 more"
    assert invoke("diff").stderr == f"{ids}: {sentence}; reinstall madeup\n"
