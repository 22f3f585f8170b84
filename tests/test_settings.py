"""An argument goes before the environment, and that before the default."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from patchkit import UsageError, settings
from patchkit.engine.choices import Choices
from patchkit.patch import Patch, Rewrite
from patchkit.rewrite import Pattern, Rule, replace
from patchkit.settings import Setting

CAST = Setting("madeup_cast", ("off", "bf16", "fp16"), "what to cast")
GUARD = Setting("madeup_guard", ("upcast", "error"), "what to do")
VARIABLE = "PATCHKIT_MADEUP_CAST"


@pytest.fixture(autouse=True)
def nothing_chosen() -> Iterator[None]:
    before = settings.current_choices()
    settings.restore({})
    yield
    settings.restore(before)


class Dtype:
    """Prints as a `torch.dtype` does."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"


def choose(dtype: object = None, /, **given: object) -> dict[str, str]:
    chosen = settings.resolve(given, dtype, [CAST, GUARD])
    settings.restore({**settings.current_choices(), **chosen})
    return chosen


def test_the_variable_is_the_name_in_capitals() -> None:
    assert CAST.variable == VARIABLE


@pytest.mark.parametrize(
    ("argument", "variable", "holds"),
    [
        (None, None, "off"),
        (None, "bf16", "bf16"),
        ("fp16", None, "fp16"),
        ("fp16", "bf16", "fp16"),
        ("off", "bf16", "off"),
    ],
)
def test_precedence(monkeypatch, argument: str | None, variable: str | None, holds: str) -> None:
    if variable is not None:
        monkeypatch.setenv(VARIABLE, variable)
    choose(**({} if argument is None else {"madeup_cast": argument}))
    assert settings.value(CAST) == holds
    assert settings.value(GUARD) == "upcast"


def test_a_variable_set_later_holds_too(monkeypatch) -> None:
    choose()
    monkeypatch.setenv(VARIABLE, "bf16")
    assert settings.value(CAST) == "bf16"
    monkeypatch.delenv(VARIABLE)
    assert settings.value(CAST) == "off"


def test_a_bad_variable_met_while_training_counts_as_none(monkeypatch) -> None:
    monkeypatch.setenv(VARIABLE, "bfloat")
    assert settings.value(CAST) == "off"


def test_a_later_choice_replaces_only_what_it_names() -> None:
    choose("fp16", madeup_cast="bf16", madeup_guard="error")
    choose(madeup_cast="fp16")
    assert settings.current_choices() == {
        "dtype": "float16",
        "madeup_cast": "fp16",
        "madeup_guard": "error",
    }


def test_nothing_is_chosen_by_resolving() -> None:
    assert settings.resolve({"madeup_cast": "bf16"}, "fp16", [CAST]) == {
        "madeup_cast": "bf16",
        "dtype": "float16",
    }
    assert settings.current_choices() == {}


SPELLINGS = {
    "float16": ["float16", "fp16", "half", "torch.float16", "torch.half", Dtype("float16")],
    "bfloat16": ["bfloat16", "bf16", "torch.bfloat16", Dtype("bfloat16")],
    "float32": ["float32", "fp32", "float", "torch.float32", "torch.float", Dtype("float32")],
}


@pytest.mark.parametrize(
    ("given", "name"), [(given, name) for name, all_of in SPELLINGS.items() for given in all_of]
)
def test_dtype(given: object, name: str) -> None:
    choose(given)
    assert settings.requested_dtype() == name


@pytest.mark.parametrize(
    ("name", "means"),
    [
        ("float16", "float16"),
        ("half", "float16"),
        ("bfloat16", "bfloat16"),
        ("float32", "float32"),
        ("float", "float32"),
    ],
)
def test_dtype_of_torch(name: str, means: str) -> None:
    torch = pytest.importorskip("torch")
    choose(getattr(torch, name))
    assert settings.requested_dtype() == means


@pytest.mark.parametrize(
    "given",
    [
        "",
        "FP16",
        " fp16",
        "float64",
        "auto",
        "int8",
        "torch.",
        "numpy.float16",
        Dtype("float64"),
        float,
        16,
        True,
        ["fp16"],
        b"fp16",
    ],
)
def test_unknown_dtype(given: object) -> None:
    with pytest.raises(UsageError) as caught:
        choose(given)
    assert "dtype= must be torch.float16, torch.bfloat16 or torch.float32" in str(caught.value)
    assert str(caught.value).endswith(f"not {given!r}")
    assert settings.requested_dtype() is None


def test_no_dtype() -> None:
    assert choose() == {}
    assert settings.requested_dtype() is None


