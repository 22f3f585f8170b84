"""The patches that are due with a set of versions where a device has no bfloat16."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from ...catalogue.entries import Entry
from ...catalogue.explanation import explain
from ...environment import in_range
from ...patch import Patch

_HALF = re.compile(r"\bfp16\b|\bfloat16\b|GradScaler|half precision")
"""Found in the description of a patch whose bug shows where training is in float16."""


def due_in_float16(catalogue: Iterable[Entry], versions: Mapping[str, str]) -> Iterator[Patch]:
    """Yield the patches that a training in float16 needs with a set of versions.

    Args:
        catalogue: all patches.
        versions: distribution to version.
    """
    for entry in catalogue:
        patch = entry.patch
        if not patch.opt_in and _affects(patch, versions):
            known = explain(entry)
            words = (known.headline, known.bug, known.title, *known.messages)
            if any(map(_HALF.search, words)):
                yield patch


def _affects(patch: Patch, versions: Mapping[str, str]) -> bool:
    return all(
        library in versions and in_range(versions[library], affected)
        for library, affected in patch.affects.items()
    )
