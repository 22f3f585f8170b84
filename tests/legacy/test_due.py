"""Which rows of the table matter to a release."""

from __future__ import annotations

import pytest

from patchkit.environment import in_range
from patchkit.legacy.versions.due import _has


@pytest.mark.parametrize("version", ["0.9", "1.0", "1.0rc1", "1.0.dev0", "1.0+cu", "1.0.post1"])
@pytest.mark.parametrize("release", ["0.9", "1.0", "1.0.0", "1.0rc1", "1.1"])
def test_a_comparison_says_what_a_range_says(version: str, release: str) -> None:
    assert _has(version, release) is in_range(version, f">={release}")
    assert _has(version, release) is not in_range(version, f"<{release}")
