"""What a Python script names of the libraries: `read(text)` gives a `Script`."""

from __future__ import annotations

from .reader import read
from .script import Script

__all__ = ["Script", "read"]
