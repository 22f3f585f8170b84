"""What to do about an old keyword, value or attribute.

Only this module reads the actions of the table. The layer, `modernize`, `doctor`, `explain` and the
scan of new releases carry out a `Decision`, or show it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, NoReturn

from .changes import (
    Action,
    Attribute,
    Configure,
    Convert,
    Default,
    Drop,
    Keep,
    Keyword,
    OtherResults,
    Refuse,
    Rename,
    SetVariable,
    Value,
)
from .errors import LegacyError
from .plain import NOTHING, PlainData
from .wording import LEAVE_OUT, shown

if TYPE_CHECKING:
    from typing import Protocol

    class Caller(Protocol):
        """The call that a keyword is given to; converters read and take its other arguments."""

        arguments: dict[str, Any]

        @property
        def configuration(self) -> str:
            """The name of the configuration that a trainer takes."""


class Unknown:
    """A value that is known only when the script runs."""


UNKNOWN: Final = Unknown()
_CAME_WITH: Mapping[str, Mapping[str, str]] = {
    "processing_class": {"trl": "0.12.0", "transformers": "4.46.0"}
}
"""Keywords that only scripts of these releases and later ones give."""
UNDECIDED = "A person must decide, since the value is known only when the script runs"


class Template:
    """The source of a current value, where the old one is known only when the script runs.

    Args:
        source: with `{value}` for the old value, and names of libraries with dots in braces.
    """

    def __init__(self, source: str) -> None:
        self.source = source


class Decision(PlainData):
    """What to do about an old spelling.

    A current value is the old one, a new one, `UNKNOWN` for the old one, or a `Template`.

    Args:
        advice: what to write, as `write eval_strategy=`; a sentence if the value is refused.
        arguments: current keywords of the same call, and their values.
        settings: fields of the trainer's configuration, and their values.
        environment: environment variables, and their values.
        kept: attributes that the object gets, since no keyword says them.
        by: with dots, the function that makes a trainer's class which applies `kept` without the
            layer; empty if nothing depends on it.
        alone: whether `kept` means something without others.
        because: why nothing replaces it.
        refusal: a sentence that says what to do, if the value has no counterpart.
        undecided: the same, if it depends on a value that is not known.
        to: the current keyword, as the table names it; empty if there is none.
        in_configuration: whether that is a field of the trainer's configuration.
        keeps_value: whether each value stays as it is.
        shows_value: whether messages name the value.
        overruled: whether a value of `to` beside it that is true counts instead.
    """

    advice: str
    arguments: Mapping[str, Any] = NOTHING
    settings: Mapping[str, Any] = NOTHING
    environment: Mapping[str, Any] = NOTHING
    kept: Mapping[str, Any] = NOTHING
    by: str = ""
    alone: bool = True
    because: str = ""
    refusal: str = ""
    undecided: str = ""
    to: str = ""
    in_configuration: bool = False
    keeps_value: bool = False
    shows_value: bool = False
    overruled: bool = False


def decide(row: Keyword, value: Any = UNKNOWN, call: Caller | None = None) -> Decision:
    """Return what to do about an old keyword.

    Args:
        row: the row of the table.
        value: what the script gives; `UNKNOWN` if that is known only when it runs.
        call: the call, from which a converter may take other arguments; needed for a known value.
    """
    action = row.action
    match action:
        case Rename():
            advice = f"write {action.to}="
            return Decision(advice, {action.to: value}, to=action.to, keeps_value=True)
        case Configure():
            return _configure(action, value, call)
        case Convert():
            return _convert(action, value, call)
        case SetVariable():
            return _set_variable(action, value, call)
        case Drop():
            return _drop(action, value, call)
        case Keep():
            return Decision(
                action.advice,
                kept={action.to: value},
                by=action.by,
                alone=action.alone,
                shows_value=True,
            )
        case Refuse():
            return Decision(action.instead, refusal=action.instead)
        case _:
            return never(action)


def _configure(action: Configure, value: Any, call: Caller | None) -> Decision:
    decision = Decision(
        f"write {action.to}= in the configuration of the trainer",
        to=action.to,
        in_configuration=True,
        keeps_value=action.convert is None,
    )
    if value is UNKNOWN:
        if not action.written:
            return decision.replaced(undecided=_as_sentence(decision.advice))
        return decision.replaced(settings={action.to: Template(action.written)})
    if action.convert is None:
        settings: Mapping[str, Any] = {} if value is None else {action.to: value}
    else:
        assert call is not None
        try:
            settings = action.convert(value, call)
        except LegacyError as error:
            return decision.replaced(advice=str(error), refusal=str(error))
    advice = LEAVE_OUT
    if settings and call is not None:
        advice = f"write {call.configuration}({action.to}=…)"
    return decision.replaced(advice=advice, settings=settings)


def _convert(action: Convert, value: Any, call: Caller | None) -> Decision:
    advice = f"write {action.to}" + ("=" if action.to.isidentifier() else "")
    decision = Decision(
        advice if action.to else LEAVE_OUT,
        to=action.to if action.to.isidentifier() else "",
        shows_value=True,
        overruled=action.overruled,
    )
    if value is UNKNOWN:
        if not action.written or (call is not None and action.to in call.arguments):
            return decision.replaced(undecided=_as_sentence(decision.advice))
        return decision.replaced(arguments={action.to: Template(action.written)})
    if value is None and call is not None and call.arguments.get(decision.to) is not None:
        return decision.replaced(advice=LEAVE_OUT)  # None says nothing beside a value
    try:
        arguments = action.convert(value, call)
    except LegacyError as error:
        return decision.replaced(advice=str(error), refusal=str(error))
    written = ", ".join(f"{name}={shown(current)}" for name, current in arguments.items())
    advice = f"write {written}" if written else LEAVE_OUT
    return decision.replaced(advice=advice, arguments=arguments)


def _set_variable(action: SetVariable, value: Any, call: Caller | None) -> Decision:
    if value is None:
        return Decision(LEAVE_OUT)
    for name, readers in action.beside.items():
        given = None if call is None else call.arguments.get(name)
        named = given if isinstance(given, list | tuple) else [given]
        are_texts = all(isinstance(each, str) for each in named)
        if are_texts and set(readers).isdisjoint(named):
            because = f"{name} names nothing that reads it"
            return Decision(f"{LEAVE_OUT}: {because}", because=because)
    advice = f"set the environment variable {action.variable}"
    if value is not UNKNOWN:
        advice = f'write os.environ["{action.variable}"] = {str(value)!r}'
    return Decision(advice, environment={action.variable: value})


def _drop(action: Drop, value: Any, call: Caller | None) -> Decision:
    advice = f"{LEAVE_OUT}: {action.because}"
    if action.unless is None or _is_off(action.switches, call):
        return Decision(advice, because=action.because)
    if value is UNKNOWN:
        return Decision(f"{advice}. {action.instead}", undecided=f"{action.instead} {UNDECIDED}")
    if action.unless(value):
        return Decision(action.instead, refusal=action.instead, shows_value=True)
    return Decision(advice, because=action.because)


def _is_off(switches: tuple[str, ...], call: Caller | None) -> bool:
    """Tell whether other arguments of a call say that a value did nothing."""
    if not switches or call is None:
        return False
    given = [call.arguments.get(name) for name in switches]
    return given[0] is False and not any(given)


def _as_sentence(advice: str) -> str:
    return f"{UNDECIDED}: {advice}"


def undecided(row: Keyword) -> Decision:
    """Return what to do about an old keyword if the other arguments leave its value open."""
    decision = decide(row)
    if decision.undecided or decision.refusal:
        return decision
    return decision.replaced(arguments={}, settings={}, undecided=_as_sentence(decision.advice))


def never(value: NoReturn) -> NoReturn:
    """Let mypy check that no kind of action is left over."""
    raise AssertionError(f"no branch for {value!r}")


def clash(to: str, value: Any, present: Any) -> str:
    """Return what to say if a current keyword is given beside the old one; empty if they agree.

    Args:
        to: the current keyword.
        value: the current value for the old one.
        present: the value given for the current one; None if none is.
    """
    if present is None or value is None or present is value:
        return ""
    is_plain = type(present) is type(value) and isinstance(value, bool | int | float | str)
    if is_plain and present == value:
        return ""
    return f"is {to}= today, which is given too; keep one"


def decide_value(row: Value, value: Any) -> Decision | None:
    """Return what to do about the value of a keyword, or those in a list; None for other values."""
    parts = list(value) if isinstance(value, (list, tuple)) else [value]
    is_old = [_is(part, row.value) for part in parts]
    if not any(is_old):
        return None
    if row.to == "":
        return Decision(row.instead, refusal=row.instead, shows_value=True)
    current: list[Any] = [row.to if old else part for part, old in zip(parts, is_old, strict=True)]
    return Decision(
        f"write {row.name}={row.to!r}",
        {row.name: current if isinstance(value, (list, tuple)) else current[0]},
        shows_value=True,
    )


def _is(value: Any, old: str | None) -> bool:
    plain = value.value if isinstance(value, Enum) else value
    return type(plain) is type(old) and bool(plain == old)


def decide_read(row: Attribute) -> Decision:
    """Return what to do where an old attribute is read; its source is the argument `object`."""
    if row.read is None:
        return Decision(row.advice, refusal=row.advice)
    if not row.written:
        return Decision(row.advice, undecided=row.advice)
    return Decision(row.advice, {"object": Template(row.written)})


def is_relied_on(row: Default, given: Collection[str], value_of: Callable[[str], Any]) -> bool:
    """Tell whether a call relies on a default that has changed, so that a line is due.

    Args:
        row: the row of the table.
        given: the keywords that the call gives, by their old and current names.
        value_of: returns the value of another keyword; None if it has none.
    """
    if row.quiet or row.name in given or (row.needs and not value_of(row.needs)):
        return False
    return not (row.unless and value_of(row.unless))


def is_newer(script: ast.AST, row: Default) -> bool:
    """Tell whether a script uses what came with the last change of a default, or later."""
    from packaging.version import Version

    library, _, changed = row.gone.partition(" ")
    given = {node.arg for node in ast.walk(script) if isinstance(node, ast.keyword)}
    return any(
        Version(changed) <= Version(releases[library])
        for name, releases in _CAME_WITH.items()
        if name in given and library in releases
    )


def gives_other_results(silent: OtherResults, given: Mapping[str, Any]) -> bool:
    """Tell whether a call gives other results than in older releases, as its arguments show."""
    if silent.only and not _has_one(given, silent.only):
        return False
    said = {name for name, value in given.items() if value is not None}
    if silent.given and said.isdisjoint(silent.given):
        return False
    return said.isdisjoint(silent.unless) and not _has_one(given, silent.but)


def _has_one(given: Mapping[str, Any], values: Mapping[str, object]) -> bool:
    return any(
        name in given and (given[name] in value if type(value) is tuple else given[name] == value)
        for name, value in values.items()
    )


def passed_to_configuration(row: Keyword) -> str:
    """Return the field of a trainer's configuration that takes a keyword as it is, if any does."""
    action = row.action
    return action.to if isinstance(action, Configure) and action.convert is None else ""


def of_trainer(row: Keyword, changed: Keyword) -> Keyword:
    """Return the row of a trainer's keyword for a field of its configuration that has changed."""
    action: Action = changed.action
    if isinstance(action, Rename):
        action = Configure(action.to)
    elif isinstance(action, Convert):
        action = Configure(action.to, action.convert, action.written)
    return row.replaced(action=action)


def other_way_round(row: Keyword) -> Keyword | None:
    """Return the row by which an older release takes a current keyword, if there can be one."""
    action = row.action
    if isinstance(action, Rename) or (isinstance(action, Convert) and action.alike):
        return row.replaced(name=action.to, action=Rename(row.name), early=True)
    return None
