"""Names and modules that moved or went: one file of TOML for each library, in this folder.

`trl.toml` says at its top what may stand in such a file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from ...changes import Alike, Form, Gone, Moved
from ..tables import TableReader, rows_of

FOLDER = Path(__file__).parent
_OF_MOVED = frozenset(
    {"release", "since", "differs", "source", "wrapped", "read", "else", "alike", "idle", "member"}
)
_OF_ALIKE = frozenset({"to", "order", "given", "without"})
_OF_GONE = frozenset({"instead", "source", "forms"})
_OF_FORM = frozenset({"before", "what", "also"})


def rows(folder: Path = FOLDER) -> Iterator[Moved | Gone]:
    """Yield the rows of all files of a folder, as `rows_of` reads them."""
    return rows_of(folder, _NameReader)


class _NameReader(TableReader):
    def moved(self) -> Iterator[Moved | Gone]:
        table = self._table
        gone, since = self._release("release"), self._release("since", optional=True)
        source, differs = self._text("source", optional=True), self._text("differs", optional=True)
        names = {name: to for name, to in table.items() if name not in _OF_MOVED}
        self._check_names("", names, _OF_MOVED)
        for name, to in names.items():
            if not isinstance(to, str) or "." not in to:
                raise self._error(name, f"the place of today, with dots, not {to!r}")
            yield Moved(
                name=name,
                to=to,
                gone=gone,
                since=since,
                source=source,
                differs=differs,
                wrapped=self._text("wrapped", optional=True),
                read=self._text("read", optional=True),
                otherwise=self._text("else", optional=True),
                alike=self._alike(*table["alike"]) if "alike" in table else None,
                idle=self._flag("idle"),
                member=self._text("member", optional=True),
            )

    def _alike(self, table: Any) -> Alike:
        reader = _NameReader(self._file, self._kind)
        reader.begin(self._number, table)
        for key in table.keys() - _OF_ALIKE:
            raise self._error(f"alike.{key}", f"one of {', '.join(sorted(_OF_ALIKE))}")
        given = dict(text.split("=") for text in reader._texts("given"))
        order, without = reader._text("order").split(), reader._texts("without")
        return Alike(reader._text("to"), tuple(order), given, tuple(without))

    def gone(self) -> Iterator[Moved | Gone]:
        instead = self._sentence("instead", self._text("instead"))
        source = self._text("source", optional=True)
        forms = tuple([self._form(form) for form in self._table.get("forms", ())])
        for release, names in self._table.items():
            if release in _OF_GONE:
                continue
            self._check_release(release, release, _OF_GONE)
            if not isinstance(names, list):
                raise self._error(release, f"a list of names, not {names!r}")
            self._check_names(release, names)
            gone = f"{self._library} {release}"
            for name in names:
                yield Gone(name=name, instead=instead, forms=forms, gone=gone, source=source)

    def _form(self, form: Any) -> Form:
        reader = _NameReader(self._file, self._kind)
        reader.begin(self._number, form)
        for key in form.keys() - _OF_FORM:
            raise self._error(f"forms.{key}", f"one of {', '.join(sorted(_OF_FORM))}")
        what, also = reader._text("what", optional=True), reader._text("also", optional=True)
        return Form(reader._release("before"), what, also)

    def _check_names(self, key: str, names: Collection[str], other: Collection[str] = ()) -> None:
        """Check many names at once, as each start of the layer does, and then look for the bad one.

        Args:
            key: the key that has the names; empty if they are keys themselves.
            names: the names.
            other: the other keys that would be right.
        """
        within, lines = f"{self._library}.", "\n" + "\n".join(names)
        are_names = lines.count(f"\n{within}") == len(names) > 0
        if not are_names or not lines.replace("\n", "_").replace(".", "_").isidentifier():
            wrong = [name for name in names if not _is_place(name, within)]
            expected = f"names such as {within}trainer, not {', '.join(wrong) or 'nothing'}"
            raise self._error(key or ", ".join(wrong), expected, other)
        before = len(self._seen)
        self._seen.update(names)
        if len(self._seen) != before + len(names):
            raise self._error(key, f"each name once in all tables of this kind: {', '.join(names)}")


def _is_place(name: str, within: str) -> bool:
    return name.startswith(within) and all(map(str.isidentifier, name.split(".")))
