"""What an interrupted command says of its results."""

from __future__ import annotations

from pathlib import Path

import pytest
from click import Group
from click.testing import CliRunner

from patchkit.cli import main
from workbench.commands import workbench
from workbench.sweep.options import told_how_to_go_on


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (None, "With --output FILE the results are kept."),
        ("kept.jsonl", "The same command goes on from {folder}/kept.jsonl."),
        ("not-begun.jsonl", ""),
    ],
)
def test_how_to_go_on(tmp_path: Path, name: str | None, said: str) -> None:
    (tmp_path / "kept.jsonl").touch()
    with pytest.raises(KeyboardInterrupt) as raised, told_how_to_go_on(name and tmp_path / name):
        raise KeyboardInterrupt
    assert str(raised.value) == said.format(folder=tmp_path)


@pytest.mark.parametrize(
    ("group", "arguments", "place"),
    [
        (workbench, ["families", "llama"], "workbench.families.sweep.sweep"),
        (workbench, ["ranks", "ddp"], "workbench.ranks.sweep.sweep"),
        (main, ["matrix", "scan"], "patchkit.matrix.scan.run.scan"),
    ],
)
def test_interrupted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, group: Group, arguments: list[str], place: str
) -> None:
    def interrupted(*args: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(place, interrupted)
    option = "--file" if "scan" in arguments else "--output"
    (tmp_path / "journal").touch()
    if option == "--file":
        (tmp_path / "journal").unlink()
    result = CliRunner().invoke(group, [*arguments, option, str(tmp_path / "journal")])
    assert result.exit_code == 130
    assert result.stderr.startswith("Interrupted. The same command goes on")
    assert result.stderr.count("\n") == 1
