"""What runs as it is and gives other results than it did."""

from __future__ import annotations

from ...legacy.changes import Default
from ...legacy.defaults import difference
from ...legacy.wording import release
from ..findings import Outcome
from .calls import CallPlan
from .plan import Plan


def plan_silent(plan: Plan, call: CallPlan) -> None:
    """Tell of a call what is otherwise than it was, although nobody says so."""
    for row in call.rows.behaviours:
        silent = row.silent
        if silent is None or any(name in call.keywords for name in silent.unless):
            continue
        values = {name: given.value for name, given in call.keywords.items()}
        if not any(name in values and values[name] == value for name, value in silent.but.items()):
            text = f"it {silent.told}; until {release(row.gone)}"
            plan.find(call.call.line, call.name, "", text, Outcome.SILENT)
    if call.call.method != "__init__":
        return
    told = [row for row in call.rows.defaults.values() if _concerns(row, call)]
    if told and call.call.complete:
        text = "; ".join(difference(row) for row in told)
        plan.find(call.call.line, call.name, "", f"{text}; write what is meant", Outcome.SILENT)


def _concerns(row: Default, call: CallPlan) -> bool:
    if row.quiet or row.name in call.keywords:
        return False
    if not row.needs:
        return True
    needed = call.keywords.get(row.needs)
    return needed is not None and needed.value not in (False, None, 0.0)
