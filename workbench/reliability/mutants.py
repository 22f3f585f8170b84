"""Change Python source at random so that it stays valid, as releases and formatters might."""

from __future__ import annotations

import ast
import random
import re
import textwrap
import warnings
from collections.abc import Callable

CLASHES = (
    "_normed",
    "_dtype_given",
    "_input_of_layer",
    "_weight_of_layer",
    "input_dtype",
    "torch",
    "getattr",
    "filter",
    "args",
    "self",
    "é",
    "_\N{FULLWIDTH LATIN SMALL LETTER N}ormed",  # Python reads it as `_normed`
)
STATEMENTS = (
    "pass",
    "_normed = 1",
    "_dtype_given = None",
    "_input_of_layer = _weight_of_layer = 0",
    "global _normed",
    "for _input_of_layer in (): pass",
    "import torch",
    "import os as _weight_of_layer",
    "print('é…𝄞', \"x\")",
    "text = '''\nself.lm_head(x)\n\f return self.weight * x\n'''",
    "text = f'{self.lm_head(self)} é'",
    "def _normed(x, /, *, y=1): return self.weight * x",
    "class _normed: weight = 1",
    "late = lambda x: self.lm_head(x)",
    "many = [self.lm_head(x) for x in ()]",
    "many = {self.lm_head(_x): 1 for _x in self.lm_head(())}",
    "assert True, ('é' 'ü')",
    "with open('é') as _normed: pass",
    "try: pass\nexcept OSError as _normed: pass",
    "getattr = 1",
    "x: int = 1; y = 2",
    "if (_n := 1): self.lm_head(_n)",
    "return",
    "del self",
    "match self:\n    case _normed: pass",
    "yield",
    "await self",
)
AROUND_EXPRESSIONS = (
    "(%s)",
    "((%s))",
    "(%s if self else None)",
    "(lambda: %s)()",
    "[%s for _ in (1,)][0]",
    "[_ for _ in %s]",
    "print('é…', %s)",
    "f'é{%s}'",
    "(yield %s)",
    "(await %s)",
    "(_found := %s)",
    "(%s + 1)",
    "(not %s)",
    "{**%s}",
    "{'é': %s}['é']",
    "(%s  # é\n )",
    "(\n%s\n)",
    "'é'.join(%s)",
)
DECORATORS = ("@staticmethod", "@print(\n  'é',\n)", "@(lambda f: f)", "@torch.no_grad()  # é")

Mutation = Callable[[str, random.Random], str]


def mutated(text: str, chance: random.Random) -> str | None:
    """A file after up to four mutations; None where none of some tries gave valid source."""
    for _ in range(8):
        changed = text
        for _ in range(chance.choice((1, 1, 2, 3, 4))):
            try:
                changed = chance.choice(MUTATIONS)(changed, chance)
            except (SyntaxError, ValueError, IndexError, AttributeError, RecursionError):
                continue
        if changed != text and is_valid(changed):
            return changed
    return None


