"""The rewrites of TRL on every release: the right sites, all of them, and nothing else."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.releases

RELEASES = [
    "0.18.0",
    "0.18.1",
    "0.18.2",
    "0.19.0",
    "0.19.1",
    "0.20.0",
    "0.21.0",
    "0.22.0",
    "0.22.1",
    "0.22.2",
    "0.23.0",
    "0.23.1",
    "0.24.0",
    "0.25.0",
    "0.25.1",
    "0.26.0",
    "0.26.1",
    "0.26.2",
    "0.27.0",
    "0.27.1",
    "0.27.2",
    "0.28.0",
    "0.29.0",
    "0.29.1",
    "1.0.0",
    "1.1.0",
    "1.2.0",
    "1.3.0",
    "1.4.0",
    "1.5.0",
    "1.5.1",
    "1.6.0",
    "1.7.0",
    "1.7.1",
    "1.8.0",
    "1.9.0",
    "1.9.1",
    "1.9.2",
    "1.10.0",
    "1.11.0",
    "1.12.0",
    "1.13.0",
    "1.14.0",
    "1.14.1",
    "1.14.2",
    "1.15.0",
    "1.16.0",
]


@pytest.mark.parametrize("release", RELEASES)
def test_release(check_release, release: str) -> None:
    check_release("trl", release)
