"""The old path of `patchkit.engine.session`."""

import warnings

from patchkit.engine.session import SESSION, Session

__all__ = ["SESSION", "Session"]

warnings.warn(
    "patchkit.session is patchkit.engine.session now; the old path goes with the next release",
    DeprecationWarning,
    stacklevel=2,
)
