"""What tests of patches on the real libraries share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

import patchkit
from patchkit.catalogue import entries as catalogue
from patchkit.lab import tiny
from patchkit.matrix.lookup import installed_versions, look_up

# Before a test imports the libraries.
tiny.go_offline()
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture
def skip_if_measured_to_fail() -> Callable[[str], None]:
    """Skip where a patch's reproducer fails before the bug on exactly these versions."""

    def skip(patch_id: str) -> None:
        library = catalogue.load().entries[patch_id].patch.library
        found = look_up(patch_id, library, installed_versions([library]))
        if found.level == "combination" and "error" in found.outcomes:
            pytest.skip(f"the reproducer of {patch_id} cannot run on these versions, as measured")

    return skip


@pytest.fixture
def nothing_stays_applied() -> Iterator[None]:
    yield
    patchkit.revert()
