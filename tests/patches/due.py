"""The mark of tests for a patch that the installed releases may have no need of."""

from __future__ import annotations

import pytest

from patchkit.catalogue import entries as catalogue
from patchkit.catalogue.resolution import resolve


def only_if_due(patch_id: str) -> pytest.MarkDecorator:
    """Return a mark that skips tests where a patch is not due, and says why."""
    resolution = resolve(catalogue.load().entries[patch_id].patch)
    return pytest.mark.skipif(
        resolution.verdict is not None, reason=f"not due: {resolution.reason}"
    )
