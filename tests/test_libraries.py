"""One table says what a library is to patchkit; lists of libraries come from it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from patchkit.libraries import LIBRARIES, title, with_role

PACKAGE = Path(__file__).parents[1] / "patchkit"
EXCEPTIONS = {
    "libraries.py": "the table",
    "verification/fork_server.py": "modules to import ahead, some of libraries and some within",
    "cli/run/autostart/sitecustomize.py": "runs where patchkit cannot be imported; held below",
}


def lists_of_libraries(source: str) -> Iterator[ast.expr]:
    """Yield the displays with three or more names of libraries in them."""
    for node in ast.walk(ast.parse(source)):
        parts = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", ())
        names = {part.value for part in parts if isinstance(part, ast.Constant)}
        if len(names & LIBRARIES.keys()) >= 3:
            yield node


def test_there_is_no_second_list() -> None:
    found = {
        file.relative_to(PACKAGE).as_posix()
        for file in PACKAGE.rglob("*.py")
        if any(lists_of_libraries(file.read_text(encoding="utf-8")))
    }
    assert found == EXCEPTIONS.keys()


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("A = ('trl', 'peft', 'torch')", 1),
        ("A = frozenset({'trl', 'peft', 'accelerate', 'patchkit'})", 1),
        ("A = {'trl': 'TRL', 'peft': 'PEFT', 'transformers': ''}", 1),
        ("A = ['trl', 'peft', 'mine']", 0),
    ],
)
def test_what_counts_as_a_list(source: str, count: int) -> None:
    assert len(list(lists_of_libraries(source))) == count


def test_interpreters_that_start_under_run_look_for_what_is_patched() -> None:
    source = (PACKAGE / "cli" / "run" / "autostart" / "sitecustomize.py").read_text()
    (names,) = lists_of_libraries(source)
    assert ast.literal_eval(names) == with_role("patched")


def test_what_is_patched_is_in_the_catalogue() -> None:
    folders = {folder.name for folder in (PACKAGE.parent / "patches").iterdir() if folder.is_dir()}
    assert set(with_role("patched")) <= folders


def test_roles() -> None:
    assert with_role("measured")[:2] == ("trl", "transformers")
    assert set(with_role("interfaces")) < set(with_role("measured"))
    assert "bitsandbytes" not in with_role("needed")
    assert (title("trl"), title("unheard")) == ("TRL", "unheard")
