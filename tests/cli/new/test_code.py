"""What is filled in is Python source, and evaluates to the code it stands for."""

from __future__ import annotations

import pytest

from patchkit.cli.new import code


@pytest.mark.parametrize(
    ("pattern", "holes", "expected"),
    [
        ("f(x)", {}, "f(x)"),
        ("A.sum() / B", {"A": "loss", "B": "(n + 1)"}, "loss.sum() / (n + 1)"),
        ("f({'a': A}, {A})", {"A": "x"}, "f({'a': x}, {x})"),
        ("f(A, 'A', \"it's\", '\\n')", {"A": "x"}, "f(x, 'A', \"it's\", '\\n')"),
        ("f(f'{A} {{}}')", {"A": "x"}, "f(f'{x} {{}}')"),
        ("B = A", {"A": "x"}, "B = x"),
    ],
)
def test_filled_in(pattern: str, holes: dict[str, str], expected: str) -> None:
    assert eval(code.template(pattern, holes, "found"), {"found": holes}) == expected


@pytest.mark.parametrize("text", ["short", 'with "quotes" and \\', "long " * 60, "x" * 300, "ö\n"])
def test_string(text: str) -> None:
    literal = code.string(text, 12)
    assert eval(literal) == text
    assert max(map(len, literal.splitlines())) <= 100


LONG = "prepared = model.generate(first_argument, second_argument, another_long_argument_of_it) / total"


@pytest.mark.parametrize("holes", [{}, {"A": "loss", "B": "x"}])
def test_long_code_is_broken_between_words(holes: dict[str, str]) -> None:
    pattern = f"{LONG} + A.mean({{'key': B}})"
    literal = code.template(pattern, holes, "found")
    assert max(map(len, literal.splitlines())) <= 100
    assert len(literal.splitlines()) > 2
    expected = pattern
    for letter, value in holes.items():
        expected = expected.replace(letter, value)
    assert eval(literal, {"found": holes}) == expected
    for word in ("another_long_argument_of_it", "second_argument", "total", "mean"):
        assert word in literal


@pytest.mark.parametrize("values", [(), ("a",), ("a", 'b"')])
def test_strings(values: tuple[str, ...]) -> None:
    assert eval(code.strings(values)) == values
