"""Error messages with holes: `expected scalar type {dtype:a} but found {dtype:b}`.

A message is compared without blanks, quotes and case, since terminals break lines within words and
shells take quotes away. In braces stand: a kind of hole, with a name where the answer needs what
stood there; alternatives, separated by bars, any of which may be empty, with a name and `=` before
them where the answer needs the one that stood there; or `start` or `end`, where the message must
begin or end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache

_NAMES = """
bfloat16 float16 float32 float64 float8_e4m3fnuz float8_e4m3fn float8_e5m2fnuz float8_e5m2
float8_e8m0fnu complexfloat complexdouble complexhalf complex64 complex128 uint8 uint16 uint32
uint64 int8 int16 int32 int64 half float double byte char short long int longint longlong bool
unsignedchar signedchar undefined
"""
DTYPES = tuple(_NAMES.split())
"""Dtypes, as PyTorch of all years writes them, without blanks and in small letters."""
_DTYPE = (
    r"(?:struct)?(?:c10::|at::|torch\.|torch\.cuda\.|cuda|cpu|mps)*"
    rf"(?:{'|'.join(sorted(DTYPES, key=len, reverse=True))})(?:tensor|type)?"
)
_KINDS = {
    "dtype": _DTYPE,
    "n": r"[\d.,]+",
    "name": r"[\w.:<>\[\]/*+-]+?",
    "requirement": r"[\w.,<>=!~\[\]-]+?",
    "any": r".{0,400}?",
}
_ANCHORS = {"start": "^", "end": "$"}
_ENDLESS = ("name", "requirement")
"""Kinds that take all that follows where they end a message."""
_SHORT = 10
"""Letters below which a wording is looked for as whole words."""
_HOLE = re.compile(r"\{([^{}]*)\}")
_NAME = re.compile(r"^(\w+)=")
"""What stands before alternatives that have a name."""
_QUOTES = "'\"`\u2018\u2019\u201c\u201d"
DROPPED = re.compile(rf"[\s{_QUOTES}]")
_BETWEEN_NAMES = re.compile("['\"`](,? (?:and )?)['\"`]")
_WITHOUT_QUOTES = dict.fromkeys(map(ord, _QUOTES))


class Squeezed:
    """A text without blanks, quotes and case, which knows where its letters were.

    Args:
        text: the text.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._places = [place for place, letter in enumerate(text) if not DROPPED.match(letter)]
        # Letters whose small form is longer would shift all places.
        self.letters = "".join(
            small if len(small := text[place].lower()) == 1 else text[place]
            for place in self._places
        )

    def original(self, start: int, end: int) -> str:
        """Return what stood between two places of the squeezed text."""
        return self.text[self._places[start] : self._places[end - 1] + 1] if end > start else ""

    def goes_on(self, end: int) -> bool:
        """Tell whether a name, which may have dots, goes on at a place of the squeezed text."""
        return bool(re.match(r"\.?\w", self.text[self._places[end - 1] + 1 :]))

    def begins_word(self, start: int) -> bool:
        """Tell whether a word of the text begins at a place of the squeezed text."""
        before = self._places[start] - 1
        return before < 0 or not re.match(r"[A-Za-z0-9_]", self.text[before])

    def ends_word(self, end: int) -> bool:
        """Tell whether a word of the text ends at a place of the squeezed text."""
        return not re.match(r"[A-Za-z0-9_]", self.text[self._places[end - 1] + 1 :][:1])


def squeezed(text: str) -> str:
    """Return a text as wordings are compared: without what `DROPPED` has, which takes longer."""
    return "".join(text.split()).translate(_WITHOUT_QUOTES).lower()


