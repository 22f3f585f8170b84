"""docs/command-line.md: every command, examples that parse, and every key of the JSON."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from patchkit.cli.commands import COMMANDS

from .conftest import command_of, invoke

TEXT = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
SECTIONS = dict(
    zip(*[iter(re.split(r"^## (.+)\n", TEXT, flags=re.MULTILINE)[1:])] * 2, strict=True)
)
EXAMPLES = [
    line.removeprefix("$ ")
    for block in re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL)
    for line in block.splitlines()
    if re.match(r"(\$ )?patchkit ", line)
]


def test_every_command_has_a_section_and_an_example() -> None:
    assert sorted(set(SECTIONS) - {"Exit statuses", "Output", "Environment variables"}) == sorted(
        COMMANDS
    )
    assert {shlex.split(line)[1] for line in EXAMPLES} == set(COMMANDS)


@pytest.mark.parametrize("line", EXAMPLES)
def test_examples_parse(line: str) -> None:
    words = shlex.split(line, comments=True)[1:]
    words = words[: next((i for i, word in enumerate(words) if word in ("|", ">")), len(words))]
    command, context = command_of(words)
    command.make_context(command.name, words, parent=context)


@pytest.mark.parametrize(
    ("command", "of"),
    [
        (["list"], ["patches"]),
        (["report"], ["patches"]),
        (["explain", "madeup-cast"], ["patches"]),
        (["diff", "madeup-cast"], ["diffs"]),
    ],
)
def test_every_key_is_documented(madeup, command: list[str], of: list[str]) -> None:
    given = json.loads(invoke(*command, "--json").stdout)
    assert f"schema {given['schema']}" in SECTIONS[command[0]]
    keys = {*given, *given[of[0]][0]} - {"schema"}
    missing = [key for key in keys if f"`{key}`" not in SECTIONS[command[0]]]
    assert missing == []
