"""Describe other tools that change the same libraries, and how patchkit works beside them."""

from __future__ import annotations

from dataclasses import dataclass

from ...about import shipped_table
from ...environment import installed_version
from .section import Section, SectionRow

NAME, TITLE = "patchers", "Others that patch"


@dataclass(frozen=True)
class Patcher:
    """How patchkit works beside another tool, and the evidence for it."""

    beside: str
    basis: str


_TABLE = shipped_table("cli/doctor/patchers.json")
PATCHERS = {name: Patcher(**said) for name, said in _TABLE.items()}
"""The tools by distribution; docs/beside.md says more."""


def check() -> Section:
    versions = {name: installed_version(name) for name in PATCHERS}
    installed = {name: version for name, version in versions.items() if version}
    rows = [
        SectionRow(name, f"{version}. {PATCHERS[name].beside} ({PATCHERS[name].basis})")
        for name, version in installed.items()
    ]
    facts = [
        {"name": name, "version": version, **vars(PATCHERS[name])}
        for name, version in installed.items()
    ]
    nothing = "None that patchkit knows is installed."
    return Section.of(NAME, TITLE, rows, facts, nothing=nothing)
