"""Swap the code of live functions in place, and put the original back.

What is in force is never remembered: it is read off `function.__code__`. Assigning that attribute
is the one step that changes anything. All before it prepares, all after it tidies up, so an
exception between any two lines leaves a function either unchanged or completely changed, and a
later `settle` finds out which.
"""

from __future__ import annotations

import linecache
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import CodeType, FunctionType
from typing import Protocol

from .codes import nested_codes
from .edit import Edit, apply_edits, split_lines
from .edited import edited_code
from .errors import Collision, Drift
from .locate import FunctionSource, forget_files, short_name
from .results import Plan, Results
from .rule import Rule
from .trampoline import Around, jump_template, trampoline, with_code

JUMP = ("jump",)
"""The name under which the code that jumps to wrappers is kept, which no rule has."""
_MOST_VARIANTS = 8
"""Compiled forms of one function to keep at most, rather than compile them again."""


@dataclass(frozen=True)
class Edits:
    """The changes that one rule of one owner makes in the text of a function."""

    owner: str
    rule: Rule
    edits: tuple[Edit, ...]
    kept_as: str = field(default="", compare=False)
    """The name under which results of the rule are kept."""

    @property
    def key(self) -> tuple[str, object]:
        return self.owner, self.rule


Piece = Edits | Around
"""One owner's change of a function."""


class Claimant(Protocol):
    """The party that wants a piece in a function."""

    @property
    def is_valid(self) -> bool:
        """True while the piece belongs in the function; after that it is taken out."""

    @property
    def is_over(self) -> bool:
        """True once the piece can never belong there again."""


@dataclass(eq=False, repr=False)
class Claim:
    """A piece in a function, and who wants it there."""

    piece: Piece
    claimant: Claimant


@dataclass(eq=False, repr=False)
class SwappedFunction:
    """A function whose code patchkit has replaced, now or earlier.

    The code that runs is always the original source with all pieces that are in force, so owners
    come and go in any order, and with the last one the original code object returns.

    Args:
        function: returns the function, or None once it was unloaded with its module.
        original: its code as upstream has it.
        name: short name of its file, for people.
        source: its unchanged source and its syntax tree, while they are needed.
        text: the unchanged lines of its file, once they were needed.
        variants: compiled forms, each with the pieces in it.
        edited: those without wrappers.
        claims: who wants which pieces in it.
        standing: code of patchkit that was found in it, which stays until pieces take its place.
    """

    function: Callable[[], FunctionType | None]
    original: CodeType
    name: str
    source: FunctionSource | None = None
    text: tuple[str, ...] = ()
    variants: list[tuple[tuple[Piece, ...], CodeType]] = field(default_factory=list)
    edited: list[tuple[Sequence[Edits], CodeType]] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    standing: CodeType | None = None

    def in_force(self) -> tuple[Piece, ...] | None:
        """Return the pieces in the code that runs now; None if that is another tool's code."""
        function = self.function()
        code = function.__code__ if function is not None else None
        if code is self.original or (code is not None and code is self.standing):
            return ()
        return next((pieces for pieces, variant in self.variants if variant is code), None)

    def carries(self, piece: Piece) -> bool:
        return piece in (self.in_force() or ())

    def is_copied_with(self, piece: Piece, function: FunctionType) -> bool:
        """Tell whether another function was made of the edited text of this one.

        Its code then has the words that the edits bring in, and most of the others. Where edits
        bring in no word, that cannot be told.
        """
        original, found = _words(self.original), _words(function.__code__)
        if 2 * len(original & found) < len(original):
            return False
        edited = (code for pieces, code in self.edited if piece in pieces)
        return any((new := _words(code) - original) and new <= found for code in edited)

    def valid_pieces(self) -> tuple[Piece, ...]:
        """Return the pieces that belong in the function, in the order of their claims."""
        return tuple(dict.fromkeys(claim.piece for claim in self.claims if claim.claimant.is_valid))

    @property
    def filename(self) -> str:
        """The name of the edited text in tracebacks.

        Not in angle brackets as a whole: `linecache` would give up on such a name once its cache
        is cleared, where it asks the module's loader for any other.
        """
        return f"<patchkit>/{self.name}"

    @property
    def qualname(self) -> str:
        function = self.function()
        return function.__qualname__ if function else self.original.co_name

    def located(self) -> FunctionSource:
        """Return its unchanged source, which is read when it is first needed.

        Raises:
            Drift: there is no source, or it is not what the code was compiled from.
        """
        if self.source is None:
            function = self.function()
            if function is None:
                raise Drift(f"{self.original.co_name} was unloaded with its module")
            self.source = FunctionSource.of_function(with_code(function, self.original))
            self.text = self.source.lines
        return self.source

    def lines(self) -> tuple[str, ...]:
        """Return the unchanged lines of its file; none where they can no longer be read."""
        try:
            return self.text or self.located().lines
        except Drift:
            return ()