class Wording:
    """One way in which an error is put.

    Args:
        text: the message, with holes in braces.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._parts = _HOLE.split(text)
        self.literals = [part for text in self._parts[::2] if (part := squeezed(text))]
        """The parts that stand in every such message."""
        self._compiled: re.Pattern[str] | None = None

    @property
    def is_closed(self) -> bool:
        """Whether a choice of names or an attribute ends it, in quotes: `'to'` is not `'to_x'`."""
        return bool(re.search("(?:\\|[^{}]*\\}|attribute ['\"`]\\w+)['\"`]$", self.text))

    @property
    def is_short(self) -> bool:
        """Whether it is found as whole words only: `No` is none of the words of `NoneType`."""
        return sum(map(len, self.literals)) < _SHORT

    @property
    def begins_word(self) -> bool:
        """Whether it begins with a whole word: `'LLM'` is not the end of `CausalLM`."""
        return self.is_short or bool(re.match("['\"`](?:\\w|\\{[^{}]*\\|)", self.text))

    def search(self, text: Squeezed) -> dict[str, str] | None:
        """Return what stands in the named holes; None if the text does not have the message."""
        if not all(part in text.letters for part in self.literals):
            return None
        if self._compiled is None:
            self._compiled = re.compile(self.pattern())
        found = next(filter(self._fits(text), self._compiled.finditer(text.letters)), None)
        if found is None or (self.is_closed and text.goes_on(found.end())):
            return None
        return {
            name: _as_written(text.original(*found.span(name)), name == self.last)
            for name, value in found.groupdict().items()
            if value is not None
        }

    def _fits(self, text: Squeezed) -> Callable[[re.Match[str]], bool]:
        def fits(found: re.Match[str]) -> bool:
            whole = not self.is_short or text.ends_word(found.end())
            return whole and (not self.begins_word or text.begins_word(found.start()))

        return fits

    def has_part(self, fragment: str) -> bool:
        """Tell whether a squeezed fragment is a part of the message."""
        return any(fragment in part for part in self.literals)

    def begins_with(self, fragments: tuple[str, ...]) -> bool:
        """Tell whether the message begins with one of some squeezed fragments."""
        return bool(self.literals) and self.literals[0].startswith(fragments)

    @property
    def last(self) -> str:
        """The name of a hole at the end, which takes all that follows without blanks."""
        if len(self._parts) < 2 or squeezed(self._parts[-1]):
            return ""
        kind, _, name = self._parts[-2].partition(":")
        return name if kind in _ENDLESS else ""

    def shown(self, hole: str = "…") -> str:
        """Return the message as people read it; a choice is shown by its first words."""
        return self._filled(lambda part: _choices(part)[0] if "|" in part else hole)

    def example(self) -> str:
        """Return a message with this wording."""
        values = {
            "dtype": "float",
            "n": "7",
            "name": "something",
            "requirement": "something>=7",
            "any": "some things",
        }
        return self._filled(
            lambda part: (
                next(filter(None, _choices(part)))
                if "|" in part
                else values[part.partition(":")[0]]
            )
        )

    def _filled(self, value: Callable[[str], str]) -> str:
        parts = self._parts
        return "".join(
            ("" if part in _ANCHORS else value(part)) if number % 2 else part
            for number, part in enumerate(parts)
        )

    def pattern(self) -> str:
        """Return the regular expression, in what Python and JavaScript share but for names."""
        pieces = []
        for number, part in enumerate(self._parts):
            if number % 2 == 0:
                pieces.append(re.escape(squeezed(part)))
            elif part in _ANCHORS:
                pieces.append(_ANCHORS[part])
            elif "|" in part:
                # The longest first: `prompt` is a part of `prompts`.
                choices = sorted(map(squeezed, _choices(part)), key=len, reverse=True)
                named = _NAME.match(part)
                begin = f"(?P<{named[1]}>" if named else "(?:"
                pieces.append(f"{begin}{'|'.join(map(re.escape, choices))})")
            else:
                kind, _, name = part.partition(":")
                last = not any(map(squeezed, self._parts[number + 1 :: 2]))
                body = _KINDS[kind][:-1] if last and kind in _ENDLESS else _KINDS[kind]
                pieces.append(f"(?P<{name}>{body})" if name else f"(?:{body})")
        return "".join(pieces)


def _choices(part: str) -> list[str]:
    """Return the alternatives of a hole, without its name."""
    return _NAME.sub("", part).split("|")


@cache
def wording(text: str) -> Wording:
    """Return a wording, which is read once."""
    return Wording(text)


def longest_literal(letters: str) -> str:
    """Return the longest part of a squeezed wording that stands in every such message."""
    return max(_HOLE.split(letters)[::2], key=len) if "{" in letters else letters


def _as_written(value: str, is_last: bool) -> str:
    if is_last:
        value = re.split("[\\s'\"`]", value.strip("'\"` "), maxsplit=1)[0]
    return _BETWEEN_NAMES.sub(r"\1", value.lstrip("'\"`, ").rstrip("'\"`,. "))


def filled(text: str, values: Mapping[str, str]) -> str:
    """Put the values of holes into a sentence: `{name}`, or `{name|what else to say}`."""

    def value(hole: re.Match[str]) -> str:
        name, bar, otherwise = hole[1].partition("|")
        if not name.isidentifier() or not (name in values or bar):
            return hole[0]
        return values.get(name) or otherwise

    return _HOLE.sub(value, text)
