"""Read the messages of `raise` statements from Python files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class RaisedMessage:
    """What a statement raises.

    Args:
        file: below the folder of installed libraries.
        function: the function that has the statement; empty for a module.
        type: the class of the error.
        message: the text, with what is computed in braces.
    """

    file: str
    function: str
    type: str
    message: str

    @property
    def library(self) -> str:
        return self.file.partition("/")[0]

    def example(self) -> str:
        """Return a message as a user may see it."""
        return re.sub(r"\{([^{}]*)\}", lambda hole: _example(hole[1]), self.message)


def messages(folder: Path, library: str) -> Iterator[RaisedMessage]:
    """Yield what the files of a library raise.

    Args:
        folder: that of installed libraries.
        library: as it is imported.
    """
    for file in sorted((folder / library).rglob("*.py")):
        try:
            tree = ast.parse(file.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue
        yield from _of_tree(tree, str(file.relative_to(folder)), "")


def _of_tree(tree: ast.AST, file: str, function: str) -> Iterator[RaisedMessage]:
    said: dict[str, str] = {}
    for node in _own_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _of_tree(node, file, getattr(node, "name", function))
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            said[node.targets[0].id] = _text(node.value)
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            parts = [
                said.get(part.id, "") if isinstance(part, ast.Name) else _text(part)
                for part in node.exc.args
            ]
            if any(parts):
                name = ast.unparse(node.exc.func)
                yield RaisedMessage(file, function, name, " ".join(" ".join(parts).split()))
        elif isinstance(node, ast.Assert) and node.msg is not None and (text := _text(node.msg)):
            yield RaisedMessage(file, function, "AssertionError", " ".join(text.split()))


def _own_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function or module in their order, without those of inner functions."""
    for node in ast.iter_child_nodes(tree):
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _own_nodes(node)


def _text(node: ast.expr) -> str:
    """Return the text of an expression, with what is computed in braces; empty if it has none."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else _hole(part)
            for part in node.values
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = [(side, _text(side)) for side in (node.left, node.right)]
        return (
            "".join(said or _hole(side) for side, said in sides)
            if any(said for _, said in sides)
            else ""
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return re.sub(r"%[sdrf]", "{value}", _text(node.left))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _text(node.func.value) if node.func.attr in ("format", "strip") else ""
    return ""


def _hole(node: ast.expr) -> str:
    inner = node.value if isinstance(node, ast.FormattedValue) else node
    return "{" + re.sub(r"[{}]", "", ast.unparse(inner)) + "}"


def _example(expression: str) -> str:
    """Return what may stand where an expression is computed."""
    if "dtype" in expression.lower():
        return "torch.float16"
    if re.search(r"len\(|num|size|count|bits|rank|shape|length|steps|version", expression.lower()):
        return "3"
    return "something"
