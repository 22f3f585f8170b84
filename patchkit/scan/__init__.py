"""The static scan: what became of each patch in each release, read off released sources."""

from .errors import ScanError
from .run import Scanned, scan

__all__ = ["ScanError", "Scanned", "scan"]
