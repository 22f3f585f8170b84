"""A definition is refused where it is written, with its name and what was expected."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from patchkit import PatchDefinitionError, PatchError
from patchkit.patch import Patch, Rewrite, Status, Wrap
from patchkit.rewrite import Pattern, Rule, replace
from patchkit.settings import Setting

RULE = Rule(Pattern("bug()"), lambda node: [replace(node, "1")])
CHOICE = Setting("madeup_choice", ("off", "on"), "whether it is on")
VALID: dict[str, Any] = {
    "id": "madeup-bug",
    "title": "it is fixed",
    "affects": {"madeup": ">=1"},
    "changes": (Rewrite("madeup.trainer:Trainer.__init__", RULE),),
}


def wrapper(wrapped: Any, instance: Any, args: Any, kwargs: Any) -> Any:
    return wrapped(*args, **kwargs)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"id": "a"},
        {"id": "4bit-bug-2"},
        {"affects": {"madeup": "", "torch": ">=2,<3"}},
        {"symptom": r"not implemented for '\w+'"},
        {"settings": (CHOICE,)},
        {"opt_in": "preflight"},
        {"requires": ("cuda",)},
        {"requires": ("cuda", "avx512-bf16")},
        {"harmless": {"m.*:*Trainer.f": ">=2", "m:f": ""}},
        {"upstream": ("https://example.org/1", "https://example.org/2")},
        {"changes": (Rewrite("m:f", RULE, sites=2, affects="<2"),)},
        {"changes": (Rewrite("m.*_trainer:*Trainer.__init__", RULE),)},
        {"changes": (Rewrite("m.[ab]?:f", RULE),)},
        {"changes": (Rewrite("m:f.<locals>.g", RULE),)},
        {"changes": (Wrap("m:C.f", wrapper, parameters=("a", "b")),)},
        {"changes": (Wrap("m:f", "m.helpers:wrapper"), Rewrite("m:g", RULE))},
    ],
)
def test_valid(given: dict[str, Any]) -> None:
    patch = Patch(**{**VALID, **given})
    for name, value in given.items():
        assert getattr(patch, name) == value


def test_library_is_the_first_that_is_affected() -> None:
    assert Patch(**{**VALID, "affects": {"trl": ">=1", "peft": ">=0.1"}}).library == "trl"


WORDS = "its id must be lower-case words joined by hyphens, not "
MALFORMED: dict[str, tuple[dict[str, Any], str]] = {
    "id empty": ({"id": ""}, WORDS + "''"),
    "id upper case": ({"id": "Madeup-bug"}, WORDS + "'Madeup-bug'"),
    "id underscore": ({"id": "madeup_bug"}, WORDS + "'madeup_bug'"),
    "id space": ({"id": "madeup bug"}, WORDS),
    "id glob": ({"id": "madeup-*"}, WORDS),
    "id hyphen first": ({"id": "-bug"}, WORDS),
    "id hyphen last": ({"id": "madeup-"}, WORDS),
    "id two hyphens": ({"id": "madeup--bug"}, WORDS),
    "id newline": ({"id": "madeup-bug\n"}, WORDS),
    "id not a string": ({"id": 7}, WORDS + "7"),
    "title empty": ({"title": ""}, "it has no title"),
    "title not a string": ({"title": 7}, "it has no title"),
    "affects empty": ({"affects": {}}, "`affects` must map a distribution to a version range"),
    "affects a string": ({"affects": ">=1"}, "`affects` must map a distribution to"),
    "affects a tuple": ({"affects": (("madeup", ">=1"),)}, "`affects` must map a distribution"),
    "range a number": ({"affects": {"madeup": 1.2}}, "must map names to ranges, not 'madeup': 1.2"),
    "range none": ({"affects": {"madeup": None}}, "must map names to ranges, not 'madeup': None"),
    "library a number": ({"affects": {1: ">=1"}}, "must map names to ranges, not 1: '>=1'"),
    "no changes": ({"changes": ()}, "`changes` must be a tuple of at least one Rewrite or Wrap"),
    "changes a list": ({"changes": [Rewrite("m:f", RULE)]}, "`changes` must be a tuple"),
    "changes a change": ({"changes": Rewrite("m:f", RULE)}, "`changes` must be a tuple"),
    "change a rule": ({"changes": (RULE,)}, "a change is a Rewrite or a Wrap, not Rule("),
    "change a string": ({"changes": ("m:f",)}, "a change is a Rewrite or a Wrap, not 'm:f'"),
    "symptom no regex": ({"symptom": "("}, "`symptom` is not a regular expression: "),
    "symptom none": ({"symptom": None}, "`symptom`"),
    # A string is a sequence of strings: the comma that makes a tuple is easily forgotten.
    "upstream a string": ({"upstream": "https://example.org/1"}, "`upstream`"),
    "upstream of numbers": ({"upstream": (4901,)}, "`upstream`"),
    "opt_in true": ({"opt_in": True}, "`opt_in` must be a keyword of apply(), not True"),
    "opt_in a word of Python": ({"opt_in": "yield"}, "`opt_in` must be a keyword of apply()"),
    "opt_in strict": (
        {"opt_in": "strict"},
        "`opt_in` is a name that patchkit uses itself: 'strict'",
    ),
    "opt_in cache": ({"opt_in": "cache"}, "`opt_in` is a name that patchkit uses itself: 'cache'"),
    "opt_in words": ({"opt_in": "when asked"}, "`opt_in` must be a keyword of apply(), not 'when"),
    "requires something else": (
        {"requires": ("cuda", "tpu")},
        "`requires` must be a tuple made of 'cuda', 'avx512-bf16', not ('cuda', 'tpu')",
    ),
    "requires a string": (
        {"requires": "cuda"},
        "`requires` must be a tuple made of 'cuda', 'avx512-bf16', not 'cuda'",
    ),
    "requires a number": ({"requires": 7}, "`requires` must be a tuple made of 'cuda', "),
    "requires numbers": ({"requires": (7,)}, "`requires` must be a tuple made of 'cuda', "),
    "harmless a range": ({"harmless": ">=2"}, "`harmless` must map targets to ranges, not '>=2'"),
    "harmless a module": ({"harmless": {"m": ">=2"}}, "`harmless`: a target reads"),
    "harmless always": ({"harmless": {"m:f": True}}, "to ranges, not 'm:f': True"),
    "settings a setting": ({"settings": CHOICE}, "`settings`"),
    "settings of strings": ({"settings": ("madeup_choice",)}, "`settings`"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_patch(case: str) -> None:
    given, expected = MALFORMED[case]
    refused({**VALID, **given}, expected)


TARGET_FORM = "a target reads 'package.module:Class.method', not "
BAD_CHANGES: dict[str, tuple[Any, str]] = {
    "no colon": (Rewrite("madeup.trainer.f", RULE), TARGET_FORM + "'madeup.trainer.f'"),
    "two colons": (Rewrite("madeup:f:g", RULE), TARGET_FORM),
    "no qualname": (Rewrite("madeup:", RULE), TARGET_FORM),
    "no module": (Rewrite(":f", RULE), TARGET_FORM),
    "space": (Rewrite("madeup: f", RULE), TARGET_FORM),
    "slash": (Rewrite("madeup/trainer:f", RULE), TARGET_FORM),
    "target none": (Wrap(None, wrapper), TARGET_FORM + "None"),  # type: ignore[arg-type]
    # Modules are looked for inside a package, and a package without a name cannot be found.
    "glob for a package": (Rewrite("*:f", RULE), "*:f"),
    "glob in a package": (Rewrite("made*.trainer:f", RULE), "made*.trainer:f"),
    "rule a function": (Rewrite("m:f", len), "the rule of m:f is not a Rule: <built-in"),  # type: ignore[arg-type]
    "rule none": (Rewrite("m:f", None), "the rule of m:f is not a Rule: None"),  # type: ignore[arg-type]
    "no sites": (Rewrite("m:f", RULE, sites=0), "the number of sites of m:f must be at least 1"),
    "sites below 0": (Rewrite("m:f", RULE, sites=-1), "sites of m:f must be at least 1"),
    "sites a string": (Rewrite("m:f", RULE, sites="1"), "sites of m:f must be at least 1"),  # type: ignore[arg-type]
    "range of a rewrite": (Rewrite("m:f", RULE, affects=None), "m:f"),  # type: ignore[arg-type]
    "range of a wrap": (Wrap("m:f", wrapper, affects=1.2), "m:f"),  # type: ignore[arg-type]
    "wrap of a glob": (
        Wrap("m:*Trainer.f", wrapper),
        "a Wrap names one callable, so its target has no wildcards: m:*Trainer.f",
    ),
    "wrapper none": (
        Wrap("m:f", None),  # type: ignore[arg-type]
        "the wrapper of m:f is neither callable nor 'module:name'",
    ),
    "wrapper without colon": (Wrap("m:f", "helpers.wrapper"), "neither callable nor 'module:name'"),
    "wrapper with a dot": (Wrap("m:f", "helpers:C.f"), "neither callable nor 'module:name'"),
    "parameters a string": (Wrap("m:f", wrapper, parameters="size"), "m:f"),  # type: ignore[arg-type]
    "parameters of numbers": (Wrap("m:f", wrapper, parameters=(1,)), "m:f"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("case", BAD_CHANGES)
def test_malformed_change(case: str) -> None:
    change, expected = BAD_CHANGES[case]
    refused({**VALID, "changes": (*VALID["changes"], change)}, expected)


BAD_SETTINGS: dict[str, Setting] = {
    "no choices": Setting("a", (), "help"),
    "choices a string": Setting("a", "off", "help"),  # type: ignore[arg-type]
    "choices of numbers": Setting("a", (0, 1), "help"),  # type: ignore[arg-type]
    "name empty": Setting("", ("off", "on"), "help"),
    "name no keyword": Setting("not-a-name", ("off", "on"), "help"),
    "name not a string": Setting(7, ("off", "on"), "help"),  # type: ignore[arg-type]
    # `apply` has an argument of this name: nobody could ever choose.
    "name taken by dtype": Setting("dtype", ("off", "on"), "help"),
    "name taken by strict": Setting("strict", ("off", "on"), "help"),
    # `PATCHKIT_DISABLE` is no setting of a patch.
    "variable taken": Setting("disable", ("off", "on"), "help"),
    "keyword taken": Setting("preflight", ("off", "on"), "help"),
}


@pytest.mark.parametrize("case", BAD_SETTINGS)
def test_malformed_setting(case: str) -> None:
    refused({**VALID, "settings": (CHOICE, BAD_SETTINGS[case])}, "setting")


def refused(given: dict[str, Any], expected: str) -> None:
    with pytest.raises(PatchDefinitionError) as caught:
        Patch(**given).check_symptom()
    assert isinstance(caught.value, PatchError)
    message = str(caught.value)
    assert message.startswith(f"patch {given['id']!r}: ")
    assert expected in message


@pytest.mark.parametrize(
    ("thing", "name", "value"),
    [
        (Patch(**VALID), "affects", {"madeup": ">=2"}),
        (Rewrite("m:f", RULE), "sites", 2),
        (Wrap("m:f", wrapper), "target", "m:g"),
        (CHOICE, "choices", ("on", "off")),
    ],
)
def test_frozen(thing: Any, name: str, value: Any) -> None:
    before = getattr(thing, name)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(thing, name, value)
    assert getattr(thing, name) == before


def test_a_patch_is_written_with_keywords() -> None:
    with pytest.raises(TypeError):
        Patch(*VALID.values())  # type: ignore[misc]


@pytest.mark.parametrize("missing", VALID)
def test_what_a_patch_cannot_do_without(missing: str) -> None:
    with pytest.raises(TypeError, match=missing):
        Patch(**{name: value for name, value in VALID.items() if name != missing})


def test_a_status_reads_as_its_value() -> None:
    assert str(Status.NOT_AFFECTED) == f"{Status.NOT_AFFECTED}" == "not-affected"
    assert Status("drifted") is Status.DRIFTED
