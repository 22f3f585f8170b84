"""Attributes and methods that scripts use, and that objects lack: one file for each library.

`transformers.toml` says at its top what may stand in such a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

from ...changes import Assigned, Attribute, Owned
from ..tables import Named, OwnedReader, rows_of, value

FOLDER = Path(__file__).parent
_Attribute = tuple[str, Callable[[Any], Any] | None, str, str]
"""The old name, what reads the value, what to write instead, and the source of that."""

_OF_ALL = frozenset({"of", "release", "source"})
_OF_RENAMED = _OF_ALL | {"of_class"}
_OF_CONSTANT = _OF_ALL | {"advice", "written"}
_OF_GONE = _OF_ALL | {"instead", "names", "value"}
_OF_COMPUTED = _OF_ALL | {"of_class", "differs", "unmistakable", "context"}
_OF_COMPUTED_ALIKE = _OF_ALL | {"by", "advice", "names"}


def rows(folder: Path = FOLDER) -> Iterator[Owned]:
    """Yield the rows of all files of a folder, as `rows_of` reads them."""
    return rows_of(folder, _AttributeReader)


class _AttributeReader(OwnedReader):
    settings = frozenset(
        {
            *("of", "release", "source", "advice", "written", "of_class", "instead", "names"),
            *("by", "differs", "value", "unmistakable", "context"),
        }
    )

    def renamed(self) -> Iterator[Attribute]:
        of_class = self._flag("of_class")
        kind = f"{self._owners()[0].rpartition('.')[2]}." if of_class else ""
        entries = self._entries(_OF_RENAMED)
        return self._attributes(
            (
                (name, attrgetter(self._name(name, to)), f"write {kind}{to}", f"{{object}}.{to}")
                for name, to in entries
            ),
            of_class=of_class,
        )

    def constant(self) -> Iterator[Attribute]:
        advice, written = self._text("advice"), self._text("written", optional=True)
        names = [name for name, _ in self._entries(_OF_CONSTANT)]
        return self._attributes(self._constant(name, advice, written) for name in names)

    def gone(self) -> Iterator[Attribute]:
        self._check_settings(_OF_GONE)
        instead = self._sentence("instead", self._text("instead"))
        entries = ((name, None, instead, "") for name in self._texts("names"))
        return self._attributes(entries, is_method=not self._flag("value"))

    def generation(self) -> Iterator[Owned]:
        entries = self._entries(_OF_ALL)
        for name, _ in entries:
            advice = f"write model.generation_config.{name} ="
            yield self._assigned(name, _as_given, advice, "generation_config")
        yield from self._attributes(self._setting(name, text) for name, text in entries)

    def computed(self) -> Iterator[Attribute]:
        return self._computed(_OF_COMPUTED, lambda function: function)

    def method(self) -> Iterator[Attribute]:
        # To read it gives what is called with the arguments.
        return self._computed(_OF_COMPUTED, lambda function: partial(partial, function))

    def _computed(
        self, settings: frozenset[str], reader: Callable[[Named], Callable[[Any], Any]]
    ) -> Iterator[Attribute]:
        attributes = []
        for name, said in self._entries(settings):
            by, advice, written = self._said(name, said)
            attributes.append((name, reader(self._function(name, by)), advice, written))
        return self._attributes(
            attributes, of_class=self._flag("of_class"), differs=self._flag("differs")
        )

    def computed_alike(self) -> Iterator[Attribute]:
        self._check_settings(_OF_COMPUTED_ALIKE)
        by, advice = self._text("by"), self._text("advice")
        names = self._texts("names")
        return self._attributes(
            (name, self._function("by", by, name), advice, "") for name in names
        )

    def assigned(self) -> Iterator[Owned]:
        for name, said in self._entries(_OF_ALL):
            by, advice, _ = self._said(name, said)
            yield self._assigned(name, self._function(name, by), advice)

    def _assigned(
        self, name: str, convert: Callable[[Any, Any], Any], advice: str, beside: str = ""
    ) -> Assigned:
        return Assigned(
            owners=self._owners(),
            name=name,
            convert=convert,
            advice=advice,
            beside=beside,
            gone=self._release("release"),
            source=self._text("source", optional=True),
        )

    def _said(self, name: str, said: object) -> list[str]:
        if not isinstance(said, list) or not 2 <= len(said) <= 3:
            raise self._error(name, f"a function, advice, and a source in a list, not {said!r}")
        return [*said, ""][:3]

    @staticmethod
    def _setting(name: str, text: str) -> _Attribute:
        read = Named("generation.former_setting", name, value(text))
        return name, read, f"read model.generation_config.{name}, which is None where unset", ""

    def _constant(self, name: str, advice: str, written: str) -> _Attribute:
        known = value(self._text(name))
        shown = repr(known)
        advice = advice.replace("{name}", repr(name)).replace("{value}", shown)
        return name, partial(_known, known), advice, written.replace("{value}", shown)

    def _attributes(
        self,
        attributes: Iterable[_Attribute],
        *,
        of_class: bool = False,
        is_method: bool = True,
        differs: bool = False,
    ) -> Iterator[Attribute]:
        owners, gone = self._owners(), self._release("release")
        source = self._text("source", optional=True)
        for name, read, advice, written in attributes:
            self._check_once(owners, name)
            yield Attribute(
                owners=owners,
                name=name,
                read=read,
                advice=advice,
                written=written,
                of_class=of_class,
                is_method=is_method,
                differs=differs,
                is_unmistakable=self._flag("unmistakable"),
                context=self._text("context", optional=True),
                gone=gone,
                source=source,
            )


def _known(value: object, instance: Any) -> object:
    return value


def _as_given(config: Any, given: Any) -> Any:
    return given
