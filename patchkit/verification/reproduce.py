"""Run the reproducer of one patch in this process.

`python -m patchkit.verification.reproduce ID [--patched]`

The outcome is a line of JSON on standard output. The libraries must not have been imported before,
so this is a program and not a function.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence

from ..children import take_standard_output, write_answer


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m patchkit.verification.reproduce", description=__doc__
    )
    parser.add_argument("id")
    parser.add_argument("--patched", action="store_true", help="apply the patch, and no other")
    options = parser.parse_args(argv)
    answers = take_standard_output()
    write_answer(answers, outcome(options.id, patched=options.patched))
    return 0


def outcome(patch_id: str, *, patched: bool) -> dict[str, object]:
    """Run a reproducer in this process, and return its outcome. Nothing is cleaned up after it."""
    from ..engine.choices import Choices
    from ..engine.session import SESSION
    from .machine import missing_requirements

    (exact_id,) = SESSION.catalogue.matching_ids([patch_id], "the id")
    entry = SESSION.catalogue.entries[exact_id]
    reproduce = (
        entry.reproduce_anywhere if missing_requirements(entry.patch.requires) else entry.reproduce
    )
    if reproduce is None:
        return {"outcome": "no-reproducer"}
    SESSION.revert(None)  # under `patchkit run` all due patches are applied by now
    try:
        if patched:
            SESSION.apply(Choices([exact_id], strict=True))
    except Exception as error:
        traceback.print_exc()
        return {"outcome": "error", "message": f"{type(error).__name__}: {error}"}
    try:
        reproduce()
    except Exception as error:
        traceback.print_exc()
        return {"outcome": "raised", "type": type(error).__name__, "message": str(error)}
    return {"outcome": "passed"}


if __name__ == "__main__":
    sys.exit(main())
