"""Import each name of the table from the installed libraries, and print the results as JSON.

python each_name.py off|on
"""

from __future__ import annotations

import json
import linecache
import sys
import traceback
import warnings

from patchkit.legacy.changes import Gone, Moved
from patchkit.legacy.rows import all_rows
from patchkit.legacy.versions.due import Due


def became(place: str, is_used: bool) -> tuple[str, str]:
    """Do what `from … import …` does with a dotted name; return what became of it, and what is seen.

    Args:
        place: the name.
        is_used: whether it is called as well, which what is gone refuses.
    """
    module, _, name = place.rpartition(".")
    line = f"from {module} import {name}" if module else f"import {name}"
    line += f"; {name}()" if is_used else ""
    file = f"{place}.py"
    linecache.cache[file] = (len(line), None, [line], file)
    try:
        exec(compile(line, file, "exec"), {})
    except Exception as error:
        return f"{type(error).__name__}: {error}", traceback.format_exc()
    return "there", ""


def main(on: bool) -> dict[str, tuple[str, str, str]]:
    warnings.simplefilter("ignore")
    if on:
        import patchkit

        patchkit.apply(only=[], legacy=True)
    # Both kinds of rows for a name: it lived on elsewhere for a time.
    rows = {row.name: row for cls in (Moved, Gone) for row in Due(all_rows()).of(cls)}
    return {
        name: (type(row).__name__, *became(name, isinstance(row, Gone)))
        for name, row in rows.items()
    }


if __name__ == "__main__":
    print("\n" + json.dumps(main(sys.argv[1] == "on")))
