"""Keywords and values of calls that have other names today."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from ...legacy.call_sites import called
from ...legacy.changes import Keyword, Order, Value
from ...legacy.converting.order import METRICS, OPTIMIZERS, fitting
from ...legacy.decisions import UNDECIDED, UNKNOWN, Decision, Template, clash, decide, decide_value
from ...legacy.versions.due import MethodRows
from ...legacy.wording import LEAVE_OUT, since
from ..findings import ScriptFinding, ScriptOutcome
from ..reading.kinship import ancestors
from ..reading.script import Given, Holder, ScriptCall
from ..reading.settings_files import READERS
from ..reading.values import Constant, Made, flat
from .conversion import as_value, decide_in_source, fill, source_of
from .dictionaries import may_edit
from .edits import Span, span_of
from .plan import Plan
from .settings import ONLY_READ
from .standin import argument_list, rendered

_ELSE = " else None"
_POSITIONAL = {
    "transformers.TrainingArguments": "args",
    "datasets.Dataset": "train_dataset",
    "transformers.PreTrainedTokenizerBase": "tokenizer",
    "transformers.PreTrainedModel": "model",
    "peft.PeftModel": "model",
    "peft.LoraConfig": "peft_config",
}
"""Classes of arguments that show which parameter is meant."""


class CallPlan:
    """What to do with the arguments of one call.

    Attributes:
        positional: the arguments by position that stay so.
        settings: what goes to the trainer's configuration, as source.
        is_old: whether something in it had to be fixed.
        added: keywords that it gets.
        kept: what the trainer's class has to follow, as source.
        kept_by: what makes such a class, with dots, and whether it is needed.
        is_kept: whether there is such a trainer.
    """

    def __init__(self, plan: Plan, call: ScriptCall, rows: MethodRows) -> None:
        self.plan = plan
        self.call = call
        self.rows = rows
        self.settings: dict[str, str] = {}
        self._comments: dict[str, tuple[str, Span]] = {}
        self.is_old = False
        self._moved: list[tuple[Given, ScriptFinding]] = []
        self.added: set[str] = set()
        self.kept: dict[str, str] = {}
        self.kept_by: dict[str, bool] = {}
        self.is_kept = False
        self._of_files = {name: each for name, each in call.keywords.items() if each.file}
        self.keywords: dict[str, Given] = {
            name: each for name, each in call.keywords.items() if not each.file
        }
        self._order = _fitting_order(call, rows)
        self.positional = call.positional if self._order is None else ()
        if self._order is not None:
            names = self._order.order
            self.keywords = {**dict(zip(names, call.positional, strict=False)), **self.keywords}
        own = call.own
        self._old = {
            name: rows.keywords[name]
            for name in self.keywords
            if name in rows.keywords and not (own is not None and own.takes(name))
        }
        self.name = call.title if call.own is None else call.own.name

    def translate(self) -> None:
        """Plan for each old keyword what is written in its place."""
        if self._order is not None:
            self._name_positional(self._order)
        for name, row in self._old.items():
            given = self.keywords.get(name)
            if given is not None and self._may_edit(given, name, row):
                self._translate(name, row, given)
        if self.rows.keywords:
            self._report_files()

    def rename_values(self) -> None:
        """Plan for each old value what is written in its place."""
        for row in self.rows.values:
            first = None if self.call.method else next(iter(self.positional), None)
            given = self.keywords.get(row.name, first)
            if given is not None:
                for constant in _constants(given):
                    self._rename_value(row, given, constant)

    def _name_positional(self, row: Order) -> None:
        """Give keywords to arguments that are in an old order."""
        names = row.order[: len(self.call.positional)]
        for name, given in zip(names, self.call.positional, strict=False):
            self.plan.edits.keywords[span_of(given.node)] = name
        shown = ", ".join(f"{name}=…" for name in names)
        old = f"the order of the arguments of {self.name}"
        self.plan.changed(self.call.node, old, f"{self.name}({shown})", f"it {since(row)}")
        self.is_old = True

    def _may_edit(self, given: Given, name: str, row: Keyword) -> bool:
        """Tell whether an argument is this call's alone; leave a remark if it is not."""
        old = f"{self.name}({name}=)"
        if isinstance(given.holder, ast.Assign) and not _is_renamed(row):
            decision = decide(row)
            what = decision.advice or decision.refusal
            self.plan.remark(given.holder, old, f"{since(row)}; {what}")
            return False
        if given.holder is None or may_edit(self.plan, self.call, given.holder, row):
            return True
        because = f"{since(row)}; {decide(row).advice}, but see who else gets the dictionary"
        self.plan.remark(given.node, old, because)
        return False

    def _translate(self, name: str, row: Keyword, given: Given) -> None:
        others = {key: each for key, each in self.keywords.items() if each is not given}
        is_method = self.call.method not in {"", "__init__"}
        unknown = others.keys() if is_method else self._old.keys()
        if self._chain(name, row, given):
            return
        decision, taken = decide_in_source(self.plan, row, given, others, unknown)
        old = f"{self.name}({name}=)"
        if decision.refusal:
            text = f"{self.name}({name}={self.plan.lines.source(given.node)})"
            self.plan.refuse(given.node, text, row, decision.refusal)
            return
        reason = decision.undecided
        is_local = given.value is UNKNOWN and self.plan.lines.is_local(given.node)
        if decision.environment and is_local:
            reason = f"{UNDECIDED}: {decision.advice}"
        because = f"{since(row)}. {reason}" if reason else ""
        because = because or self._contradiction(decision, given, taken)
        if because:
            self.plan.remark(given.node, old, because)
            return
        for other in taken:
            self.remove(other)
        if decision.kept and not decision.by and name not in ONLY_READ and given.value is not None:
            self.remove(name)
            because = f"{since(row)}; {decision.advice.removeprefix(f'{LEAVE_OUT}: ')}"
            left_out = f"left out: {name}={self.plan.lines.source(given.node)}"
            self.plan.find(given.node.lineno, old, "", because, ScriptOutcome.REMARKED)
            self.plan.put_remark(given.node, f"{left_out} {because}")
            return
        self._carry_out(name, decision, given, old, f"it {since(row)}")

    def _contradiction(self, decision: Decision, given: Given, taken: frozenset[str]) -> str:
        """Say that an old keyword and a current one contradict each other; nothing if not."""
        for to, value in decision.arguments.items():
            present = self.keywords.get(to)
            if present is None or to in taken:
                continue
            current = as_value(self.plan, given) if value is UNKNOWN else value
            if reason := clash(to, current, as_value(self.plan, present)):
                return reason
        return ""

    def _carry_out(
        self, name: str, decision: Decision, given: Given, old: str, because: str
    ) -> None:
        """Write what a decision says."""
        self.is_old = True
        new = self._pass(name, decision, given)
        if not new:
            self.remove(name)
        moved = self._sources(decision.settings, given)
        self.settings |= moved
        comment = self.plan.lines.comment_behind(given.keyword) if given.keyword else ""
        if len(moved) == 1 and comment:
            self._comments[next(iter(moved))] = comment, self._place(given)
            self.plan.edits.staying.add(self._place(given))
        for variable in decision.environment:
            new = self._set_variable(variable, given)
        if decision.by:
            new = self._keep(decision, given)
        if decision.because:
            because = f"{because}: {decision.because}"
        if moved:
            new = f"{argument_list(moved)} in the configuration"
        finding = self.plan.changed(given.node, old, new or LEAVE_OUT, because)
        if decision.in_configuration:
            self._moved.append((given, finding))

    def _sources(self, values: Mapping[str, Any], given: Given) -> dict[str, str]:
        return {name: source_of(self.plan, value, given) for name, value in values.items()}

    def _pass(self, name: str, decision: Decision, given: Given) -> str:
        """Give the current keywords; return them in words, empty if there are none."""
        sources = self._sources(decision.arguments, given)
        for to in sources.keys() & self.keywords.keys():
            present = self.keywords[to]
            if decision.arguments[to] is None or present.value is not None:
                sources.pop(to)  # it says the same, or the old keyword says nothing
            else:
                self.remove(to)
        if len(sources) == 1:
            ((to, source),) = sources.items()
            self.keywords[to] = self.keywords.pop(name)
            self._rename(given, to)
            if source != self.plan.lines.source(given.node):
                self.plan.edits.sources[span_of(given.node)] = source
        elif sources:
            self.remove(name)
            for to, source in sources.items():
                self.put(to, source, given.holder)
        elif decision.arguments and name in self.keywords:
            self.remove(name)
            return ", ".join(f"{to}=" for to in decision.arguments)
        return f"{decision.to}=" if decision.keeps_value and sources else argument_list(sources)

    def _keep(self, decision: Decision, given: Given) -> str:
        """Let the trainer's class follow a value that no keyword takes; return that in words.

        Nothing needs to follow None, which limits nothing.
        """
        ((to, value),) = decision.kept.items()
        if value is None:
            return ""
        self.kept[to] = source_of(self.plan, value, given)
        self.kept_by[decision.by] = self.kept_by.get(decision.by, False) or decision.alone
        return f"{decision.by.rpartition('.')[2]}(…, {to}={self.kept[to]})"

    def _set_variable(self, variable: str, given: Given) -> str:
        """Set an environment variable before the call; return the statement."""
        source = self.plan.lines.source(given.node)
        value = source if _is_text(given) else f"str({source})"
        statement = f'os.environ["{variable}"] = {value}'
        self.plan.imports.module("os")
        comment = self.plan.lines.comment_behind(given.keyword) if given.keyword else ""
        before = self.plan.edits.before[self.plan.lines.statement(given.node)]
        before.append(f"{statement}  {comment}" if comment else statement)
        return statement

    def _chain(self, name: str, row: Keyword, given: Given) -> bool:
        """Let two old keywords that say the same today decide one after the other."""
        for to, template in decide(row).arguments.items():
            edits = self.plan.edits.sources
            other = self.keywords.get(to)
            place = span_of(other.node) if other is not None else None
            if given.value is not UNKNOWN or place not in edits or place is None:
                continue
            written = template.source if isinstance(template, Template) else ""
            if edits[place].endswith(_ELSE) and written.endswith(_ELSE):
                source = fill(self.plan, written, given)
                edits[place] = f"{edits[place].removesuffix(_ELSE)} else {source}"
                self.remove(name)
                new = f"{to}={edits[place]}"
                old = f"{self.name}({name}=)"
                self.plan.changed(given.node, old, new, f"it {since(row)}")
                return True
        return False

    def _rename_value(self, row: Value, given: Given, constant: Constant) -> None:
        node = constant.node
        decision = decide_value(row, node.value) if isinstance(node, ast.Constant) else None
        if decision is None:
            return
        is_here = given.node in (node, *self.plan.script.around(node))
        old = f"{self.name}({row.name}={self.plan.lines.source(node)})"
        if decision.refusal:
            is_sure = constant.surely and len(given.values) < 2
            outcome = ScriptOutcome.GONE if is_sure else ScriptOutcome.REMARKED
            self.plan.remark(given.node, old, f"{since(row)}. {decision.refusal}", outcome)
        elif is_here or self._is_only_for(node, given):
            new = rendered(decision.arguments[row.name])
            self.plan.edits.sources[span_of(node)] = new
            self.plan.changed(node, old, f"{row.name}={new}", f"it {since(row)}")
            self.is_old = True
        else:
            self.plan.remark(given.node, old, f"{since(row)}; {decision.advice}")

    def _is_only_for(self, constant: ast.expr, given: Given) -> bool:
        """Tell whether a variable, field or entry has a constant for one argument alone."""
        parents = self.plan.script.parents
        holder = parents.get(constant)
        if isinstance(holder, ast.keyword) and holder.arg == "default":
            holder = parents.get(parents[holder])
        if isinstance(holder, ast.Dict):
            reads = self._reads_of_entry(holder, constant)
            return len(reads) == 1 and reads[0] is given.node
        if isinstance(holder, ast.Assign) and len(holder.targets) == 1:
            target = holder.targets[0]
        elif isinstance(holder, ast.AnnAssign):
            target = holder.target
        else:
            return False
        name = target.id if isinstance(target, ast.Name) else None
        reads = [
            node
            for node in ast.walk(self.plan.script.tree)
            if (isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load))
            or (isinstance(node, ast.Attribute) and node.attr == name)
        ]
        return name is not None and len(reads) == 1 and reads[0] is given.node

    def _reads_of_entry(self, holder: ast.Dict, constant: ast.expr) -> list[ast.expr]:
        """Return where an entry of a variable's dictionary is read, if only its items are used."""
        parents = self.plan.script.parents
        statement, key = parents.get(holder), holder.keys[holder.values.index(constant)]
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not isinstance(target, ast.Name) or not isinstance(key, ast.Constant):
            return []
        reads: list[ast.expr] = []
        for node in ast.walk(self.plan.script.tree):
            if isinstance(node, ast.Name) and node.id == target.id and node is not target:
                item = parents.get(node)
                if not isinstance(item, ast.Subscript) or not isinstance(item.slice, ast.Constant):
                    return []
                if item.slice.value == key.value:
                    reads.append(item)
        return reads

    def _report_files(self) -> None:
        """Report settings that come from a file, which may be another script's, too."""
        for name, given in self._of_files.items():
            if name in self.rows.keywords:
                row = self.rows.keywords[name]
                decision, _ = decide_in_source(self.plan, row, given, {})
                because = f"{since(row)}; {decision.advice}"
                self.plan.remark(given.node, f"{self.name}({name}=) of {given.file}", because)
        if self._of_files:
            return
        for keyword in self.call.node.keywords:
            if keyword.arg is None and _is_read(self.plan.script.tree, keyword.value):
                old = f"{self.name}(**{self.plan.lines.source(keyword.value)})"
                because = "its settings come from a file; look for old names there"
                self.plan.find(keyword.value.lineno, old, "", because, ScriptOutcome.SILENT)

    def leave(self) -> None:
        """Undo the moves to the configuration, since the call has no place for one."""
        for given, _ in self._moved:
            self.plan.edits.removed.discard(self._place(given))
        untrue = [finding for _, finding in self._moved]
        self.plan.findings = [each for each in self.plan.findings if each not in untrue]

    def take_comment(self, name: str) -> str:
        """Return the comment behind what goes to the configuration, which goes along."""
        comment, place = self._comments.pop(name, ("", None))
        if place is not None:
            self.plan.edits.staying.discard(place)
        return comment

    def remove(self, name: str) -> None:
        """Take an argument away."""
        given = self.keywords.pop(name)
        self.is_old = True
        self.plan.edits.removed.add(self._place(given))

    def put(self, name: str, source: str, holder: Holder | None = None, comment: str = "") -> None:
        """Give an argument, in place of one that is there."""
        self.added.add(name)
        present = self.keywords.get(name)
        if present is not None:
            self.plan.edits.sources[span_of(present.node)] = source
        else:
            self.plan.edits.added[span_of(holder or self.call.node)][name] = source
            if comment:
                self.plan.edits.comments[span_of(holder or self.call.node)][name] = comment

    def _rename(self, given: Given, to: str) -> None:
        """Give an argument another keyword."""
        edits = self.plan.edits
        if isinstance(given.holder, ast.Assign):
            edits.sources[self._place(given)] = f'"{to}"'
            return
        names = edits.keys if isinstance(given.holder, ast.Dict) else edits.keywords
        names[self._place(given)] = to

    @staticmethod
    def _place(given: Given) -> Span:
        """Return where an argument is: its keyword and value, or the key in a dictionary."""
        if given.keyword is not None:
            return span_of(given.keyword)
        if isinstance(given.holder, ast.Assign):
            target = given.holder.targets[0]
            assert isinstance(target, ast.Subscript)
            return span_of(target.slice)
        if not isinstance(given.holder, ast.Dict):
            return span_of(given.node)
        position = given.holder.values.index(given.node)
        key = given.holder.keys[position]
        assert key is not None
        return span_of(key)


