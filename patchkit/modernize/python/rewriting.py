"""Rewrite a script: read it, plan the changes, write them."""

from __future__ import annotations

from pathlib import Path

from ...legacy.versions.due import Due
from ..errors import ScriptError
from ..findings import Modernized
from ..reading import read
from ..reading.kinship import packages
from ..reading.reader import parsed
from .attributes import plan_attributes
from .calls import CallPlan
from .classes import plan_classes
from .columns import plan_columns
from .combinations import plan_combinations
from .command_lines import plan_command_line
from .configurations import ConfigurationPlan
from .dictionaries import plan_settings
from .names import plan_names
from .plan import Plan
from .silent import plan_silent
from .standin import argument_list

_IN_TEXT = "is old, and stands in a formatted text; make the object before it"


def modernize(text: str, due: Due, folder: Path | None = None) -> Modernized:
    """Rewrite a script for other releases.

    Args:
        text: the script.
        due: the rows of the table for these releases.
        folder: where the script lies; None if no file that it reads is to be looked into.

    Raises:
        ScriptError: it does not parse, or LibCST is missing.
    """
    plan = planned(text, due, folder)
    if plan.edits:
        text = _write(text, plan)
    findings = sorted(plan.findings, key=lambda finding: finding.line)
    return Modernized(text, findings)


def planned(text: str, due: Due, folder: Path | None = None) -> Plan:
    """Plan what to rewrite; LibCST is not needed for that.

    Raises:
        ScriptError: it does not parse.
    """
    plan = Plan(read(text, folder), due, text)
    plan_names(plan)
    plan_attributes(plan)
    plan_classes(plan)
    _plan_calls(plan)
    plan_settings(plan)
    plan_columns(plan, due)
    return plan


def _plan_calls(plan: Plan) -> None:
    calls: dict[int, CallPlan] = {}
    for call in plan.script.calls:
        rows = plan.rows_of(call)
        if plan.lines.is_in_text(call.node):
            for name in rows.keywords.keys() & call.keywords.keys():
                plan.remark(call.node, f"{call.name}({name}=)", _IN_TEXT)
        elif plan.today(call.name) is not None:
            known = calls.get(id(call.node))
            # A class of a module beside the script has a name there, too.
            if known is None or known.call.name.partition(".")[0] not in packages():
                calls[id(call.node)] = CallPlan(plan, call, rows)
    for planned in calls.values():
        planned.translate()
        planned.rename_values()
    for planned in calls.values():
        plan_combinations(plan, planned, calls)
    for planned in calls.values():
        ConfigurationPlan(plan, planned, calls).make()
    for planned in calls.values():
        if any(planned.kept_by.values()) and not planned.is_kept:
            old = argument_list(planned.kept)
            plan.remark(planned.call.node, old, "truncated what the trainer got; do it there")
        plan_command_line(plan, planned.call)
        plan_silent(plan, planned)


def _write(text: str, plan: Plan) -> str:
    try:
        from .writing import write
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "libcst":
            raise
        raise ScriptError("LibCST is missing, which rewrites scripts; install libcst") from error
    new = write(text, plan.edits)
    try:
        parsed(new)
    except ScriptError as error:
        raise ScriptError(f"it is left alone, as patchkit would break it: {error}") from error
    return new
