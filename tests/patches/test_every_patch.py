"""What must be so of each patch in the catalogue, on whatever versions are installed."""

from __future__ import annotations

import os
import re

import pytest

import patchkit
from patchkit.catalogue import entries as catalogue
from patchkit.reporting.status import CONCERNED
from patchkit.verification.machine import missing_requirements
from patchkit.verification.verification import verify

ENTRIES = catalogue.load()
IDS = list(ENTRIES.entries)
DUE = [identifier for identifier in IDS if patchkit.report()[identifier].status in CONCERNED]
# An import takes many times what most reproducers do, so they run in forks of a process that has
# imported the libraries. test_guide.py verifies a patch in interpreters of its own.
FORK = os.environ.get("PATCHKIT_TEST_PROCESSES") != "own"


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
def test_reproducer_fails_without_and_passes_with(skip_if_measured_to_fail, patch_id: str) -> None:
    skip_if_measured_to_fail(patch_id)
    (verdict,) = verify([patch_id], fork=FORK)
    due = patch_id in DUE
    expected = "fixed" if due else "not-affected"
    if due and (lacking := missing_requirements(ENTRIES.entries[patch_id].patch.requires)):
        expected = lacking[0].outcome
    assert verdict.outcome == expected, verdict
    if verdict.outcome == "fixed" and not verdict.without.startswith("AssertionError"):
        # Raised by a library, where a bug that raises nothing is told by the reproducer itself.
        messages = ENTRIES.entries[patch_id].patch.messages
        assert any(message in verdict.without for message in messages), verdict.without


IN_PART = [patch_id for patch_id, entry in ENTRIES.entries.items() if entry.reproduce_anywhere]


@pytest.mark.parametrize("patch_id", IN_PART)
def test_what_shows_of_a_bug_on_any_machine_shows_on_this_one(
    forked, skip_if_measured_to_fail, patch_id: str
) -> None:
    entry = ENTRIES.entries[patch_id]
    assert entry.patch.requires, "a reproducer that runs anywhere is no part"
    if patch_id not in DUE:
        pytest.skip("not due here")
    skip_if_measured_to_fail(patch_id)
    without, patched = (
        forked(
            f"""
            import patchkit
            from patchkit.catalogue import entries as catalogue
            entry = catalogue.load().entries[{patch_id!r}]
            {call}
            result = None
            try:
                entry.reproduce_anywhere()
            except Exception as error:
                result = str(error)
            """
        )
        for call in ("", f"patchkit.apply(only={patch_id!r}, strict=True)")
    )
    assert re.search(entry.patch.symptom, without)
    assert patched is None


SWEEP = """
    import sys, types
    import trl, accelerate, bitsandbytes, peft
    from transformers import GemmaForCausalLM, LlamaForCausalLM, T5ForConditionalGeneration

    LIBRARIES = ("trl", "accelerate", "peft", "transformers", "bitsandbytes")

    def code_of(value):
        # Decorated functions are fixed below their decorators.
        function = value
        while inner := vars_of(function).get("__wrapped__") or getattr(function, "__func__", None):
            function = inner
        return value, getattr(function, "__code__", None)

    def vars_of(value):
        return getattr(value, "__dict__", {{}})

    def codes():
        found = {{}}
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] not in LIBRARIES:
                continue
            for key, value in list(vars(module).items()):
                if isinstance(value, types.FunctionType) and value.__module__ == name:
                    found[f"{{name}}:{{key}}"] = code_of(value)
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
    result = sorted(
        name
        for name, (value, code) in before.items()
        if value is not after[name][0] or code is not after[name][1]
    )
"""


def test_apply_touches_only_what_the_report_names(forked) -> None:
    changed = forked(SWEEP.format(calls="report = patchkit.apply(strict=True)") + "\n" + TARGETS)
    assert changed[0] == changed[1]


TARGETS = """
    named = {t.target for r in report for t in r.targets if str(t.status) == "applied"}
    result = [result, sorted(named & set(before))]
"""


def test_apply_then_revert_leaves_every_object_as_it_was(forked) -> None:
    assert not forked(SWEEP.format(calls="patchkit.apply(strict=True); patchkit.revert()"))


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
