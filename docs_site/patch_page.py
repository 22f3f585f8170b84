"""The page of one patch."""

from __future__ import annotations

from markup import code_block, ranges, table, upstream_link
from measured import measurements

from patchkit.catalogue.entries import Entry
from patchkit.catalogue.explanation import Explanation, explain
from patchkit.matrix import Matrix
from patchkit.patch import REQUIREMENTS
from patchkit.verification.machine import description


def patch_page(entry: Entry, matrix: Matrix) -> str:
    """The page in Markdown."""
    one = explain(entry)
    lines = [f"# {one.id}", "", one.headline, "", f"*With the patch: {one.title}.*"]
    if one.opt_in:
        ways = ", ".join(f"`{way}`" for way in one.switch_on)
        lines += ["", f"Nobody gets it unasked. One of these asks for it: {ways}."]
    if one.messages:
        lines += ["", "## The error", ""]
        for message in one.messages:
            lines += [*code_block(message), ""]
    lines += ["", "## The bug", "", one.bug or one.headline, "", "## What the patch does", ""]
    lines += [one.mend[:1].upper() + one.mend[1:], "", *_targets(one)]
    if one.caution:
        lines += ["", "## What else changes", "", one.caution]
    lines += [*_settings(one), *_switch_off(one), *_affected(one)]
    lines += [*measurements(entry.patch, matrix), "", "## Upstream", ""]
    lines += [f"- {upstream_link(address)}" for address in one.upstream]
    return "\n".join(lines) + "\n"


def _targets(one: Explanation) -> list[str]:
    rows = [[f"`{it.target}`", it.how, it.affects or "all affected"] for it in one.targets]
    return [
        *table(["function", "how", f"in {one.library}"], rows),
        "",
        f"The lines that change in your installation: `patchkit diff {one.id}`.",
    ]


def _settings(one: Explanation) -> list[str]:
    if not one.settings:
        return []
    rows = [
        [
            f"`{it.name}`",
            ", ".join(f"`{choice}`" for choice in it.choices),
            f"`{it.variable}`",
            it.help,
        ]
        for it in one.settings
    ]
    head = ["argument of `apply`", "choices, the default first", "variable", "what it decides"]
    return ["", "## Settings", "", *table(head, rows)]


def _switch_off(one: Explanation) -> list[str]:
    return ["", "## Do without it", "", *(f"- `{way}`" for way in one.switch_off)]


def _affected(one: Explanation) -> list[str]:
    needs = description(REQUIREMENTS[name] for name in one.requires)
    needed = f" Its reproducer needs {needs}." if needs else ""
    return ["", "## Who is affected", "", f"{ranges(one.affects)}.{needed}"]
