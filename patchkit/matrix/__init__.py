"""The compatibility matrix: the patches measured, the versions, and the outcomes."""

from .file import default_path, read, read_or_empty, write
from .lookup import (
    Tested,
    installed_versions,
    look_up,
    measured_versions,
    oldest_measured,
    outcomes,
    shipped,
)
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
    "installed_versions",
    "look_up",
    "measured_versions",
    "oldest_measured",
    "outcomes",
    "read",
    "read_or_empty",
    "shipped",
    "write",
]
