"""What runs as it is and gives other results than it did."""

from __future__ import annotations

from ...legacy.call_sites import CallSiteSource
from ...legacy.converting.defaults import difference
from ...legacy.converting.read_as_ids import is_read_as_ids
from ...legacy.decisions import gives_other_results, is_relied_on
from ...legacy.wording import release
from ..findings import ScriptOutcome
from .calls import CallPlan
from .edits import span_of
from .plan import Plan


def plan_silent(plan: Plan, call: CallPlan) -> None:
    """Report for a call behaviour and defaults that changed without an error."""
    given = {name: each.value for name, each in {**call.call.keywords, **call.keywords}.items()}
    for row in call.rows.behaviours:
        if row.silent is not None and gives_other_results(row.silent, given):
            text = f"since {release(row.gone)} it {row.silent.told}"
            if row.silent.raises:
                because = f"{row.silent.told}, since {release(row.gone)}"
                plan.remark(call.call.node, call.name, because)
                continue
            if row.silent.for_ids and call.call.complete:
                source = CallSiteSource(plan.script.tree, plan.script.parents)
                reads_ids = is_read_as_ids(source, call.call.node)
                if reads_ids:
                    plan.edits.added[span_of(call.call.node)][row.silent.for_ids] = "False"
                    new = f"{call.name}({row.silent.for_ids}=False)"
                    plan.changed(call.call.node, call.name, new, text)
                if reads_ids is not None:
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
