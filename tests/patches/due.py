"""The mark of tests for a patch that the installed releases may have no need of."""

from __future__ import annotations

import pytest

from patchkit.catalogue import entries as catalogue
from patchkit.catalogue.resolution import resolve


def only_if_due(patch_id: str, unless_due: str = "") -> pytest.MarkDecorator:
    """Return a mark that skips tests where a patch is not due, and says why.

    Args:
        patch_id: the patch.
        unless_due: a patch of a bug that ends each training before, which skips the tests, too.
    """
    entries = catalogue.load().entries
    resolution = resolve(entries[patch_id].patch)
    skips, reason = resolution.verdict is not None, f"not due: {resolution.reason}"
    if unless_due and resolve(entries[unless_due].patch).verdict is None:
        skips, reason = True, f"nothing trains here without {unless_due}"
    return pytest.mark.skipif(skips, reason=reason)
