"""The rewrites of TRL on every release: the right sites, all of them, and nothing else."""

from __future__ import annotations

import ast

import pytest

from patchkit import catalogue
from patchkit.environment import in_range
from patchkit.patch import Rewrite
from patchkit.rewrite import edited_code, functions_in_file
from patchkit.rewrite.edit import apply_edits
from patchkit.rewrite.target import Target

pytestmark = pytest.mark.releases

RELEASES = [
    "0.18.0",
    "0.18.1",
    "0.18.2",
    "0.19.0",
    "0.19.1",
    "0.20.0",
    "0.21.0",
    "0.22.0",
    "0.22.1",
    "0.22.2",
    "0.23.0",
    "0.23.1",
    "0.24.0",
    "0.25.0",
    "0.25.1",
    "0.26.0",
    "0.26.1",
    "0.26.2",
    "0.27.0",
    "0.27.1",
    "0.27.2",
    "0.28.0",
    "0.29.0",
    "0.29.1",
    "1.0.0",
    "1.1.0",
    "1.2.0",
    "1.3.0",
    "1.4.0",
    "1.5.0",
    "1.5.1",
    "1.6.0",
    "1.7.0",
    "1.7.1",
    "1.8.0",
    "1.9.0",
    "1.9.1",
    "1.9.2",
    "1.10.0",
    "1.11.0",
    "1.12.0",
    "1.13.0",
    "1.14.0",
    "1.14.1",
    "1.14.2",
    "1.15.0",
    "1.16.0",
]
PATCHES = [
    entry.patch
    for entry in catalogue.load()
    if entry.patch.library == "trl" and all(isinstance(c, Rewrite) for c in entry.patch.changes)
]


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("patch", PATCHES, ids=[patch.id for patch in PATCHES])
def test_release(sources, patch, release: str) -> None:
    """Each known target has its sites, no other function has one, and only sites are edited."""
    rules = list(dict.fromkeys(change.rule for change in patch.changes))
    expected = {
        (change.target, rules.index(change.rule), change.sites)
        for change in patch.changes
        if "*" not in change.target
        and in_range(release, patch.affects["trl"])
        and (not change.affects or in_range(release, change.affects))
    }
    found = set()
    for name, text in sources("trl", release):
        candidates = [r for r in rules if all(word in text for word in r.names)]
        if not candidates:
            continue
        for source in functions_in_file(text, name):
            for rule in candidates:
                sites = rule.plan(source)
                if sites:
                    module = name.removesuffix(".py").replace("/", ".")
                    target = str(Target(module, source.qualname))
                    found.add((target, rules.index(rule), len(sites)))
                    _check_edit(source, rule, [edit for site in sites for edit in site])
    assert found == expected


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