def is_valid(text: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "<mutant>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError):
            return False
    return True


def _offsets(text: str) -> list[int]:
    offsets = [0]
    for line in text.encode().split(b"\n"):
        offsets.append(offsets[-1] + len(line) + 1)
    return offsets


def _replaced(text: str, node: ast.AST, new: Callable[[str], str]) -> str:
    offsets, data = _offsets(text), text.encode()
    start = offsets[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
    end = offsets[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
    inner = data[start:end].decode()
    return data[:start].decode() + new(inner) + data[end:].decode()


def _nodes(text: str, *kinds: type[ast.AST]) -> list[ast.AST]:
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]


def _statement(text: str, chance: random.Random) -> ast.stmt:
    """A statement of the function, not of what stands around it."""
    function = _function(text)
    return chance.choice([node for node in ast.walk(function) if isinstance(node, ast.stmt)][1:])


def _function(text: str) -> ast.FunctionDef | ast.AsyncFunctionDef:
    return next(
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    )


def _indented(statement: str, column: int) -> str:
    first, *others = statement.split("\n")
    return "\n".join([first, *(" " * column + line for line in others)])


def insert_line(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    line = chance.choice(("", "# é… self.lm_head(x)", "\f", "    # return self.weight * x", "\t"))
    lines.insert(chance.randrange(1, len(lines)), line)
    return "\n".join(lines)


def append_comment(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    lines[at] += chance.choice(("  # é", "  ", "\t# type: ignore", ";", " \f"))
    return "\n".join(lines)


def insert_space(text: str, chance: random.Random) -> str:
    places = [match.end() for match in re.finditer(r"[=+*(,\[.:]|\b(?:return|in|not|if)\b", text)]
    at = chance.choice(places)
    return (
        text[:at] + chance.choice((" ", "  ", "\t", "\n", " \\\n", "\f", "\n\n # é\n")) + text[at:]
    )


def remove_space(text: str, chance: random.Random) -> str:
    places = [match.start() for match in re.finditer(r"(?<=\S) (?=\S)", text)]
    at = chance.choice(places)
    return text[:at] + text[at + 1 :]


def insert_statement(text: str, chance: random.Random) -> str:
    statement, new = _statement(text, chance), chance.choice(STATEMENTS)
    column = statement.col_offset
    if chance.random() < 0.3 and "\n" not in new and not new.startswith(("def", "class", "for")):
        return _replaced(text, statement, lambda old: f"{new}; {old}")
    new = _indented(new, column)
    return _replaced(text, statement, lambda old: f"{new}\n{' ' * column}{old}")


def append_statement(text: str, chance: random.Random) -> str:
    statement, new = _statement(text, chance), chance.choice(STATEMENTS)
    column = statement.col_offset
    if chance.random() < 0.3 and "\n" not in new:
        return _replaced(text, statement, lambda old: f"{old}; {new}")
    new = _indented(new, column)
    return _replaced(text, statement, lambda old: f"{old}\n{' ' * column}{new}")


def remove_statement(text: str, chance: random.Random) -> str:
    return _replaced(text, _statement(text, chance), lambda _: "pass")


def repeat_statement(text: str, chance: random.Random) -> str:
    statement = _statement(text, chance)
    return _replaced(text, statement, lambda old: f"{old}\n{' ' * statement.col_offset}{old}")


def swap_statements(text: str, chance: random.Random) -> str:
    bodies = [
        node.body
        for node in _nodes(text, ast.If, ast.For, ast.With, ast.FunctionDef)
        if len(node.body) > 1
    ]  # type: ignore[attr-defined]
    body = chance.choice(bodies)
    at = chance.randrange(len(body) - 1)
    first, second = (
        ast.get_source_segment(text, statement) or "" for statement in body[at : at + 2]
    )
    return _replaced(_replaced(text, body[at + 1], lambda _: first), body[at], lambda _: second)


def wrap_statement(text: str, chance: random.Random) -> str:
    statement = _statement(text, chance)
    header, footer = chance.choice(
        (
            ("if self:", ""),
            ("try:", "finally: pass"),
            ("with self:", ""),
            ("for _ in ():", ""),
            ("while self:", "else: pass"),
            ("def inner():", ""),
            ("class Inner:", ""),
            ("async def inner():", ""),
        )
    )
    column = " " * statement.col_offset

    def wrap(old: str) -> str:
        simple = "\n" not in old and not isinstance(statement, (ast.If, ast.For, ast.With))
        if simple and chance.random() < 0.4:
            return f"{header} {old}" + (f"\n{column}{footer}" if footer else "")
        shifted = textwrap.indent(f"{column}{old}", "    ")
        return f"{header}\n{shifted}" + (f"\n{column}{footer}" if footer else "")

    return _replaced(text, statement, wrap)


def swap_operands(text: str, chance: random.Random) -> str:
    node = chance.choice(_nodes(text, ast.BinOp))
    assert isinstance(node, ast.BinOp)
    left = ast.get_source_segment(text, node.left) or ""
    right = ast.get_source_segment(text, node.right) or ""
    text = _replaced(text, node.right, lambda _: left)
    return _replaced(text, node.left, lambda _: right)


def wrap_expression(text: str, chance: random.Random) -> str:
    kinds = (ast.Call, ast.BinOp, ast.Compare, ast.Name, ast.Attribute, ast.BoolOp)
    node = chance.choice(_nodes(text, *kinds))
    form = chance.choice(AROUND_EXPRESSIONS)
    return _replaced(text, node, lambda old: form.replace("%s", old))


def break_expression(text: str, chance: random.Random) -> str:
    """Put another operation in the place of a name or an attribute."""
    node = chance.choice(_nodes(text, ast.Name, ast.Attribute))
    form = chance.choice(
        (
            "(%s + self)",
            "(%s or self)",
            "(%s if self else 1)",
            "(-%s)",
            "(not %s)",
            "(%s,)",
            "(%s @ é)",
            "self.é[%s]",
            "%s.é",
            "(\n%s)",
            "(%s)",
        )
    )
    return _replaced(text, node, lambda old: form.replace("%s", old))


def rename(text: str, chance: random.Random) -> str:
    names = sorted(
        {node.id for node in _nodes(text, ast.Name)}  # type: ignore[attr-defined]
        | {node.arg for node in _nodes(text, ast.arg)}
    )  # type: ignore[attr-defined]
    old, new = chance.choice(names), chance.choice((*CLASHES, *names))
    return re.sub(rf"(?<![\w.]){re.escape(old)}\b", new, text)


def rename_once(text: str, chance: random.Random) -> str:
    match = chance.choice(list(re.finditer(r"(?<![\w'\"])[A-Za-z_]\w*", text)))
    return text[: match.start()] + chance.choice(CLASHES) + text[match.end() :]


def change_parameters(text: str, chance: random.Random) -> str:
    parameters = _function(text).args
    nodes = [*parameters.posonlyargs, *parameters.args]
    if not nodes or parameters.posonlyargs:
        return text
    node = chance.choice(nodes)
    form = chance.choice(("%s, /", "%s, é", "%s, _normed=1", "%s, *, torch=None", "%s, getattr=1"))
    return _replaced(text, node, lambda old: form.replace("%s", old))


def make_async(text: str, chance: random.Random) -> str:
    return _replaced(
        text, _function(text), lambda old: re.sub(r"\bdef ", "async def ", old, count=1)
    )


def decorate(text: str, chance: random.Random) -> str:
    function = _function(text)
    column = " " * function.col_offset
    new = _indented(chance.choice(DECORATORS), function.col_offset)
    return _replaced(text, function, lambda old: f"{new}\n{column}{old}")


def nest(text: str, chance: random.Random) -> str:
    """Put the whole into a function, a class, an `if`."""
    header = chance.choice(("def outer(é, torch2=None):", "class Outer:", "if True:", "try:"))
    footer = "\nfinally:\n    pass\n" if header == "try:" else ""
    # An import inside of `outer` would be another variable than the module's.
    if not text.startswith("import torch\n"):
        raise ValueError
    text = text.removeprefix("import torch\n").strip("\n")
    return f"import torch\n{header}\n" + textwrap.indent(text, "    ") + "\n" + footer


def use_tabs(text: str, chance: random.Random) -> str:
    return re.sub(
        r"^(?:    )+", lambda match: "\t" * (len(match[0]) // 4), text, flags=re.MULTILINE
    )


def use_form_feeds(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    for _ in range(3):
        at = chance.randrange(len(lines))
        lines[at] = "\f" + lines[at]
    return "\n".join(lines)


def use_carriage_returns(text: str, chance: random.Random) -> str:
    if chance.random() < 0.5:
        return text.replace("\n", "\r\n")
    parts = text.split("\n")
    return "".join(part + chance.choice(("\n", "\r", "\r\n", "\n")) for part in parts)


def mark_bytes(text: str, chance: random.Random) -> str:
    return chance.choice(("\ufeff", "# -*- coding: latin-1 -*-\n", "")) + text


def end_without_newline(text: str, chance: random.Random) -> str:
    return text.rstrip("\n")


def write_below(text: str, chance: random.Random) -> str:
    return text + chance.choice(("'''é\n\nx'''\n", "\fX = 1\n", "# é\n", "    # é\n", "(\n1)\n"))


MUTATIONS: tuple[Mutation, ...] = (
    *(insert_line, append_comment, insert_space, insert_space, remove_space),
    *(insert_statement, insert_statement, append_statement, remove_statement, repeat_statement),
    *(swap_statements, wrap_statement, wrap_statement, swap_operands, swap_operands),
    *(wrap_expression, wrap_expression, break_expression, break_expression),
    *(rename, rename, rename_once, change_parameters, change_parameters, make_async),
    *(decorate, nest, use_tabs, use_form_feeds, use_carriage_returns, mark_bytes),
    *(end_without_newline, write_below),
)
