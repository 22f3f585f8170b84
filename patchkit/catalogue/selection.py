"""Which patches a call of `apply` wants, and why it does not want the rest."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import TYPE_CHECKING

from .. import settings
from ..errors import UsageError
from ..text import split_names

if TYPE_CHECKING:
    from .entries import Catalogue, Entry

DISABLE_VARIABLE = "PATCHKIT_DISABLE"


def select(
    known: Catalogue,
    only: Collection[str] | None,
    exclude: Collection[str],
    asked: Collection[str],
) -> tuple[list[Entry], dict[str, str]]:
    """Return what a call wants, and why it does not want the rest.

    Args:
        known: the patches there are.
        only: ids and globs; None for all.
        exclude: ids and globs.
        asked: the keywords of `apply` that ask for a patch with such an `opt_in`.

    Raises:
        UnknownPatchError: a name matches no patch.
        UsageError: the selection contradicts itself.
    """
    included = set(known.entries) if only is None else known.named(only, "only=")
    excluded = known.named(exclude, "exclude=")
    both = included & excluded
    if only is not None and both and not included - excluded:
        raise UsageError(
            f"only= and exclude= contradict each other: both name {', '.join(sorted(both))}"
        )
    unasked = _unasked(known, only, excluded, asked)
    included |= {entry.patch.id for entry in known if entry.patch.opt_in} - unasked
    disabled = switched_off(known)
    for patch_id in known.entries.keys() - disabled.keys():
        if patch_id in excluded:
            disabled[patch_id] = "left out by exclude="
        elif patch_id not in included | unasked:
            disabled[patch_id] = "left out by only="
    left_out = disabled.keys() | unasked
    wanted = [entry for entry in known if entry.patch.id not in left_out]
    return wanted, disabled


def _unasked(
    known: Catalogue,
    only: Collection[str] | None,
    excluded: set[str],
    asked: Collection[str],
) -> set[str]:
    """Return the opt-in patches, less those that are asked for."""
    named = set(only or ())
    unasked = set()
    for entry in known:
        patch_id, keyword = entry.patch.id, entry.patch.opt_in
        if keyword in asked and patch_id in excluded:
            raise UsageError(
                f"{keyword}=True and exclude= contradict each other: exclude= names {patch_id}"
            )
        if keyword and not (keyword in asked or patch_id in named or settings.switched_on(keyword)):
            unasked.add(patch_id)
    return unasked


def switched_off(known: Catalogue) -> dict[str, str]:
    """The patches that the environment switches off, and the reason to give.

    Raises:
        UnknownPatchError: it names no patch.
    """
    names = [name for name in split_names([os.environ.get(DISABLE_VARIABLE, "")]) if name]
    chosen = (
        known.entries
        if "all" in names
        else known.named(names, f"the environment variable {DISABLE_VARIABLE}")
    )
    return dict.fromkeys(chosen, f"switched off by {DISABLE_VARIABLE}")
