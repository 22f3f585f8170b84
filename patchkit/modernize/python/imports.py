"""Names that a script gets from the libraries, besides those that it has."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from ..reading.script import Script
from .edits import NewImport, ScriptEdits, Span, span_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Imports:
    """What a script imports.

    Args:
        today: returns where a name is today.
        statement: returns the place of the statement that a node is in.
    """

    def __init__(
        self,
        script: Script,
        edits: ScriptEdits,
        today: Callable[[str], str | None],
        statement: Callable[[ast.AST], Span],
    ) -> None:
        self._script = script
        self._edits = edits
        self._today = today
        self._statement = statement
        self._bound: dict[tuple[str, str], str] = {}

    def name(self, place: str, at: ast.AST) -> str:
        """Return what the script calls a library's name; import it if it does not have it."""
        module, _, last = place.rpartition(".")
        present = self._present(place, at)
        if present is not None:
            return present
        if (module, last) not in self._bound:
            is_taken = self._script.has_meaning(last) or last in self._bound.values()
            bound = f"{last}_of_{module.partition('.')[0]}" if is_taken else last
            self._bound[module, last] = bound
            self._add(NewImport(module, last, bound), at)
        return self._bound[module, last]

    def has(self, module: str) -> bool:
        """Tell whether the script imports a module at its top."""
        body = self._script.tree.body
        return any(isinstance(each, ast.Import) and _has(each, module) for each in body)

    def module(self, name: str) -> None:
        """Import a module unless the script does so at its top."""
        if self.has(name):
            return
        first = next(self._imports(), None) or next(self._after_docstring())
        waiting = self._edits.before[self._statement(first)]
        if f"import {name}" not in waiting:
            waiting.insert(0, f"import {name}")

    def forget(self, name: str, gone: ast.AST | None = None) -> None:
        """Import a name no more, if all of its uses are replaced, or in a part that goes."""
        tree, within = self._script.tree, set(ast.walk(gone)) if gone is not None else set()
        uses = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and node.id == name and node not in within
        ]
        if not all(span_of(node) in self._edits.sources for node in uses):
            return
        for statement in tree.body:
            if not isinstance(statement, ast.ImportFrom) or not _has(statement, name):
                continue
            if len(statement.names) > 1:
                self._edits.dropped[span_of(statement)].add(name)
            else:
                self._edits.removed.add(span_of(statement))

    def _present(self, place: str, at: ast.AST) -> str | None:
        """Return the name by which a script has something where it is needed."""
        for use in self._script.uses:
            alias, node = use.alias, use.node
            if alias is None or use.module or use.optional or not isinstance(node, ast.ImportFrom):
                continue
            if self._today(use.name) == place and self._reaches(node, at):
                return alias.asname or alias.name
        return None

    def _reaches(self, node: ast.stmt, at: ast.AST) -> bool:
        """Tell whether an import is there for another node."""
        functions = (outer for outer in self._script.around(node) if isinstance(outer, _FUNCTIONS))
        function = next(functions, None)
        return function is None or function in (at, *self._script.around(at))

    def _add(self, new: NewImport, at: ast.AST) -> None:
        """Import a name above where it is needed, and below what may have to come before."""
        line = getattr(at, "lineno", 0)
        above = [statement for statement in self._imports() if statement.lineno <= line] or list(
            self._imports()
        )[:1]
        for statement in above:
            if _is_of(statement, new.module):
                self._edits.extended[span_of(statement)].append(new)
                return
        if any(self._joins(self._statement(statement), new) for statement in above):
            return
        if above:
            self._edits.after[self._statement(above[-1])].append(str(new))
            return
        self._edits.before[self._statement(next(self._after_docstring()))].append(str(new))

    def beside(self, several: Sequence[NewImport], node: ast.ImportFrom) -> None:
        """Import names of one module where another statement imports names of another."""
        module, body = several[0].module, self._script.tree.body
        aliases = list(dict.fromkeys(new.alias for new in several))
        for statement in body[: body.index(node)] if node in body else ():
            if isinstance(statement, ast.ImportFrom) and _is_of(statement, module):
                known = {new.alias for new in self._edits.extended[span_of(statement)]}
                new = [each for each in several if each.alias not in known]
                self._edits.extended[span_of(statement)] += dict.fromkeys(new)
                return
        text = f"from {module} import {', '.join(aliases)}"
        self._edits.after[self._statement(node)].append(text)

    def _joins(self, span: Span, new: NewImport) -> bool:
        """Tell whether a new import of the same module waits at a place, and import it there."""
        waiting = self._edits.after.get(span, [])
        for place, source in enumerate(waiting):
            if source.startswith(f"from {new.module} import "):
                waiting[place] = f"{source}, {new.alias}"
                return True
        return False

    def _imports(self) -> Iterator[ast.Import | ast.ImportFrom]:
        for statement in self._script.tree.body:
            if isinstance(statement, ast.Import | ast.ImportFrom) and not _is_future(statement):
                yield statement

    def _after_docstring(self) -> Iterator[ast.stmt]:
        for statement in self._script.tree.body:
            is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if not is_text and not _is_future(statement):
                yield statement


def _has(statement: ast.stmt, name: str) -> bool:
    names = statement.names if isinstance(statement, ast.Import | ast.ImportFrom) else ()
    return any(alias.name == name and alias.asname is None for alias in names)


def _is_of(statement: ast.stmt, module: str) -> bool:
    """Tell whether a statement imports names of a module, and not all of them."""
    return (
        isinstance(statement, ast.ImportFrom)
        and statement.module == module
        and not statement.level
        and statement.names[0].name != "*"
    )


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
