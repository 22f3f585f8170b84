"""Texts that other tools look for stay in the functions that patches rewrite."""

from __future__ import annotations

import inspect
import sys
import zipfile
from pathlib import Path

import pytest

import patchkit
from patchkit.rewrite import bind
from workbench.anchors import reading, table
from workbench.anchors.rewritten import RewrittenFunction, rewritten_functions

TOOL = '''
"""Reads `for x in model.parameters():`."""
import inspect

LOOP = "for x in model.parameters():"
NAME = "lm_head.weight"

def edit(function):
    """Read x = bug() off it."""
    text = inspect.getsource(function)
    return text.replace("x = bug()", f"x = fixed({NAME})") if LOOP in text else text
'''


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    file = tmp_path / "tool-1.0-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("tool/edit.py", TOOL)
        archive.writestr("tool/other.py", "TEXT = 'for y in model.parameters():'\n")
        archive.writestr("tool/broken.py", "getsource(\n")
    return file


def rewritten(before: str, after: str) -> RewrittenFunction:
    return RewrittenFunction("library:f", ("a-patch",), before, after)


def test_what_a_tool_looks_for(wheel: Path) -> None:
    found = {(text.file, text.line, text.text) for text in reading.looked_for(wheel)}
    assert found == {
        ("tool/edit.py", 5, "for x in model.parameters():"),
        ("tool/edit.py", 11, "x = bug()"),
    }


def test_a_text_that_a_patch_takes_away(wheel: Path, monkeypatch) -> None:
    before = "    def f(self):\n        x = bug()\n"
    functions = [rewritten(before, before.replace("bug()", "fixed()"))]
    (anchor,) = table.anchors("tool", "1.0", reading.looked_for(wheel), functions)
    assert (anchor.text, anchor.patches) == ("x = bug()", ("a-patch",))
    assert table.unexplained(anchor, functions) == ["library:f"]
    kept = [rewritten(before, before.replace("bug()", "bug() if wanted else None"))]
    assert table.unexplained(anchor, kept) == []
    monkeypatch.setattr(table, "REPLACED", {("a-patch", "x = bug()"): "It says so."})
    assert table.unexplained(anchor, functions) == []


@pytest.fixture(scope="module")
def functions() -> list[RewrittenFunction]:
    pytest.importorskip("peft")
    return rewritten_functions()


def test_what_patches_here_leave(functions) -> None:
    assert len(functions) > 100
    problems = {
        f"{anchor.tool} {anchor.release}, {anchor.place}: {name} lacks {anchor.text!r}"
        for anchor in table.read()
        for name in table.unexplained(anchor, functions)
    }
    assert not problems


def test_the_text_of_a_live_function_is_the_one_that_was_read(functions) -> None:
    import peft

    name = "peft.tuners.lora.layer:Linear.forward"
    with patchkit.patched(others=False):
        module = sys.modules[peft.tuners.lora.layer.__name__]
        live = inspect.getsource(bind(module, name.partition(":")[2]).function())
    (read,) = [function for function in functions if function.name == name]
    assert live == read.after != read.before


def test_reasons_are_of_anchors_in_the_table() -> None:
    known = {(patch, anchor.text) for anchor in table.read() for patch in anchor.patches}
    assert set(table.REPLACED) <= known
