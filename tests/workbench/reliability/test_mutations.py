"""Mutants of upstream functions: no wrong edit, judged by an oracle that knows a wrong one."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest

from workbench.reliability import edit_oracle as oracle
from workbench.reliability import mutants

SAMPLE = 300


BEFORE = "import torch\ndef f(a, b):\n    return g(a + b), 'é'  # c\n"
CALL = ((3, 11), (3, 19))


def judged(after: str, *edits: tuple, rebinds: bool = False) -> list[str]:
    return list(oracle.wrongs(BEFORE, after, edits, 2, rebinds=rebinds))


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("h(a + b)", ""),
        ("(_new := g(a + b))", ""),
        ("h(a\n + b)", "number of lines"),
        ("h(a + b", "does not compile"),
        ("a + b.h()", "'a + b' was taken apart"),
        ("h(a, b)", "'a + b' was taken apart"),
        ("(a := g(a + b))", ""),
        ("(f.torch)(b := (a + b))", ""),
    ],
)
def test_the_oracle_of_one_edit(text: str, wrong: str) -> None:
    found = judged(BEFORE.replace("g(a + b)", text), (*CALL, text))
    assert not found if not wrong else any(wrong in problem for problem in found)


def test_the_oracle_knows_a_name_that_is_taken() -> None:
    before = BEFORE.replace("(a, b)", "(a, b, _new)")
    text = "(_new := g(a + b))"
    edit = (*CALL, text)
    after = before.replace("g(a + b)", text)
    assert list(oracle.wrongs(before, after, [edit], 2, rebinds=False)) == [
        "the name _new was in use"
    ]
    assert not list(oracle.wrongs(before, after, [edit], 2, rebinds=True))


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("# c", "# d", "bytes outside"),
        ("'é'", "'e'", "bytes outside"),
        ("a, b):", "b, a):", "became"),
        ("return", "yield", "bytes outside"),
    ],
)
def test_the_oracle_of_what_lies_outside(old: str, new: str, wrong: str) -> None:
    found = judged(BEFORE.replace("g(a", "h(a").replace(old, new), ((3, 11), (3, 12), "h"))
    assert any(wrong in problem for problem in found)


def test_the_oracle_knows_an_edited_string() -> None:
    edit = ((3, 21), (3, 25), "'x'")
    assert any(
        "text was edited" in problem for problem in judged(BEFORE.replace("'é'", "'x'"), edit)
    )


def test_the_oracle_knows_a_statement_away_from_any_edit() -> None:
    before = "def f(a):\n    g(a)\n    h(a); h(a)\n"
    after = "def f(a):\n    k(a)\n    h(a)\n"
    found = list(oracle.wrongs(before, after, [((2, 4), (2, 5), "k")], 1, rebinds=False))
    assert any("away from any edit" in problem for problem in found)


def test_mutants_are_valid_and_many() -> None:
    text = "import torch\n\nclass C:\n    def forward(self, x):\n        y = x\n        return self.weight * y\n"
    made = {mutants.mutated(text, random.Random(seed)) for seed in range(200)} - {None}
    assert len(made) > 150
    for mutant in made:
        compile(mutant, "x.py", "exec", dont_inherit=True)
    for sign in ("\r", "\t", "\f", ", /", "async", "é", "_normed", "lambda", "\\\n"):
        assert any(sign in mutant for mutant in made), sign
    assert ast.parse(text)


def test_no_wrong_edit_in_a_sample(run_workbench, tmp_path: Path) -> None:
    pytest.importorskip("trl")
    numbers = ("--count", str(SAMPLE), "--seed", "7", "--jobs", "1")
    done = run_workbench("reliability", "mutations", *numbers, folder=tmp_path)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr
    assert f"{SAMPLE} mutants" in done.stdout
    assert "0 wrong edits" in done.stdout
