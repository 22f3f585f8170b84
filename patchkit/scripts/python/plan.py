"""The changes of one script, as they are found: edits, findings, and names to import."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable

from ...legacy.changes import Gone, Moved
from ...legacy.due import Due
from ..findings import Finding, Outcome
from ..reading.script import Call, Script
from .edits import ITSELF, Edits, NewImport, span_of
from .scoping import Bindings

_BUILTINS = frozenset(dir(builtins))


class Plan:
    """What is to be done with a script.

    Args:
        script: what it names.
        due: what has changed.
        text: its source.
    """

    def __init__(self, script: Script, due: Due, text: str) -> None:
        self.script = script
        self.due = due
        self.edits = Edits()
        self.findings: list[Finding] = []
        self.moved = {row.name: row for row in due.of(Moved)}
        self.gone = {row.name: row for row in due.of(Gone)}
        self.bindings = Bindings(script.tree, script.parents)
        self._lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._imported: dict[tuple[str, str], str] = {}

    def source(self, node: ast.expr) -> str:
        """Return the text of an expression, with what is replaced in it."""
        span = span_of(node)
        inner = [
            (place, source)
            for place, source in self.edits.sources.items()
            if span[:2] <= place[:2] and place[2:] <= span[2:]
        ]
        parts: list[str] = []
        here = span[:2]
        for place, source in sorted(inner):
            if here <= place[:2]:
                parts += [self._between(here, place[:2]), source]
                here = place[2:]
        return "".join([*parts, self._between(here, span[2:])])

    def _between(self, begin: tuple[int, int], end: tuple[int, int]) -> str:
        lines = [line.encode() for line in self._lines[begin[0] - 1 : end[0]]]
        lines[-1] = lines[-1][: end[1]]
        lines[0] = lines[0][begin[1] :]
        return b"\n".join(lines).decode()

    def in_parentheses(self, node: ast.expr) -> str:
        """Return the text of an expression so that it can stand in a larger one."""
        text = self.source(node)
        simple = (ast.Name, ast.Attribute, ast.Call, ast.Constant, ast.Subscript)
        return text if isinstance(node, simple) else f"({text})"

    def indentation(self, node: ast.Call) -> str | None:
        """Return the indentation of the arguments of a call, if they have lines of their own."""
        parts = sorted(
            [*node.args, *(keyword.value for keyword in node.keywords)], key=lambda it: it.lineno
        )
        for part in parts:
            line = self._lines[part.lineno - 1]
            if part.lineno > node.lineno:
                return line[: len(line) - len(line.lstrip())]
        return None

    def statement(self, node: ast.AST) -> ast.stmt:
        """Return the statement that a node is in, which begins a line."""
        here: ast.AST = node
        while True:
            while not isinstance(here, ast.stmt):
                here = self.script.parents[here]
            line = self._lines[here.lineno - 1].encode()
            begins = not line[: here.col_offset].strip() and not line.strip().startswith(b"elif")
            parent = self.script.parents.get(here)
            if begins or parent is None or isinstance(parent, ast.Module):
                return here
            here = parent

    def find(self, line: int, old: str, new: str, because: str, outcome: Outcome) -> None:
        """Note what was found."""
        finding = Finding(line, old, new, because, outcome)
        if finding not in self.findings:
            self.findings.append(finding)

    def changed(
        self, node: ast.expr | ast.stmt | ast.keyword, old: str, new: str, because: str
    ) -> None:
        """Note a change that is made."""
        self.find(node.lineno, old, new, because, Outcome.CHANGED)

    def remark(
        self,
        node: ast.expr | ast.stmt | ast.keyword,
        old: str,
        because: str,
        outcome: Outcome = Outcome.REMARKED,
    ) -> None:
        """Put a remark above the statement that a node is in, and note it."""
        self.find(node.lineno, old, "", because, outcome)
        remarks = self.edits.remarks[span_of(self.statement(node))]
        text = " ".join(f"{old} {because}".split())
        if text not in remarks:
            remarks.append(text)

    def today(self, name: str) -> str | None:
        """Return where a name or module is today: the same, another place, or None if gone.

        Args:
            name: its place in the script, with dots.
        """
        parts = name.split(".")
        for end in range(len(parts), 1, -1):
            place = ".".join(parts[:end])
            row = self.moved.get(place)
            if row is not None and not self.is_gone(row.to):
                return ".".join([row.to, *parts[end:]])
            if place in self.gone:
                return None
        return name

    def is_gone(self, place: str) -> bool:
        """Tell whether a name, or a module that it is in, is gone for good."""
        parts = place.split(".")
        return any(".".join(parts[:end]) in self.gone for end in range(2, len(parts) + 1))

    def row_of(self, name: str) -> Moved | Gone | None:
        """Return the row that says what became of a name."""
        parts = name.split(".")
        for end in range(len(parts), 1, -1):
            place = ".".join(parts[:end])
            row = self.moved.get(place)
            if row is not None and not self.is_gone(row.to):
                return row
            if place in self.gone:
                return self.gone[place]
        return None

    def spell(self, name: str, near: Call | None = None) -> str:
        """Return how the script can write a library's name, and import it if that is needed.

        Args:
            name: the name, with dots, where it was first; where it is today is looked up.
            near: a call that may show how the library is written.
        """
        place = self.today(name) or name
        module, _, last = place.rpartition(".")
        if near is not None and isinstance(near.node.func, ast.Attribute) and near.own is None:
            base = near.node.func.value
            if near.name.rpartition(".")[0] == module and near.method == "__init__":
                return f"{self.source(base)}.{last}"
        return self.imported(module, last)

    def imported(self, module: str, name: str, bound: str = "") -> str:
        """Return the name by which a script has a library's name; import it if it has not.

        Args:
            module: where it is today.
            name: what it is there.
            bound: what the script calls it; it may have another name if that is taken.
        """
        key = module, name
        if key in self._imported:
            return self._imported[key]
        for use in self.script.uses:
            alias, node = use.alias, use.node
            if alias is None or use.module or use.optional or not isinstance(node, ast.ImportFrom):
                continue
            if self.today(use.name) == f"{module}.{name}" and self._is_outer(node):
                self._imported[key] = alias.asname or alias.name
                return self._imported[key]
        bound = bound or name
        if bound in self.script.bound or bound in _BUILTINS or bound in self._imported.values():
            bound = f"{name}_of_{module.partition('.')[0]}"
        self._imported[key] = bound
        self._add_import(NewImport(module, name, bound))
        return bound

    def _add_import(self, new: NewImport) -> None:
        last: ast.stmt | None = None
        for statement in self.script.tree.body:
            if isinstance(statement, ast.ImportFrom) and statement.module == new.module:
                names = [alias.name for alias in statement.names]
                if names != ["*"] and not statement.level:
                    self.edits.extended[span_of(statement)].append(new)
                    return
            if isinstance(statement, ast.Import | ast.ImportFrom):
                last = statement
        if last is not None:
            self.edits.after[span_of(self.statement(last))].append(str(new))
            return
        first = next(iter(self._after_docstring()), None)
        if first is not None:
            self.edits.before[span_of(first)].append(str(new))

    def import_module(self, name: str) -> None:
        """Import a module unless the script does so at its top."""
        for statement in self.script.tree.body:
            if isinstance(statement, ast.Import):
                for alias in statement.names:
                    if alias.name == name and alias.asname is None:
                        return
        text = f"import {name}"
        body = self.script.tree.body
        imports = [
            it
            for it in body
            if isinstance(it, ast.Import | ast.ImportFrom)
            and getattr(it, "module", "") != "__future__"
        ]
        first = imports[0] if imports else next(iter(self._after_docstring()))
        waiting = self.edits.before[span_of(self.statement(first))]
        if text not in waiting:
            waiting.append(text)

    def _after_docstring(self) -> Iterable[ast.stmt]:
        for statement in self.script.tree.body:
            is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            is_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
            if not is_text and not is_future:
                yield statement

    def _is_outer(self, node: ast.stmt) -> bool:
        """Tell whether an import is there for the whole script."""
        parent = self.script.parents.get(node)
        while isinstance(parent, ast.If | ast.Try | ast.With):
            parent = self.script.parents.get(parent)
        return isinstance(parent, ast.Module)

    def wrap(self, node: ast.expr, source: str) -> None:
        """Put an expression into a larger one.

        Args:
            node: the expression.
            source: the larger one, with `ITSELF` for what it is or has become.
        """
        span = span_of(node)
        self.edits.sources[span] = source.replace(ITSELF, self.edits.sources.get(span, ITSELF))

    def forget(self, name: str) -> None:
        """Import a name no more, if all of its uses are replaced."""
        uses = [
            node
            for node in ast.walk(self.script.tree)
            if isinstance(node, ast.Name) and node.id == name
        ]
        if not all(span_of(node) in self.edits.sources for node in uses):
            return
        for statement in self.script.tree.body:
            if isinstance(statement, ast.ImportFrom) and len(statement.names) > 1:
                for alias in statement.names:
                    if alias.name == name and alias.asname is None:
                        self.edits.dropped[span_of(statement)].add(name)
