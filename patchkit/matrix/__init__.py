"""The compatibility matrix: which patches were measured on which versions, with what result."""

from .file import default_path, read, read_or_empty, write
from .lookup import Tested, installed, outcomes, shipped, tested
from .outcome_table import OUTCOMES, STATES
from .records import (
    Environment,
    Matrix,
    MatrixError,
    Result,
    Scan,
    Unmeasured,
)

__all__ = [
    "OUTCOMES",
    "STATES",
    "Environment",
    "Matrix",
    "MatrixError",
    "Result",
    "Scan",
    "Tested",
    "Unmeasured",
    "default_path",
    "installed",
    "outcomes",
    "read",
    "read_or_empty",
    "shipped",
    "tested",
    "write",
]
