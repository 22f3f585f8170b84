"""Write the page of one patch."""

from __future__ import annotations

from markup import code_block, ranges, table, upstream_link
from measured import measurements

from patchkit.catalogue.entries import Entry
from patchkit.catalogue.explanation import Explanation, explain
from patchkit.matrix.records import Matrix
from patchkit.patch import REQUIREMENTS
from patchkit.verification.machine import description


def patch_page(entry: Entry, matrix: Matrix) -> str:
    """Return the page in Markdown."""
    patch = explain(entry)
    lines = [f"# {patch.id}", "", patch.headline, "", f"*With the patch: {patch.title}.*"]
    if patch.opt_in:
        ways = ", ".join(f"`{way}`" for way in patch.switch_on)
        lines += ["", f"It is off by default. Switch it on with one of these: {ways}."]
    if patch.messages:
        lines += ["", "## The error", ""]
        for message in patch.messages:
            lines += [*code_block(message), ""]
    lines += ["", "## The bug", "", patch.bug or patch.headline, "", "## What the patch does", ""]
    lines += [patch.fix[:1].upper() + patch.fix[1:], "", *_targets(patch)]
    if patch.why:
        lines += ["", "## Why it does that", "", patch.why[:1].upper() + patch.why[1:]]
    if patch.caution:
        lines += ["", "## What else changes", "", patch.caution]
    lines += [*_settings(patch), *_switch_off(patch), *_affected(patch)]
    lines += [*measurements(entry.patch, matrix), "", "## Upstream", ""]
    lines += [f"- {upstream_link(address)}" for address in patch.upstream]
    return "\n".join(lines) + "\n"


def _targets(patch: Explanation) -> list[str]:
    rows = [
        [f"`{target.target}`", target.how, target.affects or "all affected versions"]
        for target in patch.targets
    ]
    return [
        *table(["function", "how", f"in {patch.library}"], rows),
        "",
        f"`patchkit diff {patch.id}` shows the lines that change in your installation.",
    ]


def _settings(patch: Explanation) -> list[str]:
    if not patch.settings:
        return []
    rows = [
        [
            f"`{setting.name}`",
            ", ".join(f"`{choice}`" for choice in setting.choices),
            f"`{setting.variable}`",
            setting.help,
        ]
        for setting in patch.settings
    ]
    head = ["argument of `apply`", "choices, default first", "variable", "meaning"]
    return ["", "## Settings", "", *table(head, rows)]


def _switch_off(patch: Explanation) -> list[str]:
    return ["", "## Switch it off", "", *(f"- `{way}`" for way in patch.switch_off)]


def _affected(patch: Explanation) -> list[str]:
    needs = description(REQUIREMENTS[name] for name in patch.requires)
    needed = f" Its reproducer needs {needs}." if needs else ""
    return ["", "## Who is affected", "", f"{ranges(patch.affects)}.{needed}"]
