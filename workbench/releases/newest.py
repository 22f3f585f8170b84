"""Scan the newest release of each patched library, and report problems as Markdown.

    python -m workbench new-releases --output finding.md

Exit status 0: every patch holds, and the table of changed interfaces knows what went. 1: a patch
drifted or claims too little, its buggy code is in a place that no patch names, or a name, keyword
or default changed that the table does not know; the output begins with a title for an issue. 2:
something could not be scanned, and there is no other problem.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from patchkit.errors import PatchError
from patchkit.matrix.scan.run import ScanResult, scan
from patchkit.matrix.scan.summary import lines

from . import run as interfaces

ANY = ">=0"
NEWEST_AND_THE_ONE_BEFORE = 2


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, help="write to this file (default: standard output)")
    parser.add_argument(
        "--from", dest="folder", type=Path, help="read wheels from this folder, not from the index"
    )
    parser.add_argument("--cache", type=Path, help="folder that keeps downloaded sources")
    options = parser.parse_args()
    try:
        result = scan(versions=ANY, newest=True, folder=options.folder, cache=options.cache)
        changes = interfaces.scan(
            last=NEWEST_AND_THE_ONE_BEFORE, folder=options.folder, cache=options.cache
        )
    except PatchError as error:
        text, status = f"# The newest releases could not be scanned\n\n{error}\n", 2
    else:
        text, status = findings(result, changes)
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return status


def findings(result: ScanResult, changes: interfaces.ReleasesResult) -> tuple[str, int]:
    """Return the problems as Markdown, and the exit status.

    Args:
        result: the scan for the patches' sites.
        changes: where the table of changed interfaces and the releases disagree.
    """
    problems: dict[str, list[str]] = {}
    gaps: list[str] = []
    notes: list[str] = []
    for line in lines(result):
        if line.kind == "not scanned":
            gaps.append(f"- {line.place}: {line.text}")
        elif line.kind == "note":
            notes.append(f"- {line.place}: {line.text}")
        elif line.kind == "unlisted":
            problems.setdefault(line.place, []).append(
                f"- `{line.patch}` does not name `{line.text}`"
            )
        else:
            problems.setdefault(line.place, []).append(f"- `{line.patch}` {line.kind}: {line.text}")
    for finding in changes.findings:
        text = f": {finding.text}" if finding.text else ""
        problems.setdefault(finding.release, []).append(
            f"- `legacy` {finding.kind}: `{finding.what}`{text}"
        )
    gaps += [f"- {name}: {reason}" for name, reason in {**changes.gaps, **result.gaps}.items()]
    read = [f"{scan.library} {scan.version}" for scan in result.scans if not scan.problem]
    parts = [f"Sources read: {', '.join(read) or 'none'}.\n"]
    for release in sorted(problems):
        parts.append(f"## {release}\n\n" + "\n".join(problems[release]) + "\n")
    if gaps:
        parts.append("## Not scanned\n\n" + "\n".join(gaps) + "\n")
    if notes:
        parts.append("## Notes on releases\n\n" + "\n".join(notes) + "\n")
    if problems:
        title, status = f"Drift: {', '.join(sorted(problems))}", 1
    elif gaps:
        title, status = "Some newest releases could not be scanned", 2
    else:
        title, status = "Every patch holds on the newest releases", 0
    return "\n".join([f"# {title}\n", *parts]), status
