"""Carry changes out on LibCST's tree of a script; all else stays byte for byte."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from typing import Any

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from ..errors import ScriptError
from . import arguments
from .edits import ITSELF, NewImport, ScriptEdits, Span


def write(text: str, edits: ScriptEdits) -> str:
    """Return a script with changes made.

    Raises:
        ScriptError: LibCST does not parse it, or a change has no place in its tree.
    """
    text, end = _without_end(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    text += newline
    try:
        module = cst.parse_module(text)
    except (cst.ParserSyntaxError, RecursionError) as error:
        raise ScriptError(f"LibCST cannot parse it: {str(error).splitlines()[0]}") from error
    positions = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    writer = _Writer(edits, positions, lines, module)
    new = module.visit(writer)
    missing = writer.missing()
    if missing:
        raise ScriptError(f"line {min(missing)[0]}: patchkit found no place for a change there")
    return _carried_over(text, module.code, new.code).removesuffix(newline) + end


def _without_end(text: str) -> tuple[str, str]:
    """Split off what follows the last line of code: LibCST loses blanks and comments there."""
    lines = text.splitlines(keepends=True)
    while lines and lines[-1].strip()[:1] in {"", "#"}:
        lines.pop()
    code = "".join(lines).rstrip("\r\n")
    return code, text[len(code) :]


def _carried_over(text: str, before: str, after: str) -> str:
    """Return a text with the lines that changed.

    LibCST loses form feeds.

    Args:
        text: what LibCST was given.
        before: the same as LibCST gives it back.
        after: that with the changes.

    Raises:
        ScriptError: LibCST loses more than blanks.
    """
    if text == before:
        return after
    lines, former, new = text.split("\n"), before.split("\n"), after.split("\n")
    if [line.strip() for line in lines] != [line.strip() for line in former]:
        raise ScriptError("LibCST does not give it back as it is, so it is left alone")
    result: list[str] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, former, new, autojunk=False).get_opcodes():
        result += lines[i1:i2] if tag == "equal" else new[j1:j2]
    return "\n".join(result)


def _is_explained(statement: cst.SimpleStatementLine) -> bool:
    """Tell whether an import has a comment, which stays."""
    comments = [line.comment for line in statement.leading_lines]
    has_one = statement.trailing_whitespace.comment is not None or any(comments)
    return isinstance(statement.body[0], cst.ImportFrom) and has_one


class _Writer(cst.CSTTransformer):
    """Make changes while the tree is walked."""

    def __init__(
        self, edits: ScriptEdits, positions: Any, lines: Sequence[str], module: cst.Module
    ) -> None:
        super().__init__()
        self._edits = edits
        self._positions = positions
        self._lines = lines
        self._module = module
        self._done: set[tuple[str, Span]] = set()
        self._handlers: dict[type, Callable[[Any, Any], Any]] = {
            cst.Arg: self._argument,
            cst.Call: self._call,
            cst.Dict: self._dictionary,
            cst.List: self._list,
            cst.FunctionDef: self._function,
            cst.ImportFrom: self._import,
            cst.Param: self._parameter,
        }

    def missing(self) -> set[Span]:
        """Return the places of changes that were not made."""
        return {
            span
            for what, changes in vars(self._edits).items()
            for span in changes
            if (what, span) not in self._done
        }

    def _span(self, node: cst.CSTNode) -> Span:
        place = self._positions[node]
        return (
            place.start.line,
            self._in_bytes(place.start.line, place.start.column),
            place.end.line,
            self._in_bytes(place.end.line, place.end.column),
        )

    def _in_bytes(self, line: int, column: int) -> int:
        text = self._lines[line - 1]
        return column if text.isascii() else len(text[:column].encode())

    def _take(self, what: str, span: Span) -> Any:
        changes = getattr(self._edits, what)
        if span not in changes:
            return None
        self._done.add((what, span))
        return changes[span] if isinstance(changes, dict) else True

    def on_leave(self, original: Any, updated: Any) -> Any:
        handle = self._handlers.get(type(original))
        changed = updated if handle is None else handle(original, updated)
        if isinstance(original, cst.BaseExpression) and isinstance(changed, cst.BaseExpression):
            source = self._take("sources", self._span(original))
            if source is not None:
                inner = changed.with_changes(lpar=[], rpar=[])
                new = arguments.expression(
                    source.replace(ITSELF, self._module.code_for_node(inner))
                )
                return new.with_changes(
                    lpar=[*changed.lpar, *new.lpar], rpar=[*new.rpar, *changed.rpar]
                )
        if isinstance(original, cst.If) and self._take("removed", self._span(original)):
            return cst.RemoveFromParent()
        if isinstance(original, cst.With) and self._take("removed", self._span(original)):
            first, *others = changed.body.body
            above = [*changed.leading_lines, *first.leading_lines]
            return cst.FlattenSentinel([first.with_changes(leading_lines=above), *others])
        if isinstance(original, cst.SimpleStatementLine) and self._take(
            "removed", self._span(original)
        ):
            self._take("remarks", self._span(original))
            return self._statement(
                self._span(original), changed, is_gone=not _is_explained(changed)
            )
        if isinstance(original, cst.SimpleStatementLine | cst.BaseCompoundStatement):
            return self._statement(self._span(original), changed)
        return changed

    def _statement(self, span: Span, changed: Any, is_gone: bool = False) -> Any:
        if not isinstance(changed, cst.SimpleStatementLine | cst.BaseCompoundStatement):
            return changed
        remarks = self._take("remarks", span)
        before, after = self._take("before", span), self._take("after", span)
        statements: list[Any] = [self._parsed(source) for source in before or ()]
        if statements:
            statements[0] = statements[0].with_changes(leading_lines=changed.leading_lines)
            is_function = isinstance(changed, cst.FunctionDef)
            between = [cst.EmptyLine(indent=False)] if is_function else []
            changed = changed.with_changes(leading_lines=between)
        if remarks:
            lines = [cst.EmptyLine(indent=True, comment=cst.Comment(text)) for text in remarks]
            changed = changed.with_changes(leading_lines=[*changed.leading_lines, *lines])
        statements += [changed, *(self._parsed(source) for source in after or ())]
        if is_gone:
            statements.remove(changed)
            if not statements:
                return cst.RemoveFromParent()
            statements[0] = statements[0].with_changes(leading_lines=changed.leading_lines)
        return cst.FlattenSentinel(statements) if len(statements) > 1 else statements[0]

    def _parsed(self, source: str) -> Any:
        return cst.parse_statement(source, self._module.config_for_parsing)

    def _argument(self, original: cst.Arg, updated: cst.Arg) -> cst.Arg:
        name = self._take("keywords", self._span(original))
        if not name:
            return updated
        equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
        if original.keyword is not None and isinstance(updated.equal, cst.AssignEqual):
            equal = updated.equal
        return updated.with_changes(keyword=cst.Name(name), equal=equal)

    def _call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        gone = [bool(self._take("removed", self._span(part))) for part in original.args]
        stays = [bool(self._take("staying", self._span(part))) for part in original.args]
        more = self._take("added", self._span(original)) or {}
        comments = self._take("comments", self._span(original)) or {}
        if not more and not any(gone):
            return updated
        new = [
            arguments.keyword_argument(name, source, comments.get(name))
            for name, source in more.items()
        ]
        opening = updated.whitespace_before_args
        args, opening = arguments.rearranged(updated.args, gone, new, opening, stays)
        return updated.with_changes(args=args, whitespace_before_args=opening)

    def _dictionary(self, original: cst.Dict, updated: cst.Dict) -> cst.Dict:
        gone, elements = [], list[Any]()
        for part, changed in zip(original.elements, updated.elements, strict=True):
            key = self._span(part.key) if isinstance(part, cst.DictElement) else None
            gone.append(key is not None and bool(self._take("removed", key)))
            name = self._take("keys", key) if key is not None else None
            if name:
                quote = part.key.quote if isinstance(part.key, cst.SimpleString) else '"'  # type: ignore
                changed = changed.with_changes(key=cst.SimpleString(f"{quote}{name}{quote}"))
            elements.append(changed)
        new = arguments.entries(self._take("added", self._span(original)) or {})
        lbrace = updated.lbrace
        elements, opening = arguments.rearranged(
            elements, gone, new, lbrace.whitespace_after, [False] * len(elements)
        )
        lbrace = lbrace.with_changes(whitespace_after=opening)
        return updated.with_changes(elements=elements, lbrace=lbrace)

    def _list(self, original: cst.List, updated: cst.List) -> cst.List:
        gone = [bool(self._take("removed", self._span(part.value))) for part in original.elements]
        if not any(gone):
            return updated
        lbracket = updated.lbracket
        opening = lbracket.whitespace_after
        elements, opening = arguments.rearranged(updated.elements, gone, [], opening)
        lbracket = lbracket.with_changes(whitespace_after=opening)
        return updated.with_changes(elements=elements, lbracket=lbracket)

    def _import(self, original: cst.ImportFrom, updated: cst.ImportFrom) -> Any:
        span = self._span(original)
        dropped = self._take("dropped", span) or set()
        extended: list[NewImport] = self._take("extended", span) or []
        module = self._take("modules", span)
        if module and module.startswith("import "):
            return self._parsed(module).body[0]
        if module:
            place = cst.parse_expression(module)
            updated = updated.with_changes(module=place)
        names = updated.names
        if isinstance(names, cst.ImportStar) or not (dropped or extended):
            return updated
        kept = [alias for alias in names if self._module.code_for_node(alias.name) not in dropped]
        if not kept and not extended:
            return cst.RemoveFromParent()
        return _with_names(updated, names, kept, extended)

    def _function(self, original: cst.FunctionDef, updated: cst.FunctionDef) -> cst.FunctionDef:
        span = self._span(original)
        new = updated
        parameters = self._take("parameters", span)
        if parameters:
            parsed = cst.parse_statement(f"def f({', '.join(parameters)}): pass")
            assert isinstance(parsed, cst.FunctionDef)
            params = arguments.added(new.params.params, list(parsed.params.params))
            new = new.with_changes(params=new.params.with_changes(params=params))
        first = self._take("first", span)
        if first and isinstance(new.body, cst.IndentedBlock):
            body = list(new.body.body)
            has_docstring = new.get_docstring() is not None
            statements = [self._parsed(source) for source in first]
            body[has_docstring:has_docstring] = statements
            new = new.with_changes(body=new.body.with_changes(body=body))
        return new

    def _parameter(self, original: cst.Param, updated: cst.Param) -> cst.Param:
        name = self._take("renamed_parameters", self._span(original.name))
        return updated.with_changes(name=cst.Name(name)) if name else updated


def _with_names(
    node: cst.ImportFrom, names: Sequence[cst.ImportAlias], kept: Any, extended: list[NewImport]
) -> cst.ImportFrom:
    gone = [alias not in kept for alias in names]
    new = [cst.ImportAlias(cst.Name(added.name), _as(added)) for added in extended]
    opening = getattr(node.lpar, "whitespace_after", None)
    staying, opening = arguments.rearranged(names, gone, new, opening)
    if staying and node.lpar is None and not isinstance(staying[-1].comma, cst.MaybeSentinel):
        staying[-1] = staying[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    if node.lpar is not None:
        node = node.with_changes(lpar=node.lpar.with_changes(whitespace_after=opening))
    return node.with_changes(names=staying)


def _as(new: NewImport) -> cst.AsName | None:
    return None if new.name == new.bound else cst.AsName(cst.Name(new.bound))
