"""What tests of patches on the real libraries share."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from patchkit.catalogue import entries as catalogue
from patchkit.matrix.lookup import installed_versions, look_up


@pytest.fixture
def skip_if_measured_to_fail() -> Callable[[str], None]:
    """Skip where a patch's reproducer fails before the bug on exactly these versions."""

    def skip(patch_id: str) -> None:
        library = catalogue.load().entries[patch_id].patch.library
        found = look_up(patch_id, library, installed_versions([library]))
        if found.level == "combination" and "error" in found.outcomes:
            pytest.skip(f"the reproducer of {patch_id} cannot run on these versions, as measured")

    return skip


@pytest.fixture(scope="session", autouse=True)
def quiet_libraries() -> None:
    from patchkit.lab import tiny

    tiny.go_offline()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
