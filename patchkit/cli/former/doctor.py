"""The old path of `patchkit.cli.doctor`."""

import warnings

from patchkit.cli.doctor import Diagnosis, diagnose

__all__ = ["Diagnosis", "diagnose"]

warnings.warn(
    "patchkit.doctor is patchkit.cli.doctor now; the old path goes with the next release",
    DeprecationWarning,
    stacklevel=2,
)
