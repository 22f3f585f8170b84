"""A class name means one thing in patchkit and workbench, and a loop variable says what it holds."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Still defined twice; a name leaves this set with its second class.
SHARED_CLASS_NAMES: set[str] = set()
VAGUE = {"it", "one"}
# Still with vague loop variables; a folder leaves this list with its last one.
VAGUE_FOLDERS = ("patchkit/known", "tests/docs", "tests/known")
AS_USERS_WRITE = (
    "tests/legacy/scripts",
    "tests/modernize/messy",
    "workbench/film/train",
    "workbench/frameworks/scripts",
)


def trees(folder: str) -> Iterator[tuple[str, ast.Module]]:
    for file in sorted((ROOT / folder).rglob("*.py")):
        name = file.relative_to(ROOT).as_posix()
        if not name.startswith(AS_USERS_WRITE):
            yield name, ast.parse(file.read_text(encoding="utf-8"))


def test_a_class_name_is_defined_once() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for name, tree in [*trees("patchkit"), *trees("workbench")]:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(name)
    shared = {name: files for name, files in homes.items() if len(files) > 1}
    assert not {name: shared[name] for name in shared.keys() - SHARED_CLASS_NAMES}
    assert not SHARED_CLASS_NAMES - shared.keys(), "take these off the list"


def vague_loops(folder: str) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for name, tree in trees(folder):
        for node in ast.walk(tree):
            if isinstance(node, (ast.For, ast.comprehension)):
                names = {part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)}
                if names & VAGUE:
                    found[name].append(node.target.lineno)
    return found


@pytest.mark.parametrize(
    "folder", ["patchkit", "patches", "workbench", "benchmarks", "examples", "tests"]
)
def test_a_loop_variable_names_its_kind(folder: str) -> None:
    found = vague_loops(folder)
    assert not {name: lines for name, lines in found.items() if not name.startswith(VAGUE_FOLDERS)}
    allowed = [left for left in VAGUE_FOLDERS if left.split("/")[0] == folder]
    done = [left for left in allowed if not any(name.startswith(left) for name in found)]
    assert not done, "take these off the list"
