from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchkit.rewrite import Edit, helper, replace, require
from patchkit.rewrite.edit import apply_edits, operand, split_lines


def first(code: str, kind: type[ast.expr] | type[ast.stmt]) -> ast.expr | ast.stmt:
    return next(node for node in ast.walk(ast.parse(code)) if isinstance(node, kind))


def edited(code: str, *edits: Edit) -> str:
    return "".join(apply_edits(split_lines(code), edits))


def test_require_puts_the_condition_first() -> None:
    code = "if a or b:\n    c()\n"
    node = first(code, ast.If)
    assert edited(code, *require(node.test, "x")) == "if (x) and (a or b):\n    c()\n"


def test_require_around_several_lines() -> None:
    code = "if (\n    a\n    or b\n):\n    c()\n"
    node = first(code, ast.If)
    after = edited(code, *require(node.test, "x"))
    assert after.count("\n") == code.count("\n")
    assert ast.unparse(ast.parse(after)) == "if x and (a or b):\n    c()"


def test_columns_are_bytes() -> None:
    code = "x = 'é…', call(1)\n"
    assert edited(code, replace(first(code, ast.Call), "2")) == "x = 'é…', 2\n"


def test_form_feed_is_no_line_end() -> None:
    code = "a = 1\n\x0c\nb = call()\n"
    assert edited(code, replace(first(code, ast.Call), "2")) == "a = 1\n\x0c\nb = 2\n"


@pytest.mark.parametrize("tail", ["\n", "  # why\n", " + 1\n"])
def test_replacing_several_lines_keeps_their_number(tail: str) -> None:
    code = f"x = call(\n    1,\n    2,\n){tail}y = 1\n"
    after = edited(code, replace(first(code, ast.Call), "z"))
    assert after.count("\n") == code.count("\n")
    assert ast.parse(after).body[1].lineno == 5


def test_a_replacement_may_not_add_lines() -> None:
    with pytest.raises(ValueError, match="may not add lines"):
        replace(first("x = call()", ast.Call), "(\n1)")


def test_overlapping_edits_are_refused() -> None:
    edits = [Edit((1, 0), (1, 4), "a"), Edit((1, 2), (1, 6), "b")]
    with pytest.raises(ValueError, match="overlap at line 1"):
        apply_edits(["abcdefgh\n"], edits)


def test_helper_fetches_what_it_names() -> None:
    assert eval(helper("os.path:join"))("a", "b").startswith("a")


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(codec="utf-8")))
def test_split_lines_loses_nothing(one: str, other: str) -> None:
    text = (one + "\n" + other).replace("\r", "")
    assert "".join(split_lines(text)) == text


@pytest.mark.parametrize("text", ["x", "a.b", "a[0]", "f(x)", "(a + b).c", "f(a, b)[c]"])
def test_an_operand_that_needs_no_brackets(text: str) -> None:
    assert operand(ast.parse(text, mode="eval").body) == text


@pytest.mark.parametrize("text", ["a + b", "a or b", "not a", "a if b else c", "1", "a < b", "-a"])
def test_an_operand_in_brackets(text: str) -> None:
    assert operand(ast.parse(text, mode="eval").body) == f"({text})"
