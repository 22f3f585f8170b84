"""`python -m workbench` in a checkout, or `python CHECKOUT/workbench` anywhere."""

from __future__ import annotations

import io
import sys
from importlib import import_module
from pathlib import Path

RELIABILITY = (
    "inject",
    "signals",
    "threads",
    "cycles",
    "processes",
    "mocks",
    "identity",
    "pickling",
    "mutations",
)
PROGRAMS = {
    "eras": "eras.command",
    "film": "film.command",
    "gpu": "gpu.check",
    "new-releases": "releases.newest",
    **{f"reliability {tool}": f"reliability.{tool}" for tool in RELIABILITY},
}
"""Programs that read their own arguments; `gpu` runs where there is not even click."""


def main() -> int:
    """Run a program, or a command of the group."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # not all terminals can show all that is said
            stream.reconfigure(errors="replace")
    for words in (1, 2):
        name = " ".join(sys.argv[1 : 1 + words])
        if name in PROGRAMS:
            sys.argv[: 1 + words] = [f"python -m workbench {name}"]
            program = import_module(f"workbench.{PROGRAMS[name]}")
            return int(program.main())
    if sys.argv[1:2] == ["reliability"]:
        print(f"usage: python -m workbench reliability {{{','.join(RELIABILITY)}}} …")
        return 64
    from workbench.commands import workbench

    workbench(prog_name="python -m workbench")
    return 0


if __name__ == "__main__":
    if not __package__:
        # The folder of this file is on the path in place of the checkout.
        here = Path(__file__).resolve().parent
        sys.path = [
            str(here.parent),
            *(entry for entry in sys.path if Path(entry or ".").resolve() != here),
        ]
    sys.exit(main())
