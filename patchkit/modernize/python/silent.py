"""What runs as it is and gives other results than it did."""

from __future__ import annotations

from collections.abc import Mapping

from ...legacy.changes import Default
from ...legacy.converting.defaults import difference
from ...legacy.wording import release
from ..findings import Outcome
from ..reading.script import Given
from .calls import CallPlan
from .plan import Plan


def plan_silent(plan: Plan, call: CallPlan) -> None:
    """Tell of a call what is otherwise than it was, although nobody says so."""
    given = {**call.call.keywords, **call.keywords}
    for row in call.rows.behaviours:
        silent = row.silent
        if silent is None or any(name in given for name in silent.unless):
            continue
        values = {name: each.value for name, each in given.items()}
        if not any(name in values and values[name] == value for name, value in silent.but.items()):
            text = f"since {release(row.gone)} it {silent.told}"
            plan.find(call.call.line, call.name, "", text, Outcome.SILENT)
    if call.call.method != "__init__":
        return
    told = [
        row
        for row in call.rows.defaults.values()
        if row.name not in call.added and _concerns(row, given)
    ]
    if told and call.call.complete:
        text = "; ".join(difference(row) for row in told)
        plan.find(call.call.line, call.name, "", f"{text}; write what is meant", Outcome.SILENT)


def _concerns(row: Default, arguments: Mapping[str, Given]) -> bool:
    if row.quiet or row.name in arguments:
        return False
    if not row.needs:
        return True
    needed = arguments.get(row.needs)
    return needed is not None and needed.value not in (False, None, 0.0)
