"""Import each name of the table from the installed libraries, and print the results as JSON.

python each_name.py off|on
"""

from __future__ import annotations

import importlib
import json
import sys
import warnings

from patchkit.legacy.changes import Gone, Moved
from patchkit.legacy.rows import all_rows
from patchkit.legacy.versions.due import Due


def became(place: str) -> str:
    """Do what `from … import …` does with a dotted name."""
    module, _, name = place.rpartition(".")
    try:
        if module:
            exec(f"from {module} import {name}", {})
        else:
            importlib.import_module(name)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "there"


def main(on: bool) -> dict[str, tuple[str, str]]:
    warnings.simplefilter("ignore")
    if on:
        import patchkit

        patchkit.apply(only=[], legacy=True)
    # Both kinds of rows for a name: it lived on elsewhere for a time.
    rows = {row.name: row for cls in (Moved, Gone) for row in Due(all_rows()).of(cls)}
    return {name: (type(row).__name__, became(name)) for name, row in rows.items()}


if __name__ == "__main__":
    print("\n" + json.dumps(main(sys.argv[1] == "on")))
