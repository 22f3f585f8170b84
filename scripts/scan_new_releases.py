"""Scan the newest release of each library that patches mend, and write down what is wrong.

    python scripts/scan_new_releases.py --output finding.md

Exit status 0: every patch holds. 1: a patch drifted, claims too little, or code like its bug stands
in a place that no patch names; the output begins with a title for an issue. 2: something could not
be scanned, and nothing else was found.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from patchkit.errors import PatchError
from patchkit.matrix.scan import ScanResult, scan
from patchkit.matrix.scan.summary import lines

ANY = ">=0"


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
        text, status = findings(found)
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return status


def findings(scanned: ScanResult) -> tuple[str, int]:
    """What is wrong, as Markdown, and the exit status."""
    wrong: dict[str, list[str]] = {}
    holes: list[str] = []
    noted: list[str] = []
    for line in lines(scanned):
        if line.kind == "not scanned":
            holes.append(f"- {line.where}: {line.what}")
        elif line.kind == "note":
            noted.append(f"- {line.where}: {line.what}")
        elif line.kind == "unlisted":
            wrong.setdefault(line.where, []).append(f"- `{line.patch}` does not name `{line.what}`")
        else:
            wrong.setdefault(line.where, []).append(f"- `{line.patch}` {line.kind}: {line.what}")
    holes += [f"- {name}: {reason}" for name, reason in scanned.gaps.items()]
    read = ", ".join(f"{one.library} {one.version}" for one in scanned.scans if not one.problem)
    parts = [f"Sources read: {read or 'none'}.\n"]
    for release in sorted(wrong):
        parts.append(f"## {release}\n\n" + "\n".join(wrong[release]) + "\n")
    if holes:
        parts.append("## Not scanned\n\n" + "\n".join(holes) + "\n")
    if noted:
        parts.append("## Of the releases\n\n" + "\n".join(noted) + "\n")
    if wrong:
        title, status = f"Drift: {', '.join(sorted(wrong))}", 1
    elif holes:
        title, status = "Some newest releases could not be scanned", 2
    else:
        title, status = "Every patch holds on the newest releases", 0
    return "\n".join([f"# {title}\n", *parts]), status


if __name__ == "__main__":
    sys.exit(main())
