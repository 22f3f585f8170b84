"""The explanation of a patch: the same on every machine, whatever is installed."""

from __future__ import annotations

import inspect
import shlex
import sys
from dataclasses import asdict, dataclass
from typing import Any

from ..patch import Change, Patch, Rewrite, apply_call, wrapper_name
from ..settings import Setting, variable_name
from .entries import Entry

_FIX = ("Fix:", "No fix:")
"""Words that begin the docstring paragraph about what the patch does."""
_WHY = ("Why:",)
"""Words that begin the paragraphs about why the patch does that."""


@dataclass(frozen=True)
class ExplainedTarget:
    """One change of a patch.

    Args:
        target: `module:qualname`, perhaps with wildcards.
        how: `rewritten`, or `wrapped by` and the name of the wrapper.
        affects: the range of the patch's library in which this target has the bug; empty if it is
            that of the whole patch.
    """

    target: str
    how: str
    affects: str = ""


@dataclass(frozen=True)
class Explanation:
    """One patch in words; texts are Markdown.

    Args:
        id: the patch.
        title: how things are once it is applied.
        library: the distribution it fixes.
        headline: the bug in one sentence; empty if the patch file has no docstring.
        bug: more about the bug, without the headline.
        fix: what the patch does; empty if its docstring has no paragraph `Fix:`.
        why: why the patch does that; empty if no paragraph `Why:` follows the fix.
        messages: error texts that the bug puts on the screen.
        caution: what changes for someone who never met the bug.
        affects: distribution to PEP 440 range.
        upstream: links to the reports and fixes.
        targets: what is changed.
        settings: what a user may choose; the first choice is the default.
        opt_in: the keyword of `apply` that turns an opt-in patch on; empty for all others.
        switch_on: ways to turn an opt-in patch on, each a piece of code or a command.
        requires: what its reproducer needs of the machine, such as `cuda`.
        switch_off: ways to leave it out, each a piece of code or a command.
    """

    id: str
    title: str
    library: str
    headline: str
    bug: str
    fix: str
    why: str
    messages: tuple[str, ...]
    caution: str
    affects: dict[str, str]
    upstream: tuple[str, ...]
    targets: tuple[ExplainedTarget, ...]
    settings: tuple[Setting, ...]
    opt_in: str
    switch_on: tuple[str, ...]
    requires: tuple[str, ...]
    switch_off: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        settings = [{**asdict(setting), "variable": setting.variable} for setting in self.settings]
        return {**asdict(self), "settings": settings}


def explain(entry: Entry) -> Explanation:
    """Put a patch into words."""
    patch = entry.patch
    module = sys.modules.get(entry.module)
    headline, bug, fix, why = _read((module and module.__doc__) or "")
    return Explanation(
        id=patch.id,
        title=patch.title,
        library=patch.library,
        headline=headline,
        bug=bug,
        fix=fix,
        why=why,
        messages=patch.messages,
        caution=patch.caution,
        affects=dict(patch.affects),
        upstream=patch.upstream,
        targets=tuple(map(_target, patch.changes)),
        settings=patch.settings,
        opt_in=patch.opt_in,
        switch_on=_switch_on(patch, entry.file),
        requires=patch.requires,
        switch_off=_switch_off(patch, entry.file),
    )


def _read(docstring: str) -> tuple[str, str, str, str]:
    """Return the headline, the bug, the fix and the reasons for it."""
    headline, *paragraphs = inspect.cleandoc(docstring).split("\n\n")
    bug, rest = _split_at(_FIX, paragraphs)
    fix, why = _split_at(_WHY, rest)
    return " ".join(headline.split()), _joined(bug), _joined(fix, _FIX), _joined(why, _WHY)


def _split_at(words: tuple[str, ...], paragraphs: list[str]) -> tuple[list[str], list[str]]:
    """Return the paragraphs before the first that begins with one of the words, and the rest."""
    starts = (number for number, text in enumerate(paragraphs) if text.startswith(words))
    first = next(starts, len(paragraphs))
    return paragraphs[:first], paragraphs[first:]


def _joined(paragraphs: list[str], beginnings: tuple[str, ...] = ()) -> str:
    text = "\n\n".join(paragraphs)
    for word in beginnings:
        text = text.removeprefix(word)
    return text.strip()


def _target(change: Change) -> ExplainedTarget:
    if isinstance(change, Rewrite):
        return ExplainedTarget(change.target, "rewritten", change.affects)
    return ExplainedTarget(
        change.target, f"wrapped by {wrapper_name(change.wrapper)}", change.affects
    )


def _switch_on(patch: Patch, file: str) -> tuple[str, ...]:
    if not patch.opt_in:
        return ()
    return (
        apply_call(patch.opt_in),
        f"{variable_name(patch.opt_in)}=1",
        f"patchkit run {_patches_option(file)}--opt-in {patch.opt_in} -- python train.py",
        f'patchkit.apply(only="{patch.id}")',
    )


def _patches_option(file: str) -> str:
    """Return the option that makes a command load a project's own patch file."""
    return f"--patches {shlex.quote(file)} " if file else ""


def _switch_off(patch: Patch, file: str) -> tuple[str, ...]:
    argument, option = f'exclude="{patch.id}"', f"--exclude {patch.id}"
    if patch.opt_in:
        argument, option = f"{patch.opt_in}=False", f"--opt-out {patch.opt_in}"
    return (
        f"patchkit.apply({argument})",
        f"PATCHKIT_DISABLE={patch.id}",
        f"patchkit run {_patches_option(file)}{option} -- python train.py",
        f'patchkit.revert(only="{patch.id}")',
    )
