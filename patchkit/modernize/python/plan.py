"""The changes of one script, as they are found: edits, findings, and names to import."""

from __future__ import annotations

import ast

from ...legacy.changes import Attribute, Change
from ...legacy.places import public_place
from ...legacy.versions.due import Due, MethodRows
from ...legacy.wording import since
from ..findings import ScriptFinding, ScriptOutcome
from ..reading.kinship import ancestors
from ..reading.script import Script, ScriptCall
from .edits import ITSELF, ScriptEdits, span_of
from .imports import Imports
from .lines import Lines
from .scoping import Bindings

Placed = ast.expr | ast.stmt | ast.keyword


class Plan:
    """What is to be done with a script."""

    def __init__(self, script: Script, due: Due, text: str) -> None:
        self.script = script
        self.due = due
        self.edits = ScriptEdits()
        self.findings: list[ScriptFinding] = []
        self.bindings = Bindings(script.tree, script.parents)
        self.lines = Lines(text, script, self.edits.sources)
        self.imports = Imports(script, self.edits, self.today, self.lines.statement)

    def find(
        self, line: int, old: str, new: str, because: str, outcome: ScriptOutcome
    ) -> ScriptFinding:
        """Note what was found."""
        finding = ScriptFinding(line, old, new, because, outcome)
        if finding not in self.findings:
            self.findings.append(finding)
        return finding

    def changed(self, node: Placed, old: str, new: str, because: str) -> ScriptFinding:
        """Note a change that is made."""
        return self.find(node.lineno, old, new, because, ScriptOutcome.CHANGED)

    def remark(
        self,
        node: Placed,
        old: str,
        because: str,
        outcome: ScriptOutcome = ScriptOutcome.REMARKED,
    ) -> None:
        """Put a remark above the statement that a node is in, and note it."""
        self.find(node.lineno, old, "", because, outcome)
        self.put_remark(node, f"{old} {because}")

    def refuse(self, node: Placed, old: str, row: Change, refusal: str) -> None:
        """Put a remark above a statement that cannot run, and note it."""
        self.remark(node, old, f"{since(row)}. {refusal}", ScriptOutcome.GONE)

    def put_remark(self, node: ast.AST, text: str) -> None:
        """Put a remark above a statement, unless it is there."""
        place = self.lines.statement(node)
        comment = f"# patchkit: {' '.join(text.split())}"
        if comment not in self.lines.comments_above(place):
            remarks = self.edits.remarks[place]
            if comment not in remarks:
                remarks.append(comment)

    def rows_of(self, call: ScriptCall) -> MethodRows:
        """Return the rows for what is called."""
        today = self.today(call.name) or call.name
        named = (call.name,) if call.method else (today,)
        public = ancestors(*(call.own.ancestors if call.own is not None else named))
        method = call.method
        former = self.attributes_of(call.name).get(method) if method else None
        if former is not None and former.written == "{object}":
            method = "__call__"  # the object itself is called today
        return self.due.of_call(public, method) or MethodRows()

    def attributes_of(self, owner: str) -> dict[str, Attribute]:
        """Return the rows for the attributes of a class, by name."""
        return self.due.attributes(ancestors(owner))

    def today(self, name: str) -> str | None:
        """Return where a name or module is today: the same, another place, or None if gone."""
        found = self.due.places.find(name)
        return name if found is None else public_place(found.place) or None

    def spell(self, name: str, at: ast.AST, near: ScriptCall | None = None) -> str:
        """Return how the script can write a library's name, and import it if that is needed.

        Args:
            name: the name, with dots, where it was first; where it is today is looked up.
            at: the node that needs it.
            near: a call that may show how the library is written.
        """
        place = self.today(name) or name
        function = near.node.func if near is not None and near.own is None else None
        if isinstance(function, ast.Attribute) and near is not None:
            module, _, last = place.rpartition(".")
            if near.name.rpartition(".")[0] == module:
                return f"{self.lines.source(function.value)}.{last}"
        return self.imports.name(place, at)

    def wrap(self, node: ast.expr, source: str) -> None:
        """Put an expression into a larger one.

        Args:
            node: the expression.
            source: the larger one, with `ITSELF` for what it is or has become.
        """
        span = span_of(node)
        self.edits.sources[span] = source.replace(ITSELF, self.edits.sources.get(span, ITSELF))