def _fitting_order(call: ScriptCall, rows: MethodRows) -> Order | None:
    """Return the old order of the arguments of a call; None if the current one may be meant."""
    if not rows.orders or len(call.positional) < 2:
        return None
    parameters = [_parameter(given) for given in call.positional]
    return fitting(parameters, rows.orders[0].today, rows.orders)


def _parameter(given: Given) -> str | None:
    """Return the parameter that a value is an argument of; None if any might be."""
    if isinstance(given.value, float):
        return "beta"
    if isinstance(given.value, str):
        return "loss_type"
    if isinstance(given.node, ast.Tuple):
        return OPTIMIZERS
    if isinstance(given.node, ast.Name) and given.node.id in (METRICS, OPTIMIZERS):
        return given.node.id
    for value in given.values:
        if isinstance(value, Made):
            known = (_POSITIONAL.get(name) for name in ancestors(value.class_name))
            return next((name for name in known if name is not None), None)
    return None


def _is_text(given: Given) -> bool:
    """Tell whether an argument is surely a text."""
    node = given.node
    is_joined = isinstance(node, ast.Call) and ast.unparse(node.func) == "os.path.join"
    return isinstance(given.value, str) or isinstance(node, ast.JoinedStr) or is_joined


def _is_renamed(row: Keyword) -> bool:
    decision = decide(row)
    return decision.keeps_value and not decision.in_configuration


def _constants(given: Given) -> Iterator[Constant]:
    """Yield the literals that an argument may be, and those in a list."""
    if isinstance(given.node, ast.List | ast.Tuple):
        yield from (Constant(node) for node in given.node.elts)
    elif isinstance(given.node, ast.Constant):
        yield Constant(given.node)
    else:
        yield from (value for value in flat(given.values) if isinstance(value, Constant))


def _is_read(tree: ast.Module, node: ast.expr) -> bool:
    """Tell whether an expression is, or is part of, what the script reads from a file."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    if isinstance(node, ast.Call):
        return called(node) in READERS
    return isinstance(node, ast.Name) and any(
        isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Call)
        and any(
            isinstance(target, ast.Name) and target.id == node.id for target in statement.targets
        )
        and _is_read(tree, statement.value)
        for statement in ast.walk(tree)
    )
