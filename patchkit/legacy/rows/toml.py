"""Read TOML as far as tables of rows need it, in a seventh of the time that `tomllib` takes.

Python 3.10 has no `tomllib` either. What is read here is TOML, and a test has `tomllib` read the
same; but not all of TOML is: a file has comments in lines of their own, `[[tables]]`, and in them
`key = "text"`, `key = true` or `key = ["text", "text"]`, the list over several lines if that is
better to read. A key may have quotes, a text may have single ones, and neither has escapes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Table = dict[str, Any]
"""Key to a text, True, a list of texts, or the tables below it."""


class TableError(ValueError):
    """A file of tables has something in it that may not stand there."""


def read(text: str, file: str) -> dict[str, list[Table]]:
    """Return the tables of a file by their names; `[[gone.forms]]` is in the last `[[gone]]`.

    Args:
        text: what the file has.
        file: its name, for messages.

    Raises:
        TableError: a line is neither of those above, or names a key twice.
    """
    tables: dict[str, list[Table]] = {}
    current: Table = {}
    lines = enumerate(text.splitlines(), 1)
    for number, line in lines:
        if not line or line[0] == "#":
            continue
        if line[0] == "[":
            current = _begin(tables, line, file, number)
            continue
        key, equals, value = line.partition(" = ")
        if key[:1] == '"':
            key = key[1:-1]
        if not equals or not tables or not value or '"' in key:
            raise TableError(
                f'{file}:{number}: expected [[table]], or key = "text" or key = ["text"] in a '
                f"table, not {line}"
            )
        if key in current:
            raise TableError(f"{file}:{number}: the table has the key {key} already")
        # Most are such texts, and each start of the layer reads all.
        if value[0] == value[-1] == '"' and value.count('"') == 2 and "\\" not in value:
            current[key] = value[1:-1]
            continue
        if value == "[":
            value = _whole(lines, f"{file}:{number}")
        found = _texts(value) if value[0] == "[" else _other(value)
        if found is None:
            raise TableError(
                f'{file}:{number}: expected "text", or ["text", "text"], without escapes, or true, '
                f"not {value}"
            )
        current[key] = found
    return tables


def line_of(text: str, table: str, number: int) -> int:
    """Return the line where a table begins; `[[table]]` is there so many times before."""
    starts = [place for place, line in enumerate(text.splitlines(), 1) if line == f"[[{table}]]"]
    return starts[number]


def _whole(lines: Iterator[tuple[int, str]], where: str) -> str:
    """Return a list of several lines in one, from the second line on."""
    parts = ["["]
    for _, line in lines:
        parts.append(line.strip())
        if parts[-1] == "]":
            return " ".join(parts)
    raise TableError(f"{where}: expected a line ] at the end of the list")


def _begin(tables: dict[str, list[Table]], line: str, file: str, number: int) -> Table:
    name = line[2:-2]
    outer, dot, inner = name.partition(".")
    if line != f"[[{name}]]" or not (outer + inner).isidentifier() or (dot and outer not in tables):
        raise TableError(
            f"{file}:{number}: expected [[table]], or [[table.part]] after it, not {line}"
        )
    table: Table = {}
    known = tables[outer][-1].setdefault(inner, []) if dot else tables.setdefault(outer, [])
    known.append(table)
    return table


def _other(written: str) -> str | bool | None:
    if written == "true":
        return True
    is_text = written[0] == written[-1] == "'" and written.count("'") == 2
    return written[1:-1] if is_text else None


def _texts(written: str) -> list[str] | None:
    inner = written[1:-1].strip().removesuffix(",")
    if not inner:
        return []
    quote = inner[0]
    texts = inner[1:-1].split(f"{quote}, {quote}")
    whole = inner[-1] == quote and quote in "\"'" and inner.count(quote) == 2 * len(texts)
    return texts if whole and written[-1] == "]" and ("\\" not in inner or quote == "'") else None
