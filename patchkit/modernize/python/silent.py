"""What runs as it is and gives other results than it did."""

from __future__ import annotations

from ...legacy.converting.defaults import difference
from ...legacy.decisions import gives_other_results, is_relied_on
from ...legacy.wording import release
from ..findings import ScriptOutcome
from .calls import CallPlan
from .plan import Plan


def plan_silent(plan: Plan, call: CallPlan) -> None:
    """Report for a call behaviour and defaults that changed without an error."""
    given = {name: each.value for name, each in {**call.call.keywords, **call.keywords}.items()}
    for row in call.rows.behaviours:
        if row.silent is not None and gives_other_results(row.silent, given):
            text = f"since {release(row.gone)} it {row.silent.told}"
            if row.silent.raises:
                plan.remark(call.call.node, call.name, text)
                continue
            plan.find(call.call.line, call.name, "", text, ScriptOutcome.SILENT)
    if call.call.method != "__init__":
        return
    told = [
        row
        for row in call.rows.defaults.values()
        if is_relied_on(row, {*call.added, *given}, given.get(row.needs))
    ]
    if told and call.call.complete:
        text = "; ".join(difference(row) for row in told)
        plan.find(
            call.call.line, call.name, "", f"{text}; write what is meant", ScriptOutcome.SILENT
        )
