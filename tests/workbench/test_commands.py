"""The commands of the workbench: exit status, and one line for what went wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.commands import COMMANDS

from ..cli.conftest import madeup, refused, use
from .conftest import invoke

__all__ = ["madeup", "use"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "a-folder").mkdir()
    return tmp_path


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help(name: str) -> None:
    result = invoke(*name.split(), "--help")
    assert result.exit_code == 0
    assert result.stdout.startswith(f"Usage: python -m workbench {name}".rstrip())


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("recrod", "No such command 'recrod'. Did you mean 'record'?"),
        ("record --id no-such-patch --file m.yaml", "names no patch: 'no-such-patch'"),
        ("record no-such-file.json", "'no-such-file.json' does not exist"),
        ("record --file .", "is a directory"),
    ],
)
def test_bad_command(command: str, message: str) -> None:
    before = sorted(Path().iterdir())
    refused(invoke(*command.split()), message)
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("families llama --output none/x.jsonl", "--output none/x.jsonl: there is no folder none"),
        ("ranks ddp --output none/x.jsonl", "--output none/x.jsonl: there is no folder none"),
        ("releases --history none/x.json", "--history none/x.json: there is no folder none"),
        ("record --file none/x.yaml", "--file none/x.yaml: there is no folder none"),
    ],
)
def test_a_folder_that_is_not_there(command: str, said: str) -> None:
    refused(invoke(*command.split()), f"{said}; make it first")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("families --show --output x.jsonl", "--show: there is no file x.jsonl"),
        ("families --show --output empty.jsonl", "--show: empty.jsonl has no results"),
        ("ranks --show --output x.jsonl", "--show: there is no file x.jsonl"),
        ("ranks --show --output empty.jsonl", "--show: empty.jsonl has no results"),
        ("families --format table --json", "--json and --format table contradict each other"),
        ("ranks --format markdown --json", "--json and --format markdown contradict each other"),
        (
            "record --id none",
            "--id names no patch: 'none'. There are: absent-bug, "
            "madeup-asked, madeup-cast, madeup-fixed, madeup-wrap.",
        ),
        (
            "releases --library trl --from a-folder --cache cache",
            "a-folder has no wheel of trl, and none is cached",
        ),
    ],
)
def test_a_contradiction_or_a_file_of_nothing(command: str, said: str, madeup: None) -> None:
    assert refused(invoke(*command.split()), said) == f"Error: {said}"


@pytest.mark.parametrize(
    "content", ["schema: 1\n", "{", "schema: [1\nresults: }\n", "nothing"], ids=str.strip
)
def test_a_damaged_matrix_is_found_before_anything_is_measured(tmp_path, content: str) -> None:
    file = tmp_path / "m.yaml"
    file.write_text(content)
    result = invoke("record", "--file", str(file))
    refused(result, "m.yaml")
    assert file.read_text() == content
