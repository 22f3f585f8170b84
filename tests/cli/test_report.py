"""`patchkit report`: exit status, text and JSON."""

from __future__ import annotations

import json

import patchkit

from .conftest import invoke, patch


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
    before = [one.status for one in patchkit.report()]
    invoke("report")
    assert [one.status for one in patchkit.report()] == before


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
