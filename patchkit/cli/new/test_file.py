"""Write the text of the test of a new patch."""

from __future__ import annotations

from . import code
from .drafting import Draft

TEST = '''\
"""The bug without the patch, its absence with it, and nothing left behind."""

import importlib
import os
{imports}
import patchkit
import pytest
from patchkit.authoring import bind

PATCH = {quoted}
{folder}

def live() -> tuple[int, int]:
    """Return what the name holds now, and the code that it runs."""
    found = bind(importlib.import_module({module}), {qualname})
    return id(found.value), id(found.function().__code__)


def test_the_bug_shows_without_the_patch_and_not_with_it() -> None:
    # A fork saves an import of the libraries; `patchkit verify` starts new processes.
    (verdict,) = patchkit.verify(PATCH{patches}, fork=hasattr(os, "fork"))
    if verdict.outcome.startswith(("not-affected", "needs-")):
        pytest.skip(verdict.without)
    assert verdict.outcome == "fixed", verdict


def test_it_is_applied_and_taken_back() -> None:
    with patchkit.patched(exclude="*"{patches}, others=False):
        before = live()
        with patchkit.patched(PATCH, strict=True) as report:
            if report[PATCH].status in ("not-affected", "not-installed", "untested"):
                pytest.skip(report[PATCH].reason)
            assert live() != before
        assert live() == before
'''


def test_file(draft: Draft, *, in_checkout: bool) -> str:
    """Return the text of the test, which fails until the patch is done."""
    return TEST.format(
        quoted=code.string(draft.id),
        module=code.string(draft.target.module),
        qualname=code.string(draft.target.qualname),
        imports="" if in_checkout else "from pathlib import Path\n",
        folder="" if in_checkout else "FOLDER = Path(__file__).resolve().parents[1]\n",
        patches="" if in_checkout else ", patches=FOLDER",
    )
