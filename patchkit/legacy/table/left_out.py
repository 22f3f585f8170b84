"""What changed and has no row, on purpose."""

from __future__ import annotations

from collections.abc import Mapping

LEFT_OUT: Mapping[str, str] = {}
"""What it is, as `patchkit legacy scan` names it, and why it has no row."""
