"""`python -m workbench`: run from the root of a checkout."""

from __future__ import annotations

import sys
from importlib import import_module

PROGRAMS = {
    "eras": "eras.command",
    "film": "film.command",
    "gpu": "gpu.check",
    "new-releases": "releases.newest",
}
"""Programs that begin with nothing but the standard library, and read their own arguments."""


def main() -> None:
    """Run a program, or a command of the group."""
    if sys.argv[1:2] and sys.argv[1] in PROGRAMS:
        program = PROGRAMS[sys.argv.pop(1)]
        sys.exit(import_module(f".{program}", __package__).main())
    from .commands import workbench

    workbench(prog_name="python -m workbench")


if __name__ == "__main__":
    main()
