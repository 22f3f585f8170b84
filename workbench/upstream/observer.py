"""A pytest plugin: loads patchkit or not, seeds each test alike, and writes down how each ends."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

WAYS: dict[str, dict[str, Any] | None] = {"plain": None, "apply": {}, "legacy": {"legacy": True}}
"""The arguments of `patchkit.apply` for each way; None where it is not called."""
WAY, OUTPUT, SECONDS = "UPSTREAM_WAY", "UPSTREAM_OUTPUT", "UPSTREAM_SECONDS"
_VARIES = re.compile(r"0x[0-9a-f]+|/tmp/[\w/.-]+|\b\d+(?:\.\d+)?(?:ms|s)\b")
"""Addresses, temporary files and times, which are others in every run."""


class OutOfTime(BaseException):
    """A test takes too long; `except Exception` in a test does not catch this."""


def _stop(number: int, frame: object) -> None:
    raise OutOfTime(f"this test was stopped after {os.environ[SECONDS]} seconds")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    random.seed(0)
    for name, function in (("numpy.random", "seed"), ("torch", "manual_seed")):
        if module := sys.modules.get(name):
            getattr(module, function)(0)
    before = signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, float(os.environ[SECONDS]))
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" or report.outcome != "passed":
        _write(report)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.outcome != "passed":
        _write(report)


def pytest_sessionfinish() -> None:
    if patchkit := sys.modules.get("patchkit"):
        _append({"applied": len(patchkit.report().with_status("applied"))})


def _write(report: pytest.TestReport | pytest.CollectReport) -> None:
    longrepr: Any = report.longrepr
    crash = getattr(longrepr, "reprcrash", None)
    text = longrepr[-1] if isinstance(longrepr, tuple) else crash.message if crash else longrepr
    text = _VARIES.sub("…", " ".join(str(text or "").split()))
    _append({"test": report.nodeid, "outcome": report.outcome, "text": text})


def _append(fields: dict[str, Any]) -> None:
    with Path(os.environ[OUTPUT]).open("a", encoding="utf-8") as file:
        file.write(f"{json.dumps(fields)}\n")


if WAY in os.environ and (arguments := WAYS[os.environ[WAY]]) is not None:
    import patchkit

    patchkit.apply(**arguments)
