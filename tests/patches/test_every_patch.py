"""What must be so of each patch in the catalogue, on whatever versions are installed."""

from __future__ import annotations

import re

import pytest

import patchkit
from patchkit import catalogue
from patchkit.patch import Status
from patchkit.verification import verify

ENTRIES = catalogue.load()
IDS = list(ENTRIES.entries)


def test_no_definition_is_broken() -> None:
    assert not ENTRIES.broken


@pytest.mark.parametrize("patch_id", IDS)
def test_a_patch_is_complete(patch_id: str) -> None:
    entry = ENTRIES.entries[patch_id]
    assert entry.reproduce is not None
    assert entry.patch.symptom
    assert entry.patch.upstream
    assert all(re.match(r"https://github\.com/", link) for link in entry.patch.upstream)
    assert patch_id.startswith(entry.patch.library.replace("_", "-"))


@pytest.mark.parametrize("patch_id", IDS)
def test_reproducer_fails_without_and_passes_with(patch_id: str) -> None:
    (verdict,) = verify([patch_id])
    due = patchkit.report()[patch_id].status not in (Status.NOT_AFFECTED, Status.NOT_INSTALLED)
    assert verdict.outcome == ("mended" if due else "not-affected"), verdict


SWEEP = """
    import importlib, pkgutil, sys, types
    import trl, accelerate, transformers, peft
    from trl import *

    def code_of(value):
        return value.__code__ if type(value) is types.FunctionType else value

    def codes():
        found = {{}}
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] not in ("trl", "accelerate", "peft"):
                continue
            for key, value in list(vars(module).items()):
                if isinstance(value, types.FunctionType) and value.__module__ == name:
                    found[f"{{name}}:{{key}}"] = value.__code__
                if isinstance(value, type) and value.__module__ == name:
                    for attribute, inner in list(vars(value).items()):
                        found[f"{{name}}:{{key}}.{{attribute}}"] = code_of(inner)
        return found

    for name in trl.__all__ if hasattr(trl, "__all__") else dir(trl):
        try:
            getattr(trl, name)
        except Exception:
            pass
    before = codes()
    import patchkit
    {calls}
    after = codes()
    result = sorted(name for name in before if before[name] is not after[name])
"""


def test_apply_touches_only_what_the_report_names(fresh) -> None:
    changed = fresh(SWEEP.format(calls="report = patchkit.apply(strict=True)") + "\n" + TARGETS)
    assert changed[0] == changed[1]


TARGETS = """
    named = {t.target for r in report for t in r.targets if str(t.status) == "applied"}
    result = [result, sorted(named & set(before))]
"""


def test_apply_then_revert_leaves_every_object_as_it_was(fresh) -> None:
    assert not fresh(SWEEP.format(calls="patchkit.apply(strict=True); patchkit.revert()"))


def test_apply_imports_none_of_the_libraries(fresh) -> None:
    loaded = fresh(
        """
        import sys, patchkit
        patchkit.apply(strict=True)
        heavy = ["torch", "numpy", "transformers", "trl", "peft", "accelerate", "bitsandbytes"]
        result = [name for name in heavy if name in sys.modules]
        """
    )
    assert loaded == []
