"""docs/workbench.md: every command has a row and a section, and its examples parse."""

from __future__ import annotations

import re
import shlex

import click
import pytest

from workbench import ROOT
from workbench.__main__ import PROGRAMS
from workbench.commands import COMMANDS, workbench

TEXT = (ROOT / "docs" / "workbench.md").read_text(encoding="utf-8")
EXAMPLES = [
    line
    for block in re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL)
    for line in block.splitlines()
]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
CALLS = sorted(
    {
        call.strip()
        for page in PAGES
        for call in re.findall(r"python -m workbench ([^#`\n]*)", page.read_text("utf-8"))
        if call.strip() and "…" not in call
    }
)


def test_every_command_has_a_row_a_section_and_an_example() -> None:
    assert re.findall(r"^## (.+)", TEXT, re.MULTILINE) == list(COMMANDS)
    assert {shlex.split(line)[3] for line in EXAMPLES} == set(COMMANDS)
    rows = re.findall(r"^\| \[?`([\w-]+)", TEXT, re.MULTILINE)
    programs = {program.partition(" ")[0] for program in PROGRAMS}
    assert {*COMMANDS, *programs} <= set(rows)


def test_pages_name_what_there_is() -> None:
    assert len(CALLS) > 20


@pytest.mark.parametrize("call", CALLS)
def test_a_call_in_a_page_is_taken(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    name, *words = shlex.split(call)
    command = workbench.get_command(click.Context(workbench), name)
    if command is not None:
        # Which files are there varies, and ID stands for one.
        words = [word for word in words if word != "ID" and not word.startswith(".matrix/")]
        words = [word for word in words if word != "gpu.json"]
        command.make_context(name, words)
        return
    assert name in {program.partition(" ")[0] for program in PROGRAMS}
    folder = ROOT / "workbench" / {"new-releases": "releases"}.get(name, name)
    text = "\n".join(file.read_text("utf-8") for file in folder.glob("*.py"))
    for word in words:
        if word.startswith("--"):
            assert f'"{word.partition("=")[0]}"' in text, word
