"""What functions of a script's own are called with, and what they hand on by `**`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from .script import Given, OwnClass
from .values import Dictionary, Own, Several, Values, merged


class Handed:
    """What each function gets.

    Attributes:
        passed: function to the values of each parameter.
        collected: call to the keywords that its function collects, as a dictionary.
    """

    def __init__(self) -> None:
        self.passed: dict[ast.AST, dict[str, Values]] = {}
        self.collected: dict[ast.AST, ast.Call] = {}

    def over(self, called: Own, given: Sequence[Given], keywords: Mapping[str, Given]) -> None:
        """Remember what a function is called with."""
        function = _function(called)
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            return
        passed = self.passed.setdefault(function, {})
        names = [each.arg for each in function.args.args]
        if function is not called.node or called.is_method:
            names = names[1:]
        by_position = zip(names, _one_by_one(given), strict=False)
        by_name = ((name, argument.values) for name, argument in keywords.items())
        for name, values in (*by_position, *by_name):
            passed[name] = merged(passed.get(name, ()), values)

    def collect(
        self,
        called: Own,
        call: ast.Call,
        keywords: Mapping[str, Given],
        parents: Mapping[ast.AST, ast.AST],
    ) -> None:
        """Remember what a function gets by `**`, and hands on in one call."""
        function = _function(called)
        args = getattr(function, "args", None)
        if function is None or args is None or args.kwarg is None:
            return
        names = [
            node
            for node in ast.walk(function)
            if isinstance(node, ast.Name) and node.id == args.kwarg.arg
        ]
        ends = [
            outer.end_lineno
            for node in names
            if isinstance(node.ctx, ast.Store)
            and isinstance(outer := parents.get(node), ast.Assign)
        ]
        last = min(end for end in (*ends, function.end_lineno) if end is not None)  # type: ignore[attr-defined]
        reads = [node for node in names if isinstance(node.ctx, ast.Load) and node.lineno <= last]
        parent = parents.get(reads[0]) if len(reads) == 1 else None
        if not isinstance(parent, ast.keyword) or parent.arg is not None:
            return
        named = {each.arg for each in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
        rest = [
            given.keyword
            for name, given in keywords.items()
            if name not in named and given.keyword is not None and given.holder is None
        ]
        if call not in self.collected:
            collected = ast.Call(ast.Name("dict"), [], rest)
            self.collected[call] = ast.copy_location(collected, call)
        passed = self.passed.setdefault(function, {})
        known = passed.get(args.kwarg.arg, ())
        passed[args.kwarg.arg] = merged(known, (Dictionary(self.collected[call]),))

    def is_collected(self, values: Values) -> bool:
        """Tell whether a value is what one call of a function has for its `**`."""
        held = [value.node for value in values if isinstance(value, Dictionary)]
        return bool(held) and held[0] in self.collected.values() and len(values) == 1


def _function(called: Own) -> ast.AST | None:
    """Return what runs where something of the script's own is called."""
    return initializer_of(called.node) if isinstance(called.node, ast.ClassDef) else called.node


def _one_by_one(given: Sequence[Given]) -> Iterator[Values]:
    """Yield what the arguments by position may be, up to one with a star that is not known."""
    for argument in given:
        if not isinstance(argument.node, ast.Starred):
            yield argument.values
            continue
        found = next((value for value in argument.values if isinstance(value, Several)), None)
        if found is None:
            return
        yield from found.elements


def initializer_of(node: ast.ClassDef) -> ast.FunctionDef | None:
    """Return the `__init__` that the body of a class has."""
    return method_of(node, "__init__")


def method_of(node: ast.AST, name: str) -> ast.FunctionDef | None:
    """Return a method that the body of a class has."""
    functions = (each for each in getattr(node, "body", ()) if isinstance(each, ast.FunctionDef))
    return next((function for function in functions if function.name == name), None)


def above(cls: OwnClass) -> OwnClass | None:
    """Return what `super()` is in a class, if that derives from another one of the script's own."""
    constructors = cls.constructors[initializer_of(cls.node) is not None :]
    if not constructors:
        return None
    return replace(cls, constructors=constructors, methods=frozenset(), fields={})
