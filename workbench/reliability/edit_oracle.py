"""Say whether an edit did more than it should, without the code that made it.

Nothing of the rewriter is used: texts are cut as bytes, and trees are those of whole files.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from types import CodeType

Place = tuple[tuple[int, int], tuple[int, int], str]
"""An edit: its beginning and its end, line and byte column, and the new text."""

_OPERATORS = (ast.BinOp, ast.BoolOp, ast.IfExp, ast.Compare, ast.UnaryOp, ast.Lambda, ast.Await)


def wrongs(
    before: str, after: str, edits: Sequence[Place], line: int, *, rebinds: bool
) -> Iterator[str]:
    """Yield what is wrong with an edited file; nothing where all is well.

    Args:
        before: the text of the file.
        after: the text with the edits in it.
        edits: what was to be changed.
        line: where the function that was edited begins, its decorators included.
        rebinds: whether an edit means to bind names that the function has.
    """
    if before.count("\n") != after.count("\n"):
        yield "the number of lines changed"
        return
    if not _is_same_outside(before, after, edits):
        yield "bytes outside of the edits changed"
    try:
        old, new = ast.parse(before), ast.parse(after)
        compile(after, "<edited>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        yield f"the edited file does not compile: {error}"
        return
    yield from _differences(old, new, edits)
    if not rebinds:
        replaced = set(re.findall(r"\w+", " ".join(_replaced_text(before, edits))))
        for name in _names_taken(_function_at(old, line), _function_at(new, line)):
            if name not in replaced:  # or it only stands twice where it stood once
                yield f"the name {name} was in use"
    yield from _operators_lost(old, new, edits)


def code_at(module: CodeType, name: str, line: int) -> CodeType | None:
    """Return the code of a function in that of its module."""
    for const in module.co_consts:
        if isinstance(const, CodeType):
            if (const.co_name, const.co_firstlineno) == (name, line):
                return const
            if code := code_at(const, name, line):
                return code
    return None


def _is_same_outside(before: str, after: str, edits: Sequence[Place]) -> bool:
    starts = [0]
    for line in before.encode().split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    old, new = before.encode(), after.encode()
    place, at = 0, 0
    for (row, column), (end_row, end_column), text in sorted(edits):
        start, end = starts[row - 1] + column, starts[end_row - 1] + end_column
        stretch = old[place:start]
        if new[at : at + len(stretch)] != stretch:
            return False
        at += len(stretch)
        # A space may keep words apart.
        if new[at : at + 1] == b" " and not text.startswith(" "):
            at += 1
        if new[at : at + len(text.encode())] != text.encode():
            return False
        at += len(text.encode())
        if new[at : at + 1] == b" " and old[end : end + 1] != b" ":
            at += 1
        place = end
    return new[at:] == old[place:]


def _differences(old: ast.AST, new: ast.AST, edits: Sequence[Place]) -> Iterator[str]:
    """Yield where two trees differ, though nothing was edited there."""
    if ast.dump(old) == ast.dump(new):
        return
    if type(old) is not type(new) or isinstance(old, (ast.Constant, ast.Name)):
        if not _is_edited(old, edits):
            yield f"{ast.unparse(old)!r} became {ast.unparse(new)!r}"
        elif isinstance(old, ast.Constant) and isinstance(old.value, (str, bytes)):
            yield f"text was edited: {ast.unparse(old)!r}"
        return
    if _is_edited(old, edits) and ast.dump(old) in map(ast.dump, ast.walk(new)):
        return  # something was put around it
    for field in old._fields:
        before, after = getattr(old, field, None), getattr(new, field, None)
        if isinstance(before, ast.AST) and isinstance(after, ast.AST):
            yield from _differences(before, after, edits)
        elif isinstance(before, list) and isinstance(after, list):
            yield from _list_differences(old, before, after, edits)
        elif before != after and not _is_edited(old, edits):
            yield f"{field} of {type(old).__name__} changed: {before!r} became {after!r}"


def _list_differences(
    parent: ast.AST, old: list[object], new: list[object], edits: Sequence[Place]
) -> Iterator[str]:
    if len(old) == len(new):
        for before, after in zip(old, new, strict=True):
            if isinstance(before, ast.AST) and isinstance(after, ast.AST):
                yield from _differences(before, after, edits)
            elif before != after:
                yield f"{before!r} in {type(parent).__name__} became {after!r}"
        return
    dumps = [
        [ast.dump(node) if isinstance(node, ast.AST) else repr(node) for node in nodes]
        for nodes in (old, new)
    ]
    matcher = difflib.SequenceMatcher(None, *dumps, autojunk=False)
    for kind, first, last, begin, end in matcher.get_opcodes():
        if kind == "equal":
            continue
        for node in [*old[first:last], *new[begin:end]]:
            if not (isinstance(node, ast.AST) and _is_edited(node, edits, lines=True)):
                yield f"{kind} in {type(parent).__name__}, away from any edit"


def _is_edited(node: ast.AST, edits: Sequence[Place], *, lines: bool = False) -> bool:
    """Tell whether an edit touches a node; of one that may have moved, its lines."""
    first, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
    if first is None or last is None:
        return True
    start, end = (first, node.col_offset), (last, node.end_col_offset)  # type: ignore[attr-defined]
    if lines:
        start, end = (first, 0), (last, 10**9)
    return any(start <= finish and begin <= end for begin, finish, _ in edits)


def _names_taken(old: ast.AST, new: ast.AST) -> Iterator[str]:
    """Yield names bound more often than before that the function used already."""
    known = set(_names(old, bound=False))
    more = Counter(_names(new, bound=True)) - Counter(_names(old, bound=True))
    for name in more:
        if name in known:
            yield name


def _replaced_text(before: str, edits: Sequence[Place]) -> Iterator[str]:
    lines = before.encode().splitlines(keepends=True)
    for (row, column), (end_row, end_column), _ in edits:
        stretch = lines[row - 1 : end_row]
        if stretch:
            stretch[-1] = stretch[-1][:end_column]
            stretch[0] = stretch[0][column:]
        yield b"".join(stretch).decode(errors="replace")


def _function_at(tree: ast.AST, line: int) -> ast.AST:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and line == min(
            [node.lineno, *(decorator.lineno for decorator in node.decorator_list)]
        ):
            # The names of its own scope, so without the one that it has outside.
            return ast.Module([*node.body, ast.Expr(ast.Lambda(node.args, ast.Tuple([])))], [])
    raise LookupError(line)


def _names(tree: ast.AST, *, bound: bool) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=context):
                if not bound or not isinstance(context, ast.Load):
                    yield name
            case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=other):
                yield other or name.partition(".")[0]
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                yield name


def _operators_lost(old: ast.AST, new: ast.AST, edits: Sequence[Place]) -> Iterator[str]:
    """Yield operations that stood in a replaced stretch, and are other ones afterwards.

    `(a + b).to(d)` must not become `a + b.to(d)`.
    """
    after: Counter[str] = Counter()
    for node in ast.walk(new):
        if isinstance(node, _OPERATORS):
            after[ast.dump(node)] += 1
    for node in ast.walk(old):
        if _is_part_of_a_pattern(node):
            continue
        if isinstance(node, _OPERATORS) and not after[ast.dump(node)]:
            start = node.lineno, node.col_offset
            end = node.end_lineno or 0, node.end_col_offset or 0
            if any(
                begin <= start and end <= finish and text.strip() != "pass"
                for begin, finish, text in edits
            ):
                yield f"{ast.unparse(node)!r} was taken apart"


def _is_part_of_a_pattern(node: ast.AST) -> bool:
    """Match `1.0 - alpha`, which `trl-reference-sync-half-precision` computes elsewhere."""
    match node:
        case ast.BinOp(left=ast.Constant(value=1.0), op=ast.Sub()):
            return True
    return False
