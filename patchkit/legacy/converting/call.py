"""A call as a script made it, while old spellings in it are replaced."""

from __future__ import annotations

import dataclasses
import importlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..changes import Change
from ..decisions import Decision
from ..errors import LegacyError
from ..plain import PlainData
from ..uses import Journal, Kind, RecordedPlace
from ..versions.due import Due
from ..versions.written_for import WrittenFor
from ..wording import class_name, since

if TYPE_CHECKING:
    from ..guarding.changed import ChangedAttributes
    from ..guarding.guard import GuardedMethod

_CALLS = ("__init__", "__call__")
_of_results: ContextVar[Mapping[type, Mapping[str, Any]]] = ContextVar("of_results")
"""The attributes that the running call gives its results, by their class."""
_NOTHING: Mapping[type, Mapping[str, Any]] = MappingProxyType({})


@contextmanager
def giving_later(attributes: Mapping[type, Mapping[str, Any]]) -> Iterator[None]:
    """Let calls in this context know the attributes that their objects get afterwards.

    Args:
        attributes: by class; if there are none, those of the outer context stay known.
    """
    outer = _of_results.set(attributes or _of_results.get(_NOTHING))
    try:
        yield
    finally:
        _of_results.reset(outer)


class OldCall:
    """One call of a guarded method.

    Args:
        method: the method that is called.
        instance: the object or class that it is called on; None for a function.
        args: the positional arguments.
        kwargs: the keywords.
        journal: where uses are noted.
        written_for: the releases that the script was written for, if the user has named them.

    Attributes:
        arguments: the arguments by current names, as far as the method has such names.
        rest: positional arguments that the method has no names for.
        unknown: keywords that the method does not have.
        kept: attributes that the object gets in addition.
        configured: old keywords that went to the configuration.
        is_old: whether something in it had to be fixed.
        kept_by_results: the same for objects among the results, by class.
    """

    def __init__(
        self,
        method: GuardedMethod,
        instance: Any,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        journal: Journal,
        written_for: WrittenFor | None = None,
    ) -> None:
        self.method = method
        self.instance = instance
        self.arguments: dict[str, Any] = dict(zip(method.positional, args, strict=False))
        self.rest = args[len(method.positional) :]
        self.unknown: dict[str, Any] = {}
        self.kept: dict[str, Any] = {}
        self.kept_by_results: dict[type, dict[str, Any]] = {}
        self.written_for = written_for
        self.is_old = False
        self.configured: set[str] = set()
        self._journal = journal
        for name, value in kwargs.items():
            known = name in method.keywords and name not in self.arguments
            (self.arguments if known else self.unknown)[name] = value

    def again(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> OldCall:
        """Return the same call with other arguments."""
        return OldCall(self.method, self.instance, args, kwargs, self._journal, self.written_for)

    @property
    def name(self) -> str:
        """What the script calls: `SFTTrainer`, `AutoModel.from_pretrained`, or a function."""
        if not self.method.is_bound:
            return self.method.name
        called_on = self.instance if isinstance(self.instance, type) else type(self.instance)
        name = class_name(called_on)
        return name if self.method.name in _CALLS else f"{name}.{self.method.name}"

    @property
    def configuration_class(self) -> type:
        """The class of the configuration that a trainer takes."""
        owner = self.method.owner
        namespace = vars(sys.modules[owner.__module__])
        named = namespace.get(owner.__name__.removesuffix("Trainer") + "Config")
        return named if isinstance(named, type) else namespace["TrainingArguments"]

    @property
    def configuration(self) -> str:
        """The name of that class."""
        return self.configuration_class.__name__

    def settle(self, change: Change, decision: Decision, old: str) -> None:
        """Note what is done about an old spelling; `LegacyError` if it has no counterpart."""
        if decision.refusal:
            raise self.refuse(change, old, decision.refusal)
        self.fix(change, old, decision.advice)

    def fix(
        self, change: Change, old: str, advice: str, place: RecordedPlace | None = None
    ) -> None:
        """Note that an old spelling was replaced by the current one.

        Args:
            change: the row of the table.
            old: the old spelling, as `tokenizer=`.
            advice: what to write, as `write processing_class=…`.
            place: the line to fix, if it is not the one that makes the call.
        """
        self.is_old = True
        message = f"{old} {since(change)}; {advice}"
        self._journal.note(change, Kind.FIXED, old, message, place)

    def is_of_older_script(self, change: Change) -> bool:
        """Tell whether the script is known to be from before a change.

        Its user has named such a release, or none, and it has other old spellings.
        """
        if self.written_for is not None:
            return self.written_for.precedes(change.gone)
        return any(use.kind is Kind.FIXED for use in self._journal.uses())

    def tell(self, change: Change, old: str, message: str, kind: Kind = Kind.TOLD) -> None:
        """Note that results may differ from those of the older release."""
        self._journal.note(change, kind, old, message)

    def refuse(
        self, change: Change, old: str, instead: str, place: RecordedPlace | None = None
    ) -> LegacyError:
        """Note that a call is refused, and return the error to raise.

        `instead` is a sentence that says what to do; the other arguments are those of `fix`.
        """
        message = f"{old} {since(change)}. {instead}"
        use = self._journal.note(change, Kind.REFUSED, old, message, place)
        return LegacyError(str(use))

    @staticmethod
    def make(name: str, given: Any, **settings: Any) -> Any:
        """Return an object of a library's class.

        Args:
            name: the class, with dots.
            given: an object of that class, whose other values the new one gets; None for none.
            settings: its values.
        """
        module, _, last = name.rpartition(".")
        cls = getattr(importlib.import_module(module), last)
        return cls(**settings) if given is None else dataclasses.replace(given, **settings)

    @property
    def comes_later(self) -> Mapping[str, Any]:
        """The attributes that the object gets from the outer call, once it is made."""
        return _of_results.get(_NOTHING).get(type(self.instance), {})

    def carry_out(self) -> Any:
        """Call the method."""
        keywords = {**self.arguments, **self.unknown}
        positional = [keywords.pop(name) for name in self.method.positional] if self.rest else ()
        with giving_later(self.kept_by_results):
            result = self.method.call(self.instance, *positional, *self.rest, **keywords)
        for name, value in self.kept.items():
            setattr(self.instance, name, value)
        for cls, attributes in self.kept_by_results.items():
            for made in result:
                if type(made) is cls:
                    vars(made).update(attributes)
        return result


class Surroundings(PlainData):
    """What an adjustment can use besides the call.

    Args:
        due: the rows of the table for the installed releases.
        changed: remembers attributes that an adjustment sets in classes.
        journal: where uses are noted.
    """

    due: Due
    changed: ChangedAttributes
    journal: Journal