@pytest.mark.parametrize(
    ("name", "known", "opt_ins", "told"),
    [
        ("csat", [], [], ". The patches here offer: none"),
        (
            "madeup_csat",
            [CAST, GUARD],
            [],
            ". Did you mean 'madeup_cast'? The patches here offer: madeup_cast, madeup_guard",
        ),
        (
            "lokout",
            [CAST],
            ["preflight", "lookout"],
            ". Did you mean 'lookout'? The patches here offer: madeup_cast; on request: lookout, "
            "preflight",
        ),
        ("excludes", [], [], ". Did you mean 'exclude'? The patches here offer: none"),
    ],
)
def test_unknown_name(name: str, known: list[Setting], opt_ins: list[str], told: str) -> None:
    with pytest.raises(UsageError) as caught:
        settings.resolve({name: "bf16"}, None, known, opt_ins)
    assert str(caught.value) == f"apply() has no argument {name!r}{told}"


@pytest.mark.parametrize("given", ["", "BF16", "float16", "on", True, None, 16, ["bf16"], b"bf16"])
def test_unknown_value(given: object) -> None:
    with pytest.raises(UsageError) as caught:
        choose(madeup_cast=given)
    assert str(caught.value) == (
        f"madeup_cast= must be one of 'off', 'bf16', 'fp16', not {given!r}"
    )
    assert settings.current_choices() == {}


@pytest.mark.parametrize("argument", [None, "fp16"])
def test_bad_variable(monkeypatch, argument: str | None) -> None:
    monkeypatch.setenv(VARIABLE, "bfloat")
    with pytest.raises(UsageError) as caught:
        choose(**({} if argument is None else {"madeup_cast": argument}))
    assert str(caught.value) == (
        f"the environment variable {VARIABLE} must be one of 'off', 'bf16', 'fp16', not 'bfloat'"
    )


def test_a_bad_argument_leaves_the_other_choices_alone() -> None:
    choose("bf16", madeup_cast="bf16")
    before = settings.current_choices()
    for bad in ({"madeup_cast": "fp16", "madeup_guard": "no"}, {"madeup_csat": "fp16"}):
        with pytest.raises(UsageError):
            choose("fp16", **bad)
    assert settings.current_choices() == before


def test_restore() -> None:
    choose("fp16", madeup_cast="bf16")
    before = settings.current_choices()
    choose("bf16", madeup_cast="fp16", madeup_guard="error")
    assert before == {"dtype": "float16", "madeup_cast": "bf16"}
    settings.restore(before)
    assert settings.current_choices() == before
    assert (settings.value(CAST), settings.value(GUARD)) == ("bf16", "upcast")
    before["madeup_cast"] = "changed in the copy"
    assert settings.value(CAST) == "bf16"


# The same, by way of `apply`.

RULE = Rule(Pattern("bug()"), lambda node: [replace(node, "1")])


def offering(*offered: Setting, **options: Any) -> Patch:
    return Patch(
        **{
            "id": "madeup-bug",
            "title": "it is fixed",
            "affects": {"madeup": ">=1"},
            "changes": (Rewrite("madeup.trainer:f", RULE),),
            "settings": offered,
            **options,
        }
    )


def test_apply_takes_what_the_patches_offer(library, session, apply) -> None:
    library.write("trainer", "def f():\n    return bug()\n")
    one = session(offering(CAST))
    apply(one, madeup_cast="bf16", dtype=Dtype("bfloat16"))
    assert (settings.value(CAST), settings.requested_dtype()) == ("bf16", "bfloat16")
    apply(one)
    assert (settings.value(CAST), settings.requested_dtype()) == ("bf16", "bfloat16")
    one.revert(None)
    assert (settings.value(CAST), settings.requested_dtype()) == ("off", None)


def test_a_bad_choice_fixes_nothing(library, session, apply, monkeypatch) -> None:
    library.write("trainer", "def f():\n    return bug()\n")
    code = library.load("trainer").f.__code__
    one = session(offering(CAST))
    for bad in ({"dtype": "fp61"}, {"madeup_cast": "on"}, {"adapter_cast": "bf16"}):
        with pytest.raises(UsageError):
            apply(one, **bad)
    monkeypatch.setenv(VARIABLE, "on")
    with pytest.raises(UsageError, match=VARIABLE):
        apply(one)
    assert library.load("trainer").f.__code__ is code
    assert settings.current_choices() == {}


def test_patched_puts_the_choices_back(library, session, apply) -> None:
    library.write("trainer", "def f():\n    return bug()\n")
    one = session(offering(CAST))
    apply(one, madeup_cast="fp16")
    with one.patched(Choices(dtype="fp16", keywords={"madeup_cast": "bf16"})):
        assert (settings.value(CAST), settings.requested_dtype()) == ("bf16", "float16")
    assert (settings.value(CAST), settings.requested_dtype()) == ("fp16", None)


def test_patches_may_share_a_setting(library, session, apply) -> None:
    library.write("trainer", "def f():\n    return bug()\n")
    one = session(offering(CAST), offering(CAST, id="other-bug"))
    apply(one, only="madeup-bug", madeup_cast="bf16")
    assert settings.value(CAST) == "bf16"
