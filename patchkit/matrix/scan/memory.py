"""Remember the facts of modules in the cache folder."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...about import PACKAGE
from ...patch import Rewrite
from ..file import replace_text
from ..records import ScanError
from .facts import BuggyFunction, Facts
from .questions import Questions

_FINGERPRINTED = (
    "rewrite/*.py",
    "precision/*.py",
    "matrix/scan/facts.py",
    "matrix/scan/outline.py",
    "matrix/scan/parsed.py",
)
"""Files of patchkit that decide the facts; patches share rules of `precision`."""


def key(module: str, content: bytes) -> str:
    """Return the key of a module's facts: releases have most of their files in common."""
    return hashlib.sha256(module.encode() + b"\0" + content).hexdigest()[:32]


class Memory:
    """The facts of one library's modules, as its patches stand now.

    They are forgotten when a patch of the library, the rewriter or the minor version of Python
    changes. Files are only added to the folder, so any number of processes may write; without a
    folder nothing outlives this object.

    Raises:
        ScanError: the folder cannot be read.
    """

    def __init__(self, folder: Path | None, library: str, questions: Questions) -> None:
        self._known: dict[str, Facts] = {}
        self._folder = None
        if folder is not None:
            self._folder = folder / "facts" / f"{library}-{_fingerprint(questions)}"
            for file in sorted(self._folder.glob("*.json")):
                self._known.update(_read(file))

    def __getitem__(self, name: str) -> Facts:
        return self._known[name]

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def add(self, new: Mapping[str, Facts]) -> None:
        """Remember facts.

        Raises:
            ScanError: the folder cannot be written.
        """
        self._known.update(new)
        if self._folder is None or not new:
            return
        name = hashlib.sha256("".join(sorted(new)).encode()).hexdigest()[:32]
        text = json.dumps({digest: asdict(facts) for digest, facts in new.items()})
        keep(self._folder / f"{name}.json", text)


def keep(file: Path, text: str) -> None:
    """Put a text into a file of the cache, in one step; make its folder if it is not there.

    Raises:
        ScanError: the folder cannot be written.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_text(file, text)
    except OSError as error:
        raise ScanError(
            f"{file.parent} cannot be written: {error.strerror}; choose another folder with "
            "--cache or PATCHKIT_CACHE"
        ) from error


def _read(file: Path) -> dict[str, Facts]:
    """Read what a file remembers; nothing if it is damaged."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        return {name: _facts(**fields) for name, fields in content.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _facts(
    functions: list[dict[str, Any]], targets: dict[str, str], unread: str, unknown: list[str]
) -> Facts:
    buggy = (BuggyFunction(**{**row, "missing": tuple(row["missing"])}) for row in functions)
    return Facts(tuple(buggy), targets, unread, tuple(unknown))


def _fingerprint(questions: Questions) -> str:
    digest = hashlib.sha256(repr(sys.version_info[:2]).encode())
    digest.update("\n".join(_descriptions(questions)).encode())
    for file in sorted(set(_files(questions))):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _descriptions(questions: Questions) -> Iterator[str]:
    for question in questions.by_key.values():
        expected: object = (
            None if isinstance(question.change, Rewrite) else question.change.parameters
        )
        sites = question.change.sites if isinstance(question.change, Rewrite) else 0
        yield f"{question.key} {question.target} {question.rule} {expected} {sites}"


def _files(questions: Questions) -> Iterator[Path]:
    for pattern in _FINGERPRINTED:
        yield from Path(PACKAGE).glob(pattern)
    for question in questions.by_key.values():
        if isinstance(question.change, Rewrite):
            for function in (question.change.rule.site, question.change.rule.edit):
                yield from _beside(getattr(function, "__module__", type(function).__module__))


def _beside(module: str) -> Iterable[Path]:
    """List the file of a module and those beside it: patches take rules from each other."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return Path(file).parent.glob("*.py") if file else ()
