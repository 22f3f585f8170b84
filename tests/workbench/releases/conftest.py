"""Released wheels, as `tests/releases` reads them."""

from __future__ import annotations

from ...releases.conftest import modules

__all__ = ["modules"]
