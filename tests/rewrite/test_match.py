from __future__ import annotations

import ast

import pytest

from patchkit.rewrite import Pattern, find, match, mentions

EACH_BY_HAND = """
a = b.c = [f(1, *d, key=e, **g), -h[i:j, 2], k + l * m, n < o <= p]
f(a)
if a and b or not c:
    d
elif e:
    f
else:
    g
"""


@pytest.mark.parametrize(
    ("pattern", "code"),
    [
        ("P.data = P.data.to(torch.bfloat16)", "param.data = param.data.to(torch.bfloat16)"),
        ("P.data = P.data.to(torch.bfloat16)", "a.b[0].data = (a.b[0]\n .data).to(torch.bfloat16)"),
        ("M.parameters()", "self.model.parameters()"),
        ("f(X, X)", "f(a + 1, a+1)"),
        ("X.to(dtype=Y)", "x.to(dtype=torch.half)"),
        ("return X", "return None or 1"),
        ("f('a')", 'f("a")'),
    ],
)
def test_pattern_matches(pattern: str, code: str) -> None:
    assert list(find(ast.parse(code), Pattern(pattern)))


@pytest.mark.parametrize(
    ("pattern", "code"),
    [
        ("P.data = P.data.to(torch.bfloat16)", "param.data = other.data.to(torch.bfloat16)"),
        ("P.data = P.data.to(torch.bfloat16)", "param.data = param.data.to(torch.float16)"),
        ("P.data = P.data.to(torch.bfloat16)", "param.grad = param.grad.to(torch.bfloat16)"),
        ("P.data = P.data.to(torch.bfloat16)", "'param.data = param.data.to(torch.bfloat16)'"),
        ("P.data = P.data.to(torch.bfloat16)", "# param.data = param.data.to(torch.bfloat16)"),
        ("M.parameters()", "model.parameters(recurse=False)"),
        ("M.parameters()", "parameters()"),
        ("M.parameters()", "model.parameters"),
        ("f(X, X)", "f(a, b)"),
        ("f(X)", "f(x, y)"),
        ("f(X)", "g(x)"),
        ("f(1)", "f(True)"),
        ("f('1')", "f(1)"),
    ],
)
def test_near_miss_does_not_match(pattern: str, code: str) -> None:
    assert not list(find(ast.parse(code), Pattern(pattern)))


def test_find_counts_nested_sites_once() -> None:
    tree = ast.parse("if a:\n    if b:\n        pass\nif c:\n    pass")
    found = list(find(tree, lambda node: isinstance(node, ast.If)))
    assert [node.lineno for node in found] == [1, 4]


def test_nodes_that_are_taken_apart_by_hand_lose_nothing(monkeypatch) -> None:
    tree = ast.parse(EACH_BY_HAND)
    assert set(match._PARTS) <= set(map(type, ast.walk(tree)))
    nodes = match.walk(tree)
    monkeypatch.setattr(match, "_PARTS", {})
    assert match.walk(tree) == nodes


def test_within_looks_below() -> None:
    assert Pattern("f(X)").within(ast.parse("for i in y:\n    z = [f(i)]"))
    assert not Pattern("f(X)").within(ast.parse("for i in y:\n    z = [g(i)]"))


@pytest.mark.parametrize(
    ("code", "expected"),
    [("args.bf16", True), ("bf16", True), ("x = 'bf16'", False), ("args.fp16", False)],
)
def test_mentions(code: str, expected: bool) -> None:
    assert mentions(ast.parse(code), "bf16") is expected


def test_holes_say_what_they_stand_for() -> None:
    pattern = Pattern("N.sum() / D")
    node = ast.parse("(a + b).sum() / f(x, y)").body[0].value  # type: ignore[attr-defined]
    assert pattern.holes(node) == {"N": "a + b", "D": "f(x, y)"}
    assert Pattern("f(x)").holes(ast.parse("f(x)").body[0].value) == {}  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="does not match Pattern"):
        pattern.holes(ast.parse("a.sum()").body[0])
    with pytest.raises(ValueError, match="has no hole X; it has N, D"):
        pattern.holes(node)["X"]


def test_a_literal_letter_stands_for_itself() -> None:
    tree = ast.parse("a = F.relu(F)\nb = G.relu(x)\n")
    hole, literal = Pattern("F.relu(X)"), Pattern("F.relu(X)", literal=("F",))
    assert len(list(find(tree, hole))) == 2
    (site,) = find(tree, literal)
    assert literal.holes(site) == {"X": "F"}
    assert literal.holes(ast.parse("F.relu(2)", mode="eval").body) == {"X": "2"}
    assert repr(literal) == "Pattern('F.relu(X)', literal=('F',))"
    assert [ast.unparse(node) for node in find(tree, Pattern("F", literal=("F",)))] == ["F", "F"]


@pytest.mark.parametrize("letter", ["G", "Fr", "x", ""])
def test_a_literal_that_the_pattern_does_not_have(letter: str) -> None:
    with pytest.raises(ValueError, match="is not a capital letter that stands alone"):
        Pattern("F.relu(x) + Fresh.G_x", literal=(letter,))
