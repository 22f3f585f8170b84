"""Released wheels, downloaded once and read without being installed."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from patchkit import catalogue
from patchkit.environment import in_range
from patchkit.patch import Patch, Rewrite
from patchkit.rewrite import edited_code, functions_in_file
from patchkit.rewrite.edit import apply_edits
from patchkit.rewrite.target import Target

CACHE = Path(os.environ.get("PATCHKIT_WHEELS", Path(__file__).parents[2] / ".cache" / "wheels"))


Found = tuple[str, str, int, int]
"""The id of a patch, a target, the number of the rule, and how many sites there are."""

HARMLESS = {
    # From 1.14 on the loss multiplies with the head's weight itself; its forward is not called.
    "trl-fp32-lm-head-autocast": ">=1.14",
}
"""Where code that looks like the bug stands, and does not do what it did."""


@pytest.fixture(scope="session")
def sources() -> Callable[[str, str], Iterator[tuple[str, str]]]:
    """`sources("trl", "1.16.0")`: names and texts of the modules of a release."""

    def read(library: str, version: str) -> Iterator[tuple[str, str]]:
        with zipfile.ZipFile(_wheel(library, version)) as wheel:
            for name in wheel.namelist():
                if name.endswith(".py") and name.startswith(f"{library}/"):
                    yield name, wheel.read(name).decode()

    return read


def rewrites_of(library: str) -> list[Patch]:
    """The patches of a library that do nothing but rewrite."""
    return [
        entry.patch
        for entry in catalogue.load()
        if entry.patch.library == library
        and all(isinstance(change, Rewrite) for change in entry.patch.changes)
    ]


@pytest.fixture(scope="session")
def check_release(sources) -> Callable[[str, str], None]:
    """`check_release("trl", "1.16.0")`, for all patches of a library that rewrite.

    Each known target has its sites, no other function has one, and only sites are edited.
    """

    def check(library: str, release: str) -> None:
        rules = [
            (patch, rule)
            for patch in rewrites_of(library)
            for rule in dict.fromkeys(change.rule for change in patch.changes)
        ]
        assert rules
        found = set()
        for name, text in sources(library.replace("-", "_"), release):
            candidates = [
                (patch, rule) for patch, rule in rules if all(word in text for word in rule.names)
            ]
            for source in functions_in_file(text, name) if candidates else ():
                for patch, rule in candidates:
                    sites = rule.plan(source)
                    if sites:
                        module = name.removesuffix(".py").replace("/", ".")
                        target = str(Target(module, source.qualname))
                        found.add((patch.id, target, rules.index((patch, rule)), len(sites)))
                        _check_edit(source, rule, [edit for site in sites for edit in site])
        assert _outermost(found) - set(_harmless(found, release)) == set(_expected(rules, release))

    return check


def _outermost(found: set[Found]) -> set[Found]:
    """Without functions inside others that were found: they share the site."""
    return {
        (patch, target, *rest)
        for patch, target, *rest in found
        if (patch, target.partition(".<locals>")[0], *rest) not in found - {(patch, target, *rest)}
    }


def _harmless(found: set[Found], release: str) -> Iterator[Found]:
    for one in found:
        if one[0] in HARMLESS and in_range(release, HARMLESS[one[0]]):
            yield one


def _expected(rules, release: str) -> Iterator[tuple[str, str, int, int]]:
    for number, (patch, rule) in enumerate(rules):
        if in_range(release, patch.affects[patch.library]):
            for change in patch.changes:
                due = not change.affects or in_range(release, change.affects)
                if change.rule == rule and due and "*" not in change.target:
                    yield patch.id, change.target, number, change.sites


def _check_edit(source, rule, edits) -> None:
    lines = apply_edits(source.lines, edits)
    assert len(lines) == len(source.lines)
    edited_code(source, edits, [rule], source.name)
    assert _untouched("".join(lines), edits) == _untouched("".join(source.lines), edits)


def _untouched(text: str, edits) -> list[str]:
    """All statements of a file that no edit touches, with their places, at whatever depth."""
    touched = {line for edit in edits for line in range(edit.start[0], edit.end[0] + 1)}
    return [
        ast.dump(node, include_attributes=True)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.stmt)
        and touched.isdisjoint(range(node.lineno, (node.end_lineno or 0) + 1))
    ]


def _wheel(library: str, version: str) -> Path:
    pattern = f"{library}-{version}-*.whl"
    if not list(CACHE.glob(pattern)):
        CACHE.mkdir(parents=True, exist_ok=True)
        # Moved into place when it is whole: another test process may be looking.
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
            command += ["--only-binary=:all:", "--dest", folder, f"{library}=={version}"]
            subprocess.run(command, check=True)
            (wheel,) = Path(folder).glob("*.whl")
            wheel.replace(CACHE / wheel.name)
    return next(CACHE.glob(pattern))
