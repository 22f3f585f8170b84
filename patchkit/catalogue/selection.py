"""Select the patches that a call of `apply` wants, and say why the rest is left out."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from functools import partial
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
    switches: Mapping[str, bool],
    off: Collection[str] = (),
) -> tuple[list[Entry], dict[str, str]]:
    """Return the patches that a call wants, and the reason for each that is left out.

    Raises:
        UnknownPatchError: a name matches no patch.
        UsageError: the selection contradicts itself.
    """
    included = set(known.entries) if only is None else known.matching_ids(only, "only=")
    excluded = known.matching_ids(exclude, "exclude=")
    both = included & excluded
    if only is not None and both and not included - excluded:
        raise UsageError(
            f"only= and exclude= contradict each other: both name {', '.join(sorted(both))}"
        )
    unrequested = _unrequested_opt_ins(known, only, excluded, switches, off)
    included |= {entry.patch.id for entry in known if entry.patch.opt_in} - unrequested
    disabled = disabled_patches(known)
    for patch_id in known.entries.keys() - disabled.keys():
        if patch_id in excluded:
            disabled[patch_id] = "left out by exclude="
        elif patch_id not in included | unrequested:
            disabled[patch_id] = "left out by only="
    left_out = disabled.keys() | unrequested
    wanted = [entry for entry in known if entry.patch.id not in left_out]
    return wanted, disabled


def _unrequested_opt_ins(
    known: Catalogue,
    only: Collection[str] | None,
    excluded: set[str],
    switches: Mapping[str, bool],
    off: Collection[str],
) -> set[str]:
    """Return the ids of the opt-in patches that nobody asked for."""
    chosen = set(only or ())
    unrequested = set()
    for entry in known:
        patch_id, keyword = entry.patch.id, entry.patch.opt_in
        switch = switches.get(keyword)
        argument, named = ("exclude=", excluded) if switch else ("only=", chosen)
        if switch is not None and patch_id in named:
            raise UsageError(
                f"{keyword}={switch} and {argument} contradict each other: {argument} names "
                f"{patch_id}"
            )
        if not keyword or switch or patch_id in chosen:
            continue
        by_variable = settings.is_switched_on(keyword)
        if switch is False or keyword in off or not by_variable:
            unrequested.add(patch_id)
    return unrequested


def refusals(known: Catalogue) -> tuple[str, ...]:
    """Return why every call of `apply` would raise here: variables that make no sense."""
    checks: list[Callable[[], object]] = [lambda: disabled_patches(known)]
    checks += [partial(settings.check_variable, setting) for setting in known.settings]
    checks += [partial(settings.is_switched_on, keyword) for keyword in known.opt_ins]
    found = []
    for check in checks:
        try:
            check()
        except UsageError as error:
            found.append(str(error))
    return tuple(found)


def disabled_patches(known: Catalogue) -> dict[str, str]:
    """Return the patches that the environment switches off, with the reason.

    Raises:
        UnknownPatchError: a name in it matches no patch.
    """
    names = [name for name in split_names([os.environ.get(DISABLE_VARIABLE, "")]) if name]
    chosen = (
        known.entries
        if "all" in names
        else known.matching_ids(names, f"the environment variable {DISABLE_VARIABLE}")
    )
    return dict.fromkeys(chosen, f"switched off by {DISABLE_VARIABLE}")
