"""Scan the newest release of each library that patches mend, and write down what is wrong.

    python scripts/scan_new_releases.py --output finding.md

Exit status 0: every patch holds. 1: a patch drifted, claims too little, or code like its bug stands
in a place that no patch names; the output begins with a title for an issue. 2: something could not
be scanned, and nothing else was found.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from patchkit.errors import PatchError
from patchkit.matrix import STATES, Scan
from patchkit.matrix.records import OF_THE_RELEASE
from patchkit.scan import scan

ANY = ">=0"
WRONG = ("drifted", "present")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, help="a Markdown file; standard output by default")
    parser.add_argument(
        "--from", dest="folder", type=Path, help="a folder of wheels, not the index"
    )
    parser.add_argument("--cache", type=Path, help="where sources are kept")
    options = parser.parse_args()
    try:
        found = scan(versions=ANY, newest=True, folder=options.folder, cache=options.cache)
    except PatchError as error:
        text, status = f"# The newest releases could not be scanned\n\n{error}\n", 2
    else:
        text, status = findings(found.scans, found.gaps)
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return status


def findings(scans: Iterable[Scan], gaps: dict[str, str]) -> tuple[str, int]:
    """What is wrong, as Markdown, and the exit status."""
    scans = list(scans)
    found = {f"{one.library} {one.version}": list(_wrong(one)) for one in scans}
    wrong = {release: lines for release, lines in found.items() if lines}
    holes = [f"- {one.library} {one.version}: {one.problem}" for one in scans if one.problem]
    holes += [f"- {name}: {reason}" for name, reason in gaps.items()]
    noted = [
        f"- {one.library} {one.version}: {one.notes[OF_THE_RELEASE]}"
        for one in scans
        if OF_THE_RELEASE in one.notes
    ]
    read = ", ".join(f"{one.library} {one.version}" for one in scans if not one.problem)
    parts = [f"Sources read: {read or 'none'}.\n"]
    for release, lines in wrong.items():
        parts.append(f"## {release}\n\n" + "\n".join(lines) + "\n")
    if holes:
        parts.append("## Not scanned\n\n" + "\n".join(holes) + "\n")
    if noted:
        parts.append("## Of the releases\n\n" + "\n".join(noted) + "\n")
    if wrong:
        title, status = f"Drift: {', '.join(wrong)}", 1
    elif holes:
        title, status = "Some newest releases could not be scanned", 2
    else:
        title, status = "Every patch holds on the newest releases", 0
    return "\n".join([f"# {title}\n", *parts]), status


def _wrong(one: Scan) -> Iterator[str]:
    for patch, state in one.states.items():
        if state in WRONG:
            yield f"- `{patch}` {state}: {one.notes.get(patch) or STATES[state]}"
    for patch, places in one.unlisted.items():
        yield f"- `{patch}` does not name {', '.join(f'`{place}`' for place in places)}"


if __name__ == "__main__":
    sys.exit(main())
