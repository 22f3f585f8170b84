"""The shortest pattern that finds one site in a function."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from string import ascii_uppercase
from types import CodeType

from ..rewrite import FunctionSource, Pattern
from ..rewrite import find as sites_of

_LONG = 72
"""Characters that a pattern may have; a longer one gives away what is inside its brackets."""


@dataclass(frozen=True)
class Anchor:
    """What finds a site.

    Args:
        site: the node.
        pattern: the code of the pattern.
        sites: how many places of the function it matches; the site is one of them.
    """

    site: ast.AST
    pattern: str
    sites: int

    @property
    def line(self) -> int:
        return int(getattr(self.site, "lineno", 0))


def matches(source: FunctionSource, pattern: str) -> list[ast.AST]:
    """The places of a function that a pattern finds.

    Raises:
        ValueError: it is not one expression or statement.
        SyntaxError: it is not Python.
    """
    return list(sites_of(source.node, Pattern(pattern)))


def shortest(source: FunctionSource, nodes: list[ast.expr | ast.stmt]) -> Anchor:
    """The pattern for the first of some nodes that stands once in the function.

    Local variables become holes, where that does not make it match anything more: upstream
    renames them. The last node's pattern is taken as it is where none stands once.
    """
    for node in nodes:
        if _is_the_only(source, node, node):
            return Anchor(node, ast.unparse(_generalized(source, node)), 1)
    text = ast.unparse(nodes[-1])
    return Anchor(nodes[-1], text, len(matches(source, text)))


def _is_the_only(source: FunctionSource, pattern: ast.AST, site: ast.AST) -> bool:
    found = matches(source, ast.unparse(pattern))
    return len(found) == 1 and found[0] is site


def _generalized(source: FunctionSource, site: ast.expr | ast.stmt) -> ast.AST:
    pattern: ast.AST = site
    taken = {node.id for node in ast.walk(site) if isinstance(node, ast.Name)}
    letters = [letter for letter in ascii_uppercase if letter not in taken]
    local = set(local_names(source.code)) - {"self", "cls"}
    for name in [name for name in _names(site) if name in local]:
        letter = next((one for one in [name[0].upper(), *letters] if one in letters), None)
        if letter is None:
            break
        trial = _Replacing(name, letter).visit(copy.deepcopy(pattern))
        if _is_the_only(source, trial, site):
            pattern = trial
            letters.remove(letter)
    while len(ast.unparse(pattern)) > _LONG and letters:
        shorter = next(
            (
                trial
                for trial in _with_a_hole(pattern, letters[0])
                if _is_the_only(source, trial, site)
            ),
            None,
        )
        if shorter is None:
            break
        pattern = shorter
        letters.pop(0)
    return pattern


def _names(node: ast.AST) -> list[str]:
    found = [one for one in ast.walk(node) if isinstance(one, ast.Name)]
    found.sort(key=lambda one: (one.lineno, one.col_offset))
    return list(dict.fromkeys(one.id for one in found))


def local_names(code: CodeType) -> Iterator[str]:
    """The variables of a function and of those inside it."""
    yield from (*code.co_varnames, *code.co_cellvars, *code.co_freevars)
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from local_names(const)


class _Replacing(ast.NodeTransformer):
    """Puts a hole in the place of a variable."""

    def __init__(self, name: str, letter: str) -> None:
        self.name, self.letter = name, letter

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.letter, node.ctx) if node.id == self.name else node


def _with_a_hole(pattern: ast.AST, letter: str) -> list[ast.AST]:
    """The pattern with one of its inner expressions given away, the longest first."""
    kept = {id(node.func) for node in ast.walk(pattern) if isinstance(node, ast.Call)}
    inner = [
        (len(ast.unparse(node)), number)
        for number, node in enumerate(ast.walk(pattern))
        if number and isinstance(node, ast.expr) and id(node) not in kept
    ]
    found = []
    for length, number in sorted(inner, reverse=True):
        if length > 1:
            trial = copy.deepcopy(pattern)
            node = list(ast.walk(trial))[number]
            found.append(_InPlaceOf(node, letter).visit(trial))
    return found


class _InPlaceOf(ast.NodeTransformer):
    """Puts a hole in the place of one node."""

    def __init__(self, place: ast.AST, letter: str) -> None:
        self.place, self.letter = place, letter

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self.place:
            return ast.Name(self.letter, getattr(node, "ctx", ast.Load()))
        visited: ast.AST = super().visit(node)
        return visited
