"""The results of a tool: rows of counts, what was wrong, and an exit status."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass
class Figures:
    """Count what was tried, and keep what was wrong.

    Args:
        tool: its name.
        shown: how many kinds of wrong things are printed.
    """

    tool: str
    shown: int = 40
    tried: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    findings: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    begun: float = field(default_factory=time.monotonic)

    def count(self, row: str, findings: Iterable[str] = (), *, times: int = 1) -> None:
        """Count a trial of a row, which is wrong where there are findings."""
        self.tried[row] += times
        distinct = list(dict.fromkeys(findings))
        self.wrong[row] += bool(distinct)
        self.findings.update(f"{row}: {finding}" for finding in distinct)

    def note(self, text: str) -> None:
        self.notes.append(text)

    @property
    def exit_status(self) -> int:
        return int(any(self.wrong.values()))

    def show(self, *, as_json: bool = False) -> int:
        """Print everything, and return the exit status."""
        seconds = time.monotonic() - self.begun
        tried, wrong = sum(self.tried.values()), sum(self.wrong.values())
        if as_json:
            content = {
                "tool": self.tool,
                "tried": dict(self.tried),
                "wrong": {row: number for row, number in self.wrong.items() if number},
                "findings": dict(self.findings),
                "notes": self.notes,
                "seconds": round(seconds, 1),
            }
            print(json.dumps(content, indent=2))
            return self.exit_status
        width = max([len(row) for row in self.tried] + [8])
        print(f"{'':{width}}  {'tried':>8} {'wrong':>8}")
        for row, number in self.tried.items():
            print(f"{row:{width}}  {number:8} {self.wrong[row]:8}")
        print(f"{'all':{width}}  {tried:8} {wrong:8}")
        if self.findings:
            print(f"\nwrong, {len(self.findings)} kinds:")
            for finding, number in self.findings.most_common(self.shown):
                print(f"{number:6}  {finding}")
        for note in self.notes:
            print(note)
        print(f"{self.tool}: {tried} tried, {wrong} wrong, {seconds:.0f} s")
        return self.exit_status


def options(description: str | None) -> argparse.ArgumentParser:
    """Return the command line that all tools share."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--shown", type=int, default=40, help="kinds of wrong things to print")
    parser.add_argument("--seed", type=int, default=0, help="of what is drawn by chance")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="processes at the same time"
    )
    parser.add_argument(
        "--cache",
        type=_use_cache,
        help="where patchkit keeps what it worked out: a folder, which makes a second run warm, or "
        "off; default: as PATCHKIT_CACHE says",
    )
    return parser


def _use_cache(place: str) -> str:
    os.environ["PATCHKIT_CACHE"] = place
    return place