class CodeSwaps:
    """All functions whose code is swapped in this process. Not thread-safe: the owner locks.

    Functions are held weakly: a module that was unloaded goes away as it would without us.

    Args:
        results: what was worked out before, perhaps by another process.
    """

    def __init__(self, results: Results | None = None) -> None:
        self._results = Results() if results is None else results
        self._functions: weakref.WeakKeyDictionary[FunctionType, SwappedFunction] = (
            weakref.WeakKeyDictionary()
        )
        # What `linecache` was given, by file name.
        self._texts: dict[str, object] = {}

    def __iter__(self) -> Iterator[SwappedFunction]:
        return iter(list(self._functions.values()))

    def of(self, function: FunctionType) -> SwappedFunction | None:
        return self._functions.get(function)

    def original(self, function: FunctionType) -> CodeType:
        """Return the code of a function as upstream has it, or as it is if nothing was swapped."""
        known = self.of(function)
        return known.original if known else function.__code__

    def place(self, function: FunctionType) -> SwappedFunction:
        """Return what is known of a function, or what would be if its code were swapped."""
        known = self.of(function)
        if known is not None:
            return known
        code, module = function.__code__, function.__globals__.get("__name__")
        return SwappedFunction(weakref.ref(function), code, short_name(code.co_filename, module))

    def adopt(self, function: FunctionType, original: CodeType, standing: CodeType) -> None:
        """Take over a function that got code of patchkit, which stays there until `settle`."""
        if self.of(function) is None:
            entry = self.place(function)
            name = short_name(original.co_filename, function.__globals__.get("__name__"))
            entry.original, entry.name, entry.standing = original, name, standing
            self._functions[function] = entry

    def plan(self, place: SwappedFunction, rule: Rule, kept_as: str) -> Plan:
        """Return the edits of each site of a rule in a function.

        Args:
            place: the function.
            rule: the rule.
            kept_as: the name under which results of the rule are kept, or nothing.

        Raises:
            Drift: the rule was not written for this source, there is none, or another tool changed
                the function.
        """
        if place.in_force() is None:
            raise Drift(f"another tool replaced the code of {place.qualname}")
        plan = self._results.plan(place.original, kept_as) if kept_as else None
        if plan is None:
            plan = rule.plan(place.located())
            if kept_as:
                self._results.keep_plan(place.original, kept_as, plan)
        return plan

    def install(
        self,
        function: FunctionType,
        piece: Piece,
        claimant: Claimant,
        place: SwappedFunction | None = None,
    ) -> SwappedFunction:
        """Put a piece into a function, and record who wants it there.

        Args:
            function: the live function.
            piece: the change.
            claimant: who wants it. The piece is taken out when the claim is no longer valid.
            place: what `place` returned for the function.

        Raises:
            Drift: the changed function does not compile, or not to the same shape; or another tool
                replaced its code.
            Collision: another owner edits the same place.
        """
        entry = place or self.place(function)
        present = entry.in_force()
        if present is None:
            raise Drift(f"another tool replaced the code of {function.__qualname__}")
        _check_places(entry, present, piece)
        others = [known for known in present if known != piece]
        try:
            self._compile(entry, (*others, piece))
        except Drift:
            if rival := _incompatible_owner(entry, others, piece):
                raise Collision((rival, piece.owner), function.__qualname__) from None
            raise
        # From here on `settle` finds the function, even if the next lines raise.
        entry.claims.append(Claim(piece, claimant))
        self._functions[function] = entry
        self._put(entry, (*others, piece))
        return entry

    def forget_trees(self) -> None:
        """Forget syntax trees of what was rewritten: they are large, and seldom needed again."""
        for entry in self:
            entry.source = None
        forget_files()

    def settle(self, *, complete: bool) -> None:
        """Take out pieces that no claimant wants any more, and drop claims that are over.

        If `complete`, put in claimed pieces that are missing, too. A function that runs another
        tool's code is left alone.
        """
        for entry in self:
            present = entry.in_force()
            if present is not None:
                valid = entry.valid_pieces()
                pieces = [piece for piece in present if piece in valid]
                if complete:
                    pieces = list(dict.fromkeys([*pieces, *valid]))
                if tuple(pieces) != present:
                    self._put(entry, tuple(pieces))
            if any(claim.claimant.is_over for claim in entry.claims):
                entry.claims = [claim for claim in entry.claims if not claim.claimant.is_over]
            function = entry.function()
            if function is not None and function.__code__ is entry.standing:
                function.__code__ = entry.original
            if function is not None and not entry.claims and entry.in_force() == ():
                self._functions.pop(function, None)
        self._update_texts()

    def _put(self, entry: SwappedFunction, pieces: tuple[Piece, ...]) -> None:
        """Make a function run its code with these pieces."""
        function = entry.function()
        if function is None:
            return
        code = self._compile(entry, pieces)
        has_edits = any(isinstance(piece, Edits) for piece in pieces)
        if has_edits:
            self._texts.setdefault(entry.filename)
        function.__code__ = code
        if has_edits:
            self._show_text(entry)

    def _compile(self, entry: SwappedFunction, pieces: tuple[Piece, ...]) -> CodeType:
        if not pieces:
            return entry.original
        for known, variant in entry.variants:
            # The order of wrappers matters, that of edits does not.
            if set(known) == set(pieces) and _wrappers(known) == _wrappers(pieces):
                return variant
        code = entry.original
        edits = [piece for piece in pieces if isinstance(piece, Edits)]
        if edits:
            code = self._edit(entry, edits)
            entry.edited = [*entry.edited[-_MOST_VARIANTS:], (edits, code)]
        if around := _wrappers(pieces):
            code = trampoline(self._template(entry), entry.function, code, around)
        running = entry.in_force()
        current = [variant for variant in entry.variants if variant[0] == running]
        others = [variant for variant in entry.variants if variant[0] != running]
        entry.variants = [*others[-_MOST_VARIANTS:], *current, (pieces, code)]
        return code

    def _edit(self, entry: SwappedFunction, pieces: Sequence[Edits]) -> CodeType:
        """Return the original code with edits."""
        names = sorted(piece.kept_as for piece in pieces)
        are_kept = all(names)
        if are_kept:
            kept = self._results.compiled(entry.original, names, entry.filename)
            if kept is not None:
                return kept
        changes = [edit for piece in pieces for edit in piece.edits]
        rules = [piece.rule for piece in pieces]
        code = edited_code(entry.located(), changes, rules, entry.filename)
        if are_kept:
            self._results.keep_compiled(entry.original, names, entry.filename, code)
        return code

    def _template(self, entry: SwappedFunction) -> CodeType:
        """Return the code that jumps to the wrappers of a function, but for their place."""
        template = self._results.compiled(entry.original, JUMP, "")
        if template is None:
            template = jump_template(entry.original)
            self._results.keep_compiled(entry.original, JUMP, "", template)
        return template

    def _show_text(self, entry: SwappedFunction) -> None:
        """Show tracebacks and debuggers the text that runs, edits of all functions included."""
        # `linecache` calls an entry of one function when somebody wants the lines.
        shown = (partial(self._text, entry),)
        self._texts[entry.filename] = shown
        linecache.cache[entry.filename] = shown

    def _text(self, entry: SwappedFunction) -> _Text | None:
        """Return the text that runs; None where it can no longer be read."""
        text = entry.lines()
        if not text:
            return None
        edits = set(_edits(entry.in_force() or ()))
        for other in self:
            # A reloaded module leaves functions of the same file behind, perhaps of an older text.
            same_file = other is not entry and other.filename == entry.filename
            present = _edits(other.in_force() or ()) if same_file else ()
            if (found := list(present)) and other.lines() == text:
                edits.update(found)
        return _Text("".join(apply_edits(text, edits)))

    def _update_texts(self) -> None:
        """Drop texts of code that no longer runs, and restore those that somebody cleared."""
        if not self._texts:
            return
        shown: dict[str, SwappedFunction] = {}
        for entry in self:
            present = entry.in_force()
            if present and any(isinstance(piece, Edits) for piece in present):
                shown[entry.filename] = entry
        for filename in self._texts.keys() - shown.keys():
            linecache.cache.pop(filename, None)
            self._texts.pop(filename, None)
        for filename, entry in shown.items():
            cached: object = linecache.cache.get(filename)
            if cached is None or cached is not self._texts.get(filename):
                self._show_text(entry)


