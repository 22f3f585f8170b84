"""Keywords, values and defaults that changed, and orders of arguments: one file for each library.

`trl.toml` says at its top what may stand in such a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from operator import is_not
from pathlib import Path
from typing import Any

from ...changes import (
    Action,
    Configure,
    Convert,
    Default,
    Drop,
    Keep,
    Keyword,
    Order,
    Owned,
    Refuse,
    Rename,
    SetVariable,
    Value,
    file_of,
)
from ..tables import OwnedReader, rows_of, value

FOLDER = Path(__file__).parent
_OLD = frozenset({"of", "release", "source"})
_NEW = _OLD | {"since"}
_OF_CONFIGURED = _NEW | {"keywords", "to", "by"}
_OF_CONVERTED = _NEW | {"alike", "overruled"}
_OF_KEPT = _OLD | {"to", "by", "with_others"}
_OF_REFUSED = _OLD | {"unless"}
_OF_REFUSED_BY_FUNCTION = _OLD | {"matters", "switches"}
_OF_VALUES = _NEW | {"keyword"}
_OF_REFUSED_VALUES = _OLD | {"keyword"}
_OF_DEFAULT = frozenset({"of", "file", "needs", "unless", "quiet", "kept"})
_OF_ORDER = frozenset({"of", "release", "was", "today"})


def rows(folder: Path = FOLDER) -> Iterator[Owned]:
    """Yield the rows of all files of a folder, as `rows_of` reads them."""
    return rows_of(folder, _KeywordReader)


class _KeywordReader(OwnedReader):
    settings = frozenset(
        {
            *("of", "release", "since", "source"),
            *("unless", "keyword", "keywords", "file", "needs", "quiet", "kept", "was", "today"),
            *("alike", "beside", "by", "matters", "overruled", "switches", "to", "with_others"),
        }
    )

    def renamed(self) -> Iterator[Owned]:
        return self._changed(_NEW, lambda name, to: Rename(self._name(name, to)))

    def environment(self) -> Iterator[Owned]:
        beside = {}
        if "beside" in self._table:
            name, readers = self._text("beside").split(": ")
            beside[name] = tuple(readers.split(" | "))
        return self._changed(
            _NEW | {"beside"}, lambda name, to: SetVariable(self._name(name, to), beside)
        )

    def configured(self) -> Iterator[Owned]:
        self._check_settings(_OF_CONFIGURED)
        convert, to = self._optional_function("by"), self._text("to", optional=True)
        fields = [(name, to or name) for name in self._texts("keywords")]
        return self._keywords(
            fields, lambda name, to: Configure(self._name("keywords", to), convert)
        )

    def converted(self) -> Iterator[Owned]:
        flags = self._flag("alike"), self._flag("overruled")
        return self._changed(_OF_CONVERTED, lambda name, said: self._convert(name, said, *flags))

    def dropped(self) -> Iterator[Owned]:
        return self._changed(_OLD, lambda name, because: Drop(self._reason(name, because)))

    def kept(self) -> Iterator[Owned]:
        to, by = self._text("to", optional=True), self._text("by", optional=True)
        alone = not self._flag("with_others")
        return self._changed(
            _OF_KEPT,
            lambda name, advice: Keep(to or name, self._reason(name, advice), by, alone),
        )

    def refused(self) -> Iterator[Owned]:
        if "matters" in self._table:
            matters = self._optional_function("matters")
            switches = tuple(self._texts("switches")) if "switches" in self._table else ()
            return self._changed(
                _OF_REFUSED_BY_FUNCTION,
                lambda name, said: self._drop(name, said, (), matters, switches),
            )
        if "unless" not in self._table:
            return self._changed(_OLD, lambda name, said: Refuse(self._sentence(name, said)))
        harmless = tuple(map(value, self._texts("unless")))
        return self._changed(
            _OF_REFUSED, lambda name, said: self._drop(name, said, harmless, _unlike(harmless))
        )

    def values(self) -> Iterator[Owned]:
        entries = self._entries(_OF_VALUES)
        return self._values((name, self._current(name, to), "") for name, to in entries)

    def refused_values(self) -> Iterator[Owned]:
        entries = self._entries(_OF_REFUSED_VALUES)
        return self._values((name, "", self._sentence(name, said)) for name, said in entries)

    def default(self) -> Iterator[Owned]:
        owners, file = self._owners(), self._text("file", optional=True)
        needs, unless = self._text("needs", optional=True), self._text("unless", optional=True)
        quiet, kept = self._flag("quiet"), self._flag("kept")
        for name, _ in self._entries(_OF_DEFAULT):
            pairs = []
            for written in self._texts(name):
                release, colon, was = written.partition(": ")
                if not colon:
                    raise self._error(name, f"texts such as '0.12.0: 512', not {written!r}")
                self._check_release(name, release)
                pairs.append((release, value(was)))
            gone = f"{self._library} {pairs[-1][0]}"
            yield Default(
                owners=owners,
                name=name,
                values=tuple(pairs),
                needs=needs,
                unless=unless,
                quiet=quiet,
                kept=kept,
                gone=gone,
                source=file_of(gone, file) if file else "",
            )

    def order(self) -> Iterator[Owned]:
        self._check_settings(_OF_ORDER)
        was, today = " ".join(self._texts("was")), " ".join(self._texts("today"))
        yield Order(
            owners=self._owners(),
            order=tuple(was.split()),
            today=tuple(today.split()),
            gone=self._release("release"),
            since=self._release("release"),
        )

    def _changed(
        self, settings: frozenset[str], act: Callable[[str, Any], Action]
    ) -> Iterator[Keyword]:
        return self._keywords(self._entries(settings), act)

    def _keywords(
        self, entries: Iterable[tuple[str, Any]], act: Callable[[str, Any], Action]
    ) -> Iterator[Keyword]:
        """Yield the rows of a table.

        Args:
            entries: the old keywords, and what the table says of each.
            act: makes an action of these.
        """
        owners, source = self._owners(), self._text("source", optional=True)
        since = self._release("since", optional=True)
        # A new spelling may be there while the old one is still understood.
        gone = self._release("release", optional=bool(since)) or self._library
        for name, said in entries:
            self._check_once(owners, gone, name)
            yield Keyword(
                owners=owners,
                name=name,
                action=act(name, said),
                gone=gone,
                since=since,
                source=source,
            )

    def _current(self, key: str, text: object) -> str | float:
        number = value(text) if isinstance(text, str) else None
        return number if isinstance(number, int | float) else self._name(key, text)

    def _values(self, values: Iterable[tuple[str, str | float, str]]) -> Iterator[Value]:
        owners, source = self._owners(), self._text("source", optional=True)
        gone, since = self._release("release"), self._release("since", optional=True)
        keyword = self._text("keyword")
        for old, to, instead in values:
            yield Value(
                owners=owners,
                name=keyword,
                value=None if old == "None" else old,
                to=to,
                instead=instead,
                gone=gone,
                since=since,
                source=source,
            )

    def _convert(self, name: str, said: object, alike: bool, overruled: bool) -> Convert:
        if not isinstance(said, list) or not 2 <= len(said) <= 3:
            raise self._error(name, f"the keyword of today, a function, and a source, not {said!r}")
        to, by, written = (*said, "")[:3]
        return Convert(to, self._function(name, by), alike, written, overruled)

    def _drop(
        self,
        name: str,
        said: object,
        harmless: tuple[object, ...],
        matters: Callable[[Any], bool] | None,
        switches: tuple[str, ...] = (),
    ) -> Drop:
        if isinstance(said, str) and harmless == (None,):
            because, instead = "nothing was given", said
        elif isinstance(said, list) and len(said) == 2:
            because, instead = said
        else:
            raise self._error(name, f"a reason and a sentence in a list, not {said!r}")
        sentence = self._sentence(name, instead)
        return Drop(because, unless=matters, instead=sentence, switches=switches)

    def _reason(self, name: str, reason: object) -> str:
        if not isinstance(reason, str) or " " not in reason or reason[-1] == ".":
            raise self._error(name, f"the end of a sentence, without its full stop, not {reason!r}")
        return reason


def _unlike(harmless: tuple[object, ...]) -> Callable[[Any], bool]:
    """Return what tells whether a value is none of these; False stands for all that are false."""
    if harmless == (None,):
        return partial(is_not, None)
    return bool if harmless == (False,) else partial(_is_none_of, harmless)


def _is_none_of(harmless: tuple[object, ...], given: object) -> bool:
    return given not in harmless
