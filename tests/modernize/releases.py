"""The releases that texts are written for in these tests."""

from __future__ import annotations

from patchkit.legacy.rows import all_rows
from patchkit.legacy.versions.due import Due

NEWEST = {
    "trl": "1.16.0",
    "transformers": "5.23.0",
    "peft": "0.21.2",
    "accelerate": "1.15.0",
    "datasets": "5.2.0",
}
DUE = Due(all_rows(), NEWEST.get)
