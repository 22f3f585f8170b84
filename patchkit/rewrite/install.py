"""Swap the code of live functions in place, and put the original back."""

from __future__ import annotations

import linecache
from dataclasses import dataclass, field
from types import CodeType, FunctionType

from .edit import Edit, apply_edits
from .errors import Collision, Drift
from .locate import FunctionSource
from .rule import Rule, edited_code


@dataclass
class RewrittenFunction:
    """A function some of whose code is ours.

    The code that runs is always the original source with the edits of all present owners, so
    owners come and go in any order, and with the last one the original code object returns.
    """

    function: FunctionType
    source: FunctionSource
    original: CodeType
    edits: dict[tuple[str, Rule], list[Edit]] = field(default_factory=dict)
    installed: CodeType | None = None

    @property
    def filename(self) -> str:
        return f"<patchkit {self.source.name}>"

    @property
    def live(self) -> bool:
        """Whether the code that we installed is the code that runs now."""
        return self.installed is not None and self.function.__code__ is self.installed

    def carries(self, owner: str, rule: Rule) -> bool:
        return (owner, rule) in self.edits

    def all_edits(self) -> list[Edit]:
        return [edit for edits in self.edits.values() for edit in edits]


class CodeSwaps:
    """All functions whose code is swapped in this process. Not thread-safe: the owner locks."""

    def __init__(self) -> None:
        self._functions: dict[int, RewrittenFunction] = {}

    def of(self, function: FunctionType) -> RewrittenFunction | None:
        return self._functions.get(id(function))

    def source(self, function: FunctionType) -> FunctionSource:
        """The unchanged source of a function, ours or not yet.

        Raises:
            Drift: it cannot be had, or someone else changed the function.
        """
        known = self.of(function)
        if known is None:
            return FunctionSource.of_function(function)
        if not known.live:
            raise Drift(f"another tool replaced the code of {function.__qualname__}")
        return known.source

    def install(
        self,
        owner: str,
        function: FunctionType,
        source: FunctionSource,
        rule: Rule,
        edits: list[Edit],
    ) -> RewrittenFunction:
        """Add the edits of one owner to a function.

        Raises:
            Drift: the edited function does not compile, or not to the same shape.
            Collision: another owner edits the same place.
        """
        entry = self.of(function) or RewrittenFunction(function, source, function.__code__)
        for (other, _), others in entry.edits.items():
            if any(mine.overlaps(theirs) for mine in edits for theirs in others):
                raise Collision((other, owner), f"the same place of {source.qualname}")
        entry.edits[owner, rule] = edits
        try:
            self._recompile(entry)
        except Drift:
            del entry.edits[owner, rule]
            if rival := self._at_odds(entry, owner, rule, edits):
                raise Collision((rival, owner), source.qualname) from None
            raise
        except BaseException:
            del entry.edits[owner, rule]
            raise
        self._functions[id(function)] = entry
        self._register_text(entry.filename)
        return entry

    def remove(self, owner: str, function: FunctionType, rule: Rule) -> bool:
        """Take the edits of one rule of one owner back.

        Returns:
            False where the code that runs is no longer ours, and so was left alone.
        """
        entry = self.of(function)
        if entry is None or (owner, rule) not in entry.edits:
            return True
        live = entry.live
        del entry.edits[owner, rule]
        if not entry.edits:
            if live:
                function.__code__ = entry.original
            del self._functions[id(function)]
        elif live:
            self._recompile(entry)
        self._register_text(entry.filename)
        return live

    @staticmethod
    def _at_odds(entry: RewrittenFunction, owner: str, rule: Rule, edits: list[Edit]) -> str:
        """The owner whose edits do not go together with these ones, which do by themselves.

        The text of one may hold a site of the other. Empty where there is none.
        """

        def fits(others: list[Edit], rules: list[Rule]) -> bool:
            try:
                edited_code(entry.source, [*edits, *others], [rule, *rules], entry.filename)
            except Drift:
                return False
            return True

        others = [(one, its, theirs) for (one, its), theirs in entry.edits.items() if one != owner]
        if not others or not fits([], []):
            return ""
        return next((one for one, its, theirs in others if not fits(theirs, [its])), "")

    @staticmethod
    def _recompile(entry: RewrittenFunction) -> None:
        rules = [rule for _, rule in entry.edits]
        code = edited_code(entry.source, entry.all_edits(), rules, entry.filename)
        entry.function.__code__ = entry.installed = code

    def _register_text(self, filename: str) -> None:
        """Show tracebacks and debuggers the text that runs, edits of all functions included."""
        mine = [entry for entry in self._functions.values() if entry.filename == filename]
        if not mine:
            linecache.cache.pop(filename, None)
            return
        # A reloaded module leaves functions of the same file behind, perhaps of an older text.
        text = mine[-1].source.lines
        edits = {edit for entry in mine if entry.source.lines == text for edit in entry.all_edits()}
        lines = list(apply_edits(text, edits))
        # An entry without a modification time is one that `linecache.checkcache` leaves alone.
        linecache.cache[filename] = (sum(map(len, lines)), None, lines, filename)
