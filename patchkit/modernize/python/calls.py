"""Keywords and values of calls that are others today."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from ...legacy.changes import (
    Configure,
    Convert,
    Converter,
    Drop,
    Environment,
    Keep,
    Keyword,
    Order,
    Refuse,
    Rename,
    Value,
)
from ...legacy.versions.due import MethodRows
from ...legacy.wording import since
from ..findings import Finding, Outcome
from ..reading.script import NOT_LITERAL, Call, Given, Holder
from .conversion import WHO, CannotConvertError, Converted, convert, fill
from .dictionaries import may_edit
from .edits import Span, span_of
from .orders import fitting_order
from .plan import Plan
from .standin import rendered

_ELSE = " else None"


class CallPlan:
    """What becomes of the arguments of one call.

    Args:
        plan: the changes of the script.
        call: the call.
        rows: what has changed of it.

    Attributes:
        positional: the arguments by position that stay so.
        settings: what goes to the trainer's configuration, as source.
        is_old: whether something in it had to be fixed.
        added: keywords that it gets.
        kept: what the trainer's class has to see to, as source.
        kept_by: what makes such a class, with dots, and whether it is needed.
        is_kept: whether there is such a trainer.
    """

    def __init__(self, plan: Plan, call: Call, rows: MethodRows) -> None:
        self.plan = plan
        self.call = call
        self.rows = rows
        self.settings: dict[str, str] = {}
        self.is_old = False
        self._moved: list[tuple[Given, Finding]] = []
        self.added: set[str] = set()
        self.kept: dict[str, str] = {}
        self.kept_by: dict[str, bool] = {}
        self.is_kept = False
        self.keywords: dict[str, Given] = dict(call.keywords)
        self._order = fitting_order(call, rows)
        self.positional = call.positional if self._order is None else ()
        if self._order is not None:
            names = self._order.order
            self.keywords = {**dict(zip(names, call.positional, strict=False)), **self.keywords}
        own = call.own.fields if call.own is not None else {}
        self._old = {
            name: rows.keywords[name]
            for name in self.keywords
            if name in rows.keywords and name not in own
        }
        last = call.name.rpartition(".")[2]
        self.name = last if call.method in {"", "__init__"} else f"{last}.{call.method}"
        if call.own is not None:
            self.name = call.own.name

    def translate(self) -> None:
        """Plan for each old keyword what is written in its place."""
        if self._order is not None:
            self._name_positional(self._order)
        for name, row in self._old.items():
            given = self.keywords.get(name)
            if given is not None and self._may_edit(given, name, row):
                self._translate(name, row, given)

    def rename_values(self) -> None:
        """Plan for each old value what is written in its place."""
        for row in self.rows.values:
            given = self.keywords.get(row.name)
            if given is not None:
                self._respell(row, given)

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
        if isinstance(given.holder, ast.Assign) and not isinstance(row.action, Rename):
            old = f"{self.name}({name}=)"
            self.plan.remark(
                given.holder, old, f"{since(row)}; a later line gives it: fix it there"
            )
            return False
        if given.holder is None or may_edit(self.plan, self.call, given.holder, row):
            return True
        self.plan.remark(
            given.node,
            f"{self.name}({name}=)",
            f"{since(row)}; other calls get the dictionary, too",
        )
        return False

    def _translate(self, name: str, row: Keyword, given: Given) -> None:
        action, old = row.action, f"{self.name}({name}=)"
        because = f"it {since(row)}"
        literal = given.value is not NOT_LITERAL
        if isinstance(action, Rename):
            self._rename(name, action.to, given, old, because)
        elif isinstance(action, Configure):
            self._configure(name, action, given, old, because)
        elif isinstance(action, Convert):
            self._convert(name, action, row, given)
        elif isinstance(action, Environment):
            self._to_environment(name, action, given, old, because)
        elif isinstance(action, Keep):
            self._keep(name, action, given, old, because)
        elif isinstance(action, Drop) and action.unless is not None and not literal:
            self.plan.remark(given.node, old, f"{since(row)}. {action.instead} {WHO}")
        elif isinstance(action, Drop) and not (
            literal and action.unless and action.unless(given.value)
        ):
            self.remove(name)
            self.plan.changed(given.node, old, "leave it out", f"{because}: {action.because}")
        elif isinstance(action, Drop | Refuse):
            text = f"{self.name}({name}={self.plan.lines.source(given.node)})"
            self.plan.remark(given.node, text, f"{since(row)}. {action.instead}", Outcome.GONE)

    def _keep(self, name: str, action: Keep, given: Given, old: str, because: str) -> None:
        self.remove(name)
        if not action.by:
            self.plan.changed(given.node, old, "leave it out", f"{because}; {action.advice}")
            return
        self.kept[action.to] = self.plan.lines.source(given.node)
        self.kept_by[action.by] = self.kept_by.get(action.by, False) or action.alone
        new = f"{action.by.rpartition('.')[2]}(…, {action.to}={self.kept[action.to]})"
        self.plan.changed(given.node, old, new, because)

    def _rename(self, name: str, to: str, given: Given, old: str, because: str) -> None:
        other = self.keywords.get(to)
        if other is not None and given.value is None:
            self.remove(name)
        elif other is not None and other.value is not None:
            self.plan.remark(given.node, old, f"is {to}= today, which is given too; keep one")
            return
        else:
            if other is not None:
                self.remove(to)
            self.keywords[to] = self.keywords.pop(name)
            self._call_it(given, to)
        self.is_old = True
        self.plan.changed(given.node, old, f"{to}=", because)

    def _configure(
        self, name: str, action: Configure, given: Given, old: str, because: str
    ) -> None:
        if given.value is NOT_LITERAL or action.convert is not None:
            converter = action.convert or _itself
            converted = self._converted((action.to, converter, action.written), given, name)
            if converted is None:
                return
            sources = dict(converted.sources)
        else:
            source = self.plan.lines.source(given.node)
            sources = {} if given.value is None else {action.to: source}
        self.settings |= sources
        self.remove(name)
        new = _shown(sources)
        place = f"{new} in the configuration" if new else "leave it out"
        self._moved.append((given, self.plan.changed(given.node, old, place, because)))

    def _convert(self, name: str, action: Convert, row: Keyword, given: Given) -> None:
        if self._chain(name, action, row, given):
            return
        converted = self._converted((action.to, action.convert, action.written), given, name)
        if converted is None:
            return
        sources = converted.sources
        if list(sources) == [action.to] and action.to not in self.keywords:
            self._put_in_place(name, action.to, sources[action.to], given)
        else:
            self.remove(name)
            for key, source in sources.items():
                self.put(key, source, given.holder)
        self.is_old = True
        self.plan.changed(
            given.node,
            f"{self.name}({name}=)",
            _shown(sources) or "leave it out",
            f"it {since(row)}",
        )

    def _chain(self, name: str, action: Convert, row: Keyword, given: Given) -> bool:
        """Let two old keywords that say the same today decide one after the other."""
        edits = self.plan.edits.sources
        other = self.keywords.get(action.to)
        place = span_of(other.node) if other is not None else None
        if given.value is not NOT_LITERAL or place not in edits or place is None:
            return False
        if not (edits[place].endswith(_ELSE) and action.written.endswith(_ELSE)):
            return False
        source = fill(self.plan, action.written, given)
        edits[place] = f"{edits[place].removesuffix(_ELSE)} else {source}"
        self.remove(name)
        new = f"{action.to}={edits[place]}"
        self.plan.changed(given.node, f"{self.name}({name}=)", new, f"it {since(row)}")
        return True

    def _put_in_place(self, name: str, to: str, source: str, given: Given) -> None:
        """Give an argument another keyword and value, where it stands."""
        self.keywords[to] = self.keywords.pop(name)
        self._call_it(given, to)
        if source != self.plan.lines.source(given.node):
            self.plan.edits.sources[span_of(given.node)] = source

    def _converted(
        self, action: tuple[str, Converter, str], given: Given, name: str
    ) -> Converted | None:
        """Return what a value is today; None if that is not known, with a remark."""
        others = {key: each for key, each in self.keywords.items() if each is not given}
        try:
            is_method = self.call.method not in {"", "__init__"}
            unknown = others.keys() if is_method else self._old.keys()
            converted = convert(self.plan, action, given, others, frozenset(unknown))
        except CannotConvertError as error:
            row = self._old[name]
            because = f"{since(row)}: {error.because}"
            self.plan.remark(given.node, f"{self.name}({name}=)", because, error.outcome)
            return None
        for taken in converted.taken:
            self.remove(taken)
        return converted

    def _to_environment(
        self, name: str, action: Environment, given: Given, old: str, because: str
    ) -> None:
        if given.value is NOT_LITERAL and self.plan.lines.is_local(given.node):
            gone = because.removeprefix("it ")
            self.plan.remark(given.node, old, f"{gone}: {action.variable} says it; {WHO}")
            return
        self.remove(name)
        if given.value is None:
            self.plan.changed(given.node, old, "leave it out", because)
            return
        source = self.plan.lines.source(given.node)
        is_text = isinstance(given.value, str)
        value = source if is_text else f"str({source})"
        statement = f'os.environ["{action.variable}"] = {value}'
        self.plan.imports.module("os")
        self.plan.edits.before[self.plan.lines.statement(given.node)].append(statement)
        self.plan.changed(given.node, old, statement, because)

    def _respell(self, row: Value, given: Given) -> None:
        parts = given.node.elts if isinstance(given.node, ast.List | ast.Tuple) else [given.node]
        for part in parts:
            if not isinstance(part, ast.Constant) or part.value != row.value:
                continue
            old = f"{self.name}({row.name}={self.plan.lines.source(part)})"
            if row.to:
                self.plan.edits.sources[span_of(part)] = rendered(row.to)
                self.plan.changed(part, old, f'{row.name}="{row.to}"', f"it {since(row)}")
                self.is_old = True
            else:
                because = f"{since(row)}. {row.instead}"
                self.plan.remark(part, old, because, Outcome.GONE)

    def leave(self) -> None:
        """Let what belongs to the configuration stay, since there is no place for it."""
        for given, _ in self._moved:
            self.plan.edits.removed.discard(self._place(given))
        untrue = [finding for _, finding in self._moved]
        self.plan.findings = [each for each in self.plan.findings if each not in untrue]

    def remove(self, name: str) -> None:
        """Take an argument away."""
        given = self.keywords.pop(name)
        self.is_old = True
        self.plan.edits.removed.add(self._place(given))

    def put(self, name: str, source: str, holder: Holder | None = None) -> None:
        """Give an argument, in place of one that is there."""
        self.added.add(name)
        present = self.keywords.get(name)
        if present is not None:
            self.plan.edits.sources[span_of(present.node)] = source
        else:
            self.plan.edits.added[span_of(holder or self.call.node)][name] = source

    def _call_it(self, given: Given, to: str) -> None:
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


def _itself(value: Any, call: Any) -> Mapping[str, Any]:
    raise NotImplementedError  # values that are not known go by their source


def _shown(sources: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={source}" for name, source in sources.items())
