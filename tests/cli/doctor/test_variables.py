"""Environment variables of patchkit: those it has, those that are misspelt, those that are wrong."""

from __future__ import annotations

import pytest

from patchkit.catalogue.entries import Catalogue, Entry
from patchkit.cli.doctor import variables
from patchkit.engine.session import Session
from patchkit.patch import Patch, Rewrite
from patchkit.rewrite import Pattern, Rule, replace


@pytest.mark.parametrize(
    ("name", "value", "problem", "meant"),
    [
        ("PATCHKIT_DISABLE", "trl-*,peft-lora-input-dtype", "", ""),
        ("PATCHKIT_DISABLE", "all", "", ""),
        ("PATCHKIT_DISABLE", "trl-nothing", "names no patch: 'trl-nothing'", ""),
        ("PATCHKIT_PREFLIGHT", "1", "", ""),
        ("PATCHKIT_PREFLIGHT", "maybe", "must be 1 or 0, not 'maybe'", ""),
        ("PATCHKIT_ADAPTER_CAST", "bf16", "", ""),
        ("PATCHKIT_ADAPTER_CAST", "bf61", "must be one of", ""),
        ("PATCHKIT_ADAPTOR_CAST", "bf16", "has no environment variable", "PATCHKIT_ADAPTER_CAST"),
        ("PATCHKIT_DISABLED", "all", "has no environment variable", "PATCHKIT_DISABLE"),
        ("PATCH_KIT_DISABLE", "all", "has no environment variable", "PATCHKIT_DISABLE"),
        ("patchkit_disable", "all", "has no environment variable", "PATCHKIT_DISABLE"),
        ("PATCHKIT_FROBNICATE", "1", "has no environment variable", ""),
        ("PATCHKIT_CACHE", "/home/zaphod/cache", "", ""),
        ("PATCHKIT_PATCHES", "/home/zaphod/patches", "", ""),
        ("PATCHKIT_WHEELS", "/home/zaphod/wheels", "", ""),
        ("PATCHKIT_RUN", "{}", "", ""),
    ],
)
def test_a_variable(
    installation, monkeypatch, name: str, value: str, problem: str, meant: str
) -> None:
    monkeypatch.setenv(name, value)
    section = variables.check()
    (found,) = section.facts
    assert (found["name"], found["meant"]) == (name, meant)
    assert problem in found["problem"]
    assert bool(found["problem"]) == bool(problem)
    assert [step.wrong for step in section.steps] == [True] * bool(problem)
    assert "zaphod" not in repr(section)


@pytest.mark.parametrize(
    ("name", "value", "problem", "meant"),
    [
        ("PATCHKIT_LOOKOUT", "1", "", ""),
        ("PATCHKIT_LEGACY", "1", "", ""),
        ("PATCHKIT_LEGACY", "off", "", ""),
        ("PATCHKIT_LEGACY", "trl==0.11.4", "", ""),
        ("PATCHKIT_LEGACY", "trl", "legacy='trl' names no versions", ""),
        ("PATCHKIT_EXPLAIN", "0", "", ""),
        ("PATCHKIT_EXPLAIN", "perhaps", "must be 1 or 0, not 'perhaps'", ""),
        ("PATCHKIT_EXPLAIM", "1", "has no environment variable", "PATCHKIT_EXPLAIN"),
        ("PATCHKIT_LEGACI", "1", "has no environment variable", "PATCHKIT_LEGACY"),
        ("PATCHKIT_LOOKOUT", "maybe", "must be 1 or 0, not 'maybe'", ""),
        ("PATCHKIT_LOKOUT", "1", "has no environment variable", "PATCHKIT_LOOKOUT"),
    ],
)
def test_a_variable_of_an_opt_in_patch(
    installation, monkeypatch, name: str, value: str, problem: str, meant: str
) -> None:
    rule = Rule(Pattern("bug()"), lambda node: [replace(node, "1")])
    changes = (Rewrite("madeup:f", rule),)
    asked = Patch(id="a-look", title="x", affects={"madeup": ""}, changes=changes, opt_in="lookout")
    known = Catalogue({asked.id: Entry(asked, "tests", None)})
    monkeypatch.setattr(variables, "SESSION", Session(known))
    test_a_variable(installation, monkeypatch, name, value, problem, meant)


def test_one_wrong_variable_is_not_blamed_on_another(installation, monkeypatch) -> None:
    monkeypatch.setenv("PATCHKIT_DISABLE", "trl-*")
    monkeypatch.setenv("PATCHKIT_PREFLIGHT", "maybe")
    problems = {fact["name"]: fact["problem"] for fact in variables.check().facts}
    assert problems["PATCHKIT_DISABLE"] == ""
    assert "maybe" in problems["PATCHKIT_PREFLIGHT"]


def test_what_to_do_about_a_misspelt_one(installation, monkeypatch) -> None:
    monkeypatch.setenv("PATCHKIT_ADAPTOR_CAST", "bf16")
    (step,) = variables.check().steps
    assert step.do == (
        'export PATCHKIT_ADAPTER_CAST="$PATCHKIT_ADAPTOR_CAST"\nunset PATCHKIT_ADAPTOR_CAST',
    )


@pytest.mark.parametrize("name", ["DISABLE", "PATCH", "DISPATCHKIT_X", "MY_PATCHKIT_DISABLE"])
def test_variables_of_others(installation, monkeypatch, name: str) -> None:
    monkeypatch.setenv(name, "1")
    section = variables.check()
    assert section.facts == []
    assert section.steps == ()
