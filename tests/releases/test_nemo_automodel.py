"""The rewrites of NeMo Automodel on every release."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.releases

RELEASES = ["0.1.0", "0.1.2", "0.2.0", "0.3.0", "0.4.0", "0.5.0", "0.6.0", "0.7.0"]


@pytest.mark.parametrize("release", RELEASES)
def test_release(check_release, release: str) -> None:
    check_release("nemo-automodel", release)
