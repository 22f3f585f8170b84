"""Say why a function does not fit a patch: of a live one as of one in a file that was only read."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def misfit(
    module: str, missing: Sequence[str], found: int, expected: int | None, qualname: str = ""
) -> str:
    """Return why a rule cannot edit a function; empty if it can.

    It must have the expected number of sites, or any but none if that is None. A qualified name is
    given for a sentence that does not begin with it.
    """
    if found and missing:
        return f"{module} does not import {', '.join(missing)} any more"
    if found and found == (expected or found):
        return ""
    occurrences = f"{expected or 'at least 1'} occurrence{'s' * ((expected or 1) > 1)}"
    where = f" in {qualname}" if qualname else ""
    return f"expected {occurrences} of the buggy code{where}, found {found}"


def missing_parameters(qualname: str, expected: Sequence[str], present: Collection[str]) -> str:
    """Return why a callable does not fit a wrapper that reads these parameters, or nothing."""
    missing = [name for name in expected if name not in present]
    return f"{qualname} has no parameter {', '.join(missing)} any more" if missing else ""
