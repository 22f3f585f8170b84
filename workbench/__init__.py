"""What maintainers run from a checkout; it is not installed, and patchkit never imports it."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The checkout."""