class _Text(str):
    """A text whose lines are those of Python's tokenizer, which a form feed does not end."""

    def splitlines(self, keepends: bool = False) -> list[str]:
        return [line if keepends else line.rstrip("\n") for line in split_lines(self)]


def _words(code: CodeType) -> set[str]:
    """Return the names and the texts that some code uses, but those of variables."""
    words: set[str] = set()
    for inner in nested_codes(code):
        words.update(inner.co_names)
        for const in inner.co_consts:
            parts = const if isinstance(const, tuple) else (const,)
            words.update(part for part in parts if isinstance(part, str))
    return words


def _check_places(entry: SwappedFunction, present: Iterable[Piece], piece: Piece) -> None:
    """Raise Collision where two owners change the same thing."""
    for other in present:
        if isinstance(other, Edits) and isinstance(piece, Edits):
            if other.key != piece.key and any(
                mine.overlaps(theirs) for mine in piece.edits for theirs in other.edits
            ):
                where = f"the same place of {entry.qualname}"
                raise Collision((other.owner, piece.owner), where)
        elif isinstance(other, Around) and isinstance(piece, Around) and other.owner != piece.owner:
            raise Collision((other.owner, piece.owner), piece.qualname, verb="wrap")


def _incompatible_owner(entry: SwappedFunction, present: Iterable[Piece], piece: Piece) -> str:
    """Return the owner whose edits fail together with these, though each works alone.

    The new text of one may contain a site of the other. Empty if there is no such owner.
    """

    def fits(*pieces: Edits) -> bool:
        edits, rules = [*_edits(pieces)], [piece.rule for piece in pieces]
        try:
            edited_code(entry.located(), edits, rules, entry.filename)
        except Drift:
            return False
        return True

    if not isinstance(piece, Edits):
        return ""
    others = [other for other in present if isinstance(other, Edits) and other.owner != piece.owner]
    if not others or not fits(piece):
        return ""
    return next((other.owner for other in others if not fits(piece, other)), "")


def _edits(pieces: Iterable[Piece]) -> Iterator[Edit]:
    for piece in pieces:
        if isinstance(piece, Edits):
            yield from piece.edits


def _wrappers(pieces: Iterable[Piece]) -> list[Around]:
    return [piece for piece in pieces if isinstance(piece, Around)]
