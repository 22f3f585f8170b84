"""Run tests in each way, and find those that do not end alike."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import ROOT
from ..sweep.calling import call, last_error
from .observer import OUTPUT, SECONDS, WAY, WAYS

_ENDS = ("skipped", "passed", "failed")
"""How a part of a test ends, from what says least of the whole test to what says most."""


@dataclass(frozen=True)
class End:
    """How a test ended.

    Args:
        outcome: `passed`, `failed` or `skipped`.
        text: the error, or why it was skipped.
    """

    outcome: str
    text: str


@dataclass(frozen=True)
class UpstreamRun:
    """What a run of tests came to.

    Args:
        ends: how each test ended, by its id.
        applied: how many patches were applied at the end.
    """

    ends: Mapping[str, End]
    applied: int

    def __str__(self) -> str:
        counts = Counter(end.outcome for end in self.ends.values())
        told = ", ".join(f"{counts[outcome]} {outcome}" for outcome in reversed(_ENDS))
        return f"{told}, {self.applied} patches applied"


@dataclass(frozen=True)
class UpstreamDifference:
    """A test that does not end with patchkit as it does without.

    Args:
        way: how patchkit was loaded.
        test: the id of the test.
        plain: how it ends without patchkit; None if it is not found then.
        patched: how it ends with patchkit; None if it is not found then.
    """

    way: str
    test: str
    plain: End | None
    patched: End | None

    @property
    def is_harm(self) -> bool:
        """Whether the test passes without patchkit only."""
        return bool(self.plain and self.plain.outcome == "passed") and not (
            self.patched and self.patched.outcome == "passed"
        )


def compare(tests: Sequence[str], seconds: float) -> Iterator[str | UpstreamDifference]:
    """Run tests in each way.

    A test that does not end alike is run once more in both ways, and left out if it then does.

    Args:
        tests: files, folders or ids of tests, and options, as pytest takes them.
        seconds: seconds that each test may take.

    Yields:
        a line for each way, and each test that does not end alike.

    Raises:
        SystemExit: pytest ran no test.
    """
    plain = run("plain", tests, seconds)
    yield f"plain: {plain}"
    for way in list(WAYS)[1:]:
        patched = run(way, tests, seconds)
        found = differing(plain, patched)
        if found:
            found = differing(run("plain", found, seconds), run(way, found, seconds))
        yield f"{way}: {patched}; {len(found)} tests do not end as they do without patchkit"
        for test in found:
            yield UpstreamDifference(way, test, plain.ends.get(test), patched.ends.get(test))


def differing(plain: UpstreamRun, patched: UpstreamRun) -> list[str]:
    """Return the tests that do not end alike."""
    tests = {*plain.ends, *patched.ends}
    return sorted(test for test in tests if plain.ends.get(test) != patched.ends.get(test))


def run(way: str, tests: Sequence[str], seconds: float) -> UpstreamRun:
    """Run tests in one way, in a process of their own."""
    with tempfile.TemporaryDirectory(prefix="upstream-") as folder:
        output = Path(folder, "ends.jsonl")
        output.touch()
        env = {
            **os.environ,
            "CUDA_VISIBLE_DEVICES": "",
            "HF_HUB_OFFLINE": "1",
            "OMP_NUM_THREADS": "1",
            "PYTHONHASHSEED": "0",
            "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
            WAY: way,
            OUTPUT: str(output),
            SECONDS: str(seconds),
        }
        options = ["-p", f"{__package__}.observer", "-p", "no:cacheprovider", "-W", "ignore"]
        # Options that a library's own configuration adds may need plugins that are not installed.
        command = [sys.executable, "-m", "pytest", "-q", "-o", "addopts=", *options, *tests]
        code, log = call(command, Path.cwd(), env, 1e6, Path(folder, "log"))
        found = read(output.read_text(encoding="utf-8").splitlines())
    if not found.ends:
        raise SystemExit(f"pytest ran no test, and ended with {code}: {last_error(log)}")
    return found


def read(lines: Iterable[str]) -> UpstreamRun:
    """Return what the observer wrote; of a test with subtests the worst end counts."""
    ends: dict[str, End] = {}
    applied = 0
    for line in lines:
        fields = json.loads(line)
        if "applied" in fields:
            applied = fields["applied"]
            continue
        end, before = End(fields["outcome"], fields["text"]), ends.get(fields["test"])
        if before is None or _ENDS.index(end.outcome) > _ENDS.index(before.outcome):
            ends[fields["test"]] = end
    return UpstreamRun(ends, applied)
