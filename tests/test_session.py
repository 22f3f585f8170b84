"""`apply`, `revert` and `report` on a made-up library: order, drift, strictness, threads."""

from __future__ import annotations

import importlib
import logging
import sys
import threading
import warnings
from collections.abc import Callable
from types import FunctionType
from typing import Any

import pytest

from patchkit import PatchError, PatchWarning, UnknownPatchError, UsageError, settings
from patchkit.armed import ArmedPatch
from patchkit.patch import Patch, Rewrite, Status, Wrap
from patchkit.rewrite import Pattern, Rule, replace

BUG = Rule(Pattern("bug()"), lambda node: [replace(node, "'mended'")], names=("bug",))
OTHER_BUG = Rule(Pattern("other_bug()"), lambda node: [replace(node, "'mended too'")])

SOURCE = """\
class Trainer:
    def __init__(self):
        self.value = bug()

    def step(self, size=1):
        return size

def bug():
    return "bug"
"""
TARGET = "madeup.trainer:Trainer.__init__"


def patch(name: str = "madeup-bug", *changes: Any, affects: str = ">=1", **options: Any) -> Patch:
    return Patch(
        id=name,
        title="it is mended",
        affects={"madeup": affects},
        changes=changes or (Rewrite(TARGET, BUG),),
        **options,
    )


@pytest.fixture
def trainer(library) -> Callable[[], type]:
    library.write("trainer", SOURCE)
    return lambda: library.load("trainer").Trainer


def test_before_the_import(trainer, session, apply) -> None:
    one = session(patch())
    report = apply(one)
    assert report["madeup-bug"].status == Status.PENDING
    assert "madeup" not in sys.modules
    assert trainer()().value == "mended"
    assert one.report()["madeup-bug"].status == Status.APPLIED


def test_after_the_import(trainer, session, apply) -> None:
    earlier = trainer()
    report = apply(session(patch()))
    assert report["madeup-bug"].status == Status.APPLIED
    assert report["madeup-bug"].targets[0].target == TARGET
    assert earlier().value == "mended"


def test_apply_then_revert_is_the_identity(trainer, session, apply) -> None:
    cls = trainer()
    before = dict(vars(cls))
    codes = {name: f.__code__ for name, f in before.items() if isinstance(f, FunctionType)}
    one = session(patch("a-a"), patch("b-b", Wrap("madeup.trainer:Trainer.step", double)))
    apply(one)
    assert cls().step(2) == 4
    assert one.revert(None).changed == ("a-a", "b-b")
    assert dict(vars(cls)) == before
    assert all(vars(cls)[name] is value for name, value in before.items())
    assert all(vars(cls)[name].__code__ is code for name, code in codes.items())
    assert cls().value == "bug"
    assert {r.status for r in one.report()} == {Status.AVAILABLE}


def double(wrapped: Any, instance: Any, args: Any, kwargs: Any) -> Any:
    return 2 * wrapped(*args, **kwargs)


def test_revert_before_the_import(trainer, session, apply) -> None:
    one = session(patch())
    apply(one)
    one.revert(None)
    assert trainer()().value == "bug"
    apply(one)
    assert trainer()().value == "mended"


def test_second_call_changes_nothing_and_says_so(trainer, session, apply, caplog) -> None:
    cls = trainer()
    one = session(patch())
    assert apply(one).changed == ("madeup-bug",)
    code = cls.__init__.__code__
    with caplog.at_level(logging.INFO, "patchkit"):
        assert apply(one).changed == ()
    assert cls.__init__.__code__ is code
    assert "nothing new to do" in caplog.text


@pytest.mark.parametrize(
    ("affects", "status", "reason"),
    [
        (">=1,<2", Status.APPLIED, "mended Trainer.__init__"),
        (">=1.3", Status.NOT_AFFECTED, "madeup 1.2.0 does not have this bug; >=1.3 has"),
        ("<1.2", Status.NOT_AFFECTED, "madeup 1.2.0 does not have this bug; <1.2 has"),
    ],
)
def test_ranges(trainer, session, apply, affects: str, status: Status, reason: str) -> None:
    code = trainer().__init__.__code__
    report = apply(session(patch(affects=affects)))
    assert report["madeup-bug"].status == status
    assert report["madeup-bug"].reason == reason
    assert (trainer().__init__.__code__ is code) is (status is not Status.APPLIED)


def test_not_installed(session, apply) -> None:
    absent = Patch(
        id="absent-bug",
        title="it is mended",
        affects={"no-such-thing": ">=1"},
        changes=(Rewrite("no_such_thing:f", BUG),),
    )
    report = apply(session(absent))
    assert report["absent-bug"].status == Status.NOT_INSTALLED
    assert report["absent-bug"].version is None


def test_a_change_may_concern_fewer_releases_than_its_patch(trainer, session, apply) -> None:
    elsewhere = Rewrite("madeup.other:f", BUG, affects=">=2")
    report = apply(session(patch("madeup-bug", Rewrite(TARGET, BUG), elsewhere)))
    assert [one.target for one in report["madeup-bug"].targets] == [TARGET]
    only_elsewhere = apply(session(patch("madeup-bug", elsewhere)))
    assert only_elsewhere["madeup-bug"].status == Status.NOT_AFFECTED


DRIFTED = {
    "no site": (SOURCE.replace("= bug()", "= 1"), "has 0 sites of this bug where 1 is known"),
    "two sites": (
        SOURCE.replace("= bug()", "= bug(), bug()"),
        "has 2 sites of this bug where 1 is known",
    ),
    "renamed method": (SOURCE.replace("__init__", "setup"), "Trainer inherits __init__"),
    "renamed class": (SOURCE.replace("Trainer", "Coach"), "Trainer is missing"),
    "inherited": ("class Base:\n    pass\nclass Trainer(Base):\n    pass\n", "inherits __init__"),
}


@pytest.mark.parametrize("case", DRIFTED)
@pytest.mark.parametrize("imported", [True, False])
def test_drift_leaves_the_target_alone(library, session, apply, case: str, imported: bool) -> None:
    source, reason = DRIFTED[case]
    library.write("trainer", source)
    if imported:
        library.load("trainer")
    one = session(patch())
    with pytest.warns(PatchWarning, match="madeup-bug drifted") as caught:
        apply(one)
        module = library.load("trainer")
    assert caught[0].filename.endswith("conftest.py")
    record = one.report()["madeup-bug"]
    assert record.status == Status.DRIFTED
    assert reason in record.reason
    cls = getattr(module, "Trainer", None)
    if cls is not None and "__init__" in vars(cls):
        assert cls.__init__.__code__.co_filename.endswith("trainer.py")


def test_drift_warns_once(library, session, apply) -> None:
    library.write("trainer", DRIFTED["no site"][0])
    library.load("trainer")
    one = session(patch())
    with pytest.warns(PatchWarning):
        apply(one)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        apply(one)


def test_missing_module_is_found_without_an_import(library, session, apply) -> None:
    one = session(patch("madeup-bug", Rewrite("madeup.gone:f", BUG)))
    with pytest.warns(PatchWarning, match=r"madeup 1\.2\.0 has no module madeup\.gone"):
        apply(one)
    assert "madeup" not in sys.modules


def test_strict_raises_once_for_all_and_undoes_the_call(library, session, apply) -> None:
    library.write("trainer", SOURCE)
    cls = library.load("trainer").Trainer
    code = cls.__init__.__code__
    one = session(
        patch("good-one"),
        patch("bad-one", Rewrite("madeup.trainer:Trainer.gone", BUG)),
        patch("worse-one", Rewrite("madeup.gone:f", BUG)),
    )
    with pytest.raises(PatchError, match=r"(?s)bad-one drifted.*worse-one drifted"):
        apply(one, strict=True)
    assert cls.__init__.__code__ is code
    assert {r.status for r in one.report()} == {Status.AVAILABLE}


def test_strict_raises_from_a_later_import(library, session, apply) -> None:
    library.write("trainer", DRIFTED["no site"][0])
    apply(session(patch()), strict=True)
    with pytest.raises(PatchError, match="madeup-bug drifted"):
        library.load("trainer")
    library.write("trainer", SOURCE)


def test_an_error_in_a_patch_does_not_break_the_import(library, session, apply) -> None:
    def broken(node: Any) -> Any:
        raise ZeroDivisionError("oops")

    library.write("trainer", SOURCE)
    rule = Rule(Pattern("bug()"), broken)
    one = session(patch("broken-one", Rewrite(TARGET, rule)), patch("good-one"))
    apply(one)
    with pytest.warns(PatchWarning, match="broken-one failed: ZeroDivisionError: oops"):
        module = library.load("trainer")
    record = one.report()["broken-one"]
    assert record.status == Status.FAILED
    assert isinstance(record.error, ZeroDivisionError)
    assert module.Trainer().value == "mended"


def test_one_module_is_mended_wholly_or_not_at_all(library, session, apply) -> None:
    library.write("trainer", SOURCE)
    module = library.load("trainer")
    code = module.Trainer.__init__.__code__
    one = session(
        patch("madeup-bug", Rewrite(TARGET, BUG), Rewrite("madeup.trainer:gone", BUG)),
    )
    with pytest.warns(PatchWarning):
        apply(one)
    assert module.Trainer.__init__.__code__ is code
    assert {t.status for t in one.report()["madeup-bug"].targets} == {Status.DRIFTED}


def test_other_modules_of_a_drifted_patch_are_mended(library, session, apply) -> None:
    library.write("trainer", SOURCE)
    library.write("other", "def f():\n    pass\n")
    library.load("trainer"), library.load("other")
    one = session(patch("madeup-bug", Rewrite(TARGET, BUG), Rewrite("madeup.other:f", BUG)))
    with pytest.warns(PatchWarning, match="1 other targets are mended"):
        apply(one)
    statuses = {t.target: t.status for t in one.report()["madeup-bug"].targets}
    assert statuses == {TARGET: Status.APPLIED, "madeup.other:f": Status.DRIFTED}


def test_overridden_by_another_function(trainer, session, apply) -> None:
    cls = trainer()
    one = session(patch())
    apply(one)
    cls.__init__ = foreign = lambda self: None
    assert one.report()["madeup-bug"].status == Status.OVERRIDDEN
    with pytest.warns(PatchWarning, match="overridden"):
        apply(one)
    one.revert(None)
    assert cls.__init__ is foreign


def test_overridden_code(trainer, session, apply) -> None:
    cls = trainer()
    one = session(patch())
    apply(one)
    cls.__init__.__code__ = foreign = (lambda self: None).__code__
    assert one.report()["madeup-bug"].status == Status.OVERRIDDEN
    one.revert(None)
    assert cls.__init__.__code__ is foreign


def test_reloaded_module_is_mended_by_the_next_call(library, session, apply) -> None:
    library.write("trainer", SOURCE)
    module = library.load("trainer")
    one = session(patch())
    apply(one)
    importlib.reload(module)
    assert one.report()["madeup-bug"].status == Status.OVERRIDDEN
    assert apply(one).changed == ("madeup-bug",)
    assert module.Trainer().value == "mended"
    one.revert(None)
    assert module.Trainer().value == "bug"


def test_wrap_below_another_wrapper_is_switched_off(trainer, session, apply) -> None:
    cls = trainer()
    original = cls.step
    one = session(patch("madeup-bug", Wrap("madeup.trainer:Trainer.step", double)))
    apply(one)
    ours = cls.step

    def theirs(self: Any, *args: Any) -> Any:
        return ours(self, *args)

    theirs.__wrapped__ = vars(cls)["step"]
    cls.step = theirs
    assert one.report()["madeup-bug"].status == Status.APPLIED
    assert cls().step(3) == 6
    one.revert(None)
    assert cls().step(3) == 3
    cls.step = original


def test_wrap_of_another_signature_is_drift(trainer, session, apply) -> None:
    trainer()
    change = Wrap("madeup.trainer:Trainer.step", double, parameters=("size", "shape"))
    with pytest.warns(PatchWarning, match=r"Trainer\.step has no parameter shape any more"):
        apply(session(patch("madeup-bug", change)))


def test_wildcards_find_what_nobody_listed(library, session, apply) -> None:
    library.write("new_trainer", SOURCE)
    library.write("deep.er_trainer", SOURCE.replace("Trainer", "DeeperTrainer"))
    library.write("clean_trainer", SOURCE.replace("= bug()", "= 1"))
    one = session(patch("madeup-bug", Rewrite("madeup.*_trainer:*Trainer.__init__", BUG)))
    report = apply(one)
    assert report["madeup-bug"].status == Status.PENDING
    assert library.load("new_trainer").Trainer().value == "mended"
    assert library.load("deep.er_trainer").DeeperTrainer().value == "mended"
    clean = library.load("clean_trainer").Trainer
    assert clean.__init__.__code__.co_filename.endswith("clean_trainer.py")
    assert sorted(t.target for t in one.report()["madeup-bug"].targets) == [
        "madeup.deep.er_trainer:DeeperTrainer.__init__",
        "madeup.new_trainer:Trainer.__init__",
    ]


def test_two_patches_of_one_function(trainer, session, apply, library) -> None:
    library.write("trainer", SOURCE.replace("= bug()", "= bug(), other_bug()"))
    cls = library.load("trainer").Trainer
    original = cls.__init__.__code__
    one = session(patch("a-a"), patch("b-b", Rewrite(TARGET, OTHER_BUG)))
    apply(one)
    assert cls().value == ("mended", "mended too")
    one.revert("a-a")
    assert {r.id: str(r.status) for r in one.report()} == {"a-a": "available", "b-b": "applied"}
    one.revert("b-b")
    assert cls.__init__.__code__ is original


def test_two_patches_of_one_place_are_refused_with_both_names(trainer, session, apply) -> None:
    trainer()
    one = session(patch("a-a"), patch("b-b", Rewrite(TARGET, Rule(BUG.site, BUG.edit))))
    with pytest.warns(PatchWarning, match="a-a and b-b both edit the same place"):
        report = apply(one)
    assert report["a-a"].status == Status.APPLIED
    assert report["b-b"].status == Status.DRIFTED


def test_selection(trainer, session, apply) -> None:
    trainer()
    one = session(patch("trl-a"), patch("trl-b", Rewrite("madeup.trainer:Trainer.step", OTHER_BUG)))
    report = apply(one, only="trl-a")
    assert str(report["trl-a"].status) == "applied"
    assert (str(report["trl-b"].status), report["trl-b"].reason) == (
        "disabled",
        "left out by only=",
    )
    one.revert(None)
    report = apply(one, exclude=["trl-*"])
    assert {str(r.status) for r in report} == {"disabled"}


@pytest.mark.parametrize(
    ("only", "exclude", "error", "message"),
    [
        ("trl-adaptr", None, UnknownPatchError, "Did you mean 'trl-adapter'?"),
        (["trl-adapter", "xyz-*"], None, UnknownPatchError, "only= names no patch: 'xyz-*'"),
        (None, "trl-adaptor", UnknownPatchError, "exclude= names no patch"),
        (7, None, UsageError, "only= takes a patch id, a glob"),
        ([7], None, UsageError, "only= takes patch ids and globs, not 7"),
        ("trl-adapter", "trl-*", UsageError, "contradict each other"),
    ],
)
def test_bad_selection(trainer, session, apply, only, exclude, error, message: str) -> None:
    code = trainer().__init__.__code__
    with pytest.raises(error, match=message.replace("*", r"\*").replace("?", r"\?")):
        apply(session(patch("trl-adapter")), only, exclude)
    assert trainer().__init__.__code__ is code


def test_strict_must_be_a_bool(session, apply) -> None:
    with pytest.raises(UsageError, match="strict= must be True or False, not 'yes'"):
        apply(session(patch()), strict="yes")


@pytest.mark.parametrize("value", ["madeup-bug", "x-y, madeup-*", "all"])
def test_disabled_from_outside(trainer, session, apply, monkeypatch, value: str) -> None:
    monkeypatch.setenv("PATCHKIT_DISABLE", value)
    trainer()
    report = apply(session(patch(), patch("x-y")))
    assert report["madeup-bug"].status == Status.DISABLED
    assert report["madeup-bug"].reason == "switched off by PATCHKIT_DISABLE"


def test_typing_error_in_the_variable(session, apply, monkeypatch) -> None:
    monkeypatch.setenv("PATCHKIT_DISABLE", "madeup-bgu")
    with pytest.raises(UnknownPatchError, match="variable PATCHKIT_DISABLE names no patch"):
        apply(session(patch()))


def test_range_that_does_not_parse(trainer, session, apply) -> None:
    trainer()
    one = session(patch(affects="newer than 1"))
    with pytest.warns(PatchWarning, match="'newer than 1' is not a version range"):
        report = apply(one)
    assert report["madeup-bug"].status == Status.FAILED
    with pytest.raises(PatchError, match="madeup-bug failed"):
        apply(one, strict=True)


def test_installed_version_that_does_not_parse(library, trainer, session, apply) -> None:
    trainer()
    library.release("unknown")
    with pytest.warns(PatchWarning, match="'unknown' is not a version"):
        report = apply(session(patch(), patch("other-one")))
    assert report["madeup-bug"].status == Status.FAILED


def test_patched_puts_back_what_was_before(trainer, session, apply) -> None:
    cls = trainer()
    one = session(patch("a-a"), patch("b-b", Wrap("madeup.trainer:Trainer.step", double)))
    apply(one, only="a-a")
    with one.patched(None, None, strict=False, dtype="fp16", chosen={}) as report:
        assert {str(r.status) for r in report} == {"applied"}
        assert cls().step(1) == 2
    assert {r.id: str(r.status) for r in one.report()} == {"a-a": "applied", "b-b": "disabled"}
    assert cls().step(1) == 1
    assert cls().value == "mended"


def test_patched_survives_an_error(trainer, session) -> None:
    cls = trainer()
    one = session(patch())
    with pytest.raises(RuntimeError), one.patched(None, None, strict=False, dtype=None, chosen={}):
        raise RuntimeError
    assert cls().value == "bug"


def test_threads(library, session, apply) -> None:
    """Imports and calls of apply from many threads at once: no deadlock, each target once."""
    names = [f"m{number}" for number in range(12)]
    for name in names:
        library.write(f"{name}_trainer", "import time\ntime.sleep(0.01)\n" + SOURCE)
    one = session(patch("madeup-bug", Rewrite("madeup.*_trainer:*Trainer.__init__", BUG)))
    errors: list[BaseException] = []

    def run(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    work: list[Callable[[], object]] = [lambda: apply(one) for _ in names]
    work += [lambda name=name: library.load(f"{name}_trainer") for name in names]
    threads = [threading.Thread(target=run, args=(one_work,)) for one_work in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive(), "deadlock"
    assert not errors
    apply(one)
    assert all(library.load(f"{name}_trainer").Trainer().value == "mended" for name in names)


def test_apply_from_within_the_module_that_it_mends(library, session, apply) -> None:
    one = session(patch())
    library.write("trainer", f"import hook_for_test\nhook_for_test.call()\n{SOURCE}")
    hook = type(sys)("hook_for_test")
    hook.call = lambda: apply(one)
    sys.modules["hook_for_test"] = hook
    try:
        library.load("trainer")
    finally:
        del sys.modules["hook_for_test"]
    assert one.report()["madeup-bug"].status == Status.PENDING
    apply(one)
    assert library.load("trainer").Trainer().value == "mended"


def test_a_package_that_does_not_exist_is_drift(library, session, apply) -> None:
    one = session(patch("madeup-bug", Rewrite("maedup.trainer:f", BUG)))
    with pytest.warns(PatchWarning, match=r"madeup 1\.2\.0 has no module maedup\.trainer"):
        apply(one)


def test_a_failed_strict_call_leaves_the_report_as_it_was(trainer, session, apply) -> None:
    trainer()
    one = session(patch("a-a"), patch("b-b", Rewrite("madeup.gone:f", BUG)))
    with pytest.raises(PatchError):
        apply(one, only="b-b", strict=True)
    assert {str(r.status) for r in one.report()} == {"available"}


@pytest.mark.parametrize(
    ("version", "affects", "due"),
    [("0.27.0rc1", ">=0.27", True), ("0.27.0rc1", "<0.27", False), ("2.0.0.dev0", ">=2", True)],
)
def test_a_pre_release_counts_as_its_release(
    library, trainer, session, apply, version: str, affects: str, due: bool
) -> None:
    library.release(version)
    record = apply(session(patch(affects=affects)))["madeup-bug"]
    assert (record.status is Status.PENDING) is due


def test_an_error_of_our_own_leaves_nothing_half_applied(trainer, session, apply, monkeypatch):
    cls = trainer()
    code = cls.__init__.__code__
    one = session(patch("a-a"), patch("b-b"))

    def fails(entry, resolution, *, strict):
        if entry.patch.id == "b-b":
            raise ZeroDivisionError
        return arm(entry, resolution, strict=strict)

    arm = ArmedPatch.arm
    monkeypatch.setattr(ArmedPatch, "arm", fails)
    with pytest.raises(ZeroDivisionError):
        apply(one, dtype="fp16")
    assert cls.__init__.__code__ is code
    assert {str(r.status) for r in one.report()} == {"available"}
    assert settings.requested_dtype() is None


ASKED = {
    "nobody": ({}, None, False),
    "a glob": ({"only": "madeup-*"}, None, False),
    "the id among others": ({"only": ["madeup-bug", "madeup-look"]}, None, True),
    "the id": ({"only": "madeup-look"}, None, True),
    "the keyword": ({"preflight": True}, None, True),
    "the keyword beside another selection": ({"only": "madeup-bug", "preflight": True}, None, True),
    "the variable": ({}, "1", True),
    "the variable says no": ({}, "0", False),
    "the keyword says no": ({"preflight": False}, None, False),
    "the variable, and it is excluded": ({"exclude": "madeup-look"}, "1", False),
}


def look(**more: Any) -> Patch:
    change = Wrap("madeup.trainer:Trainer.step", double)
    return patch("madeup-look", change, opt_in="preflight", **more)


@pytest.mark.parametrize("case", ASKED)
def test_what_nobody_gets_unasked(trainer, session, monkeypatch, case: str) -> None:
    options, variable, asked = ASKED[case]
    if variable is not None:
        monkeypatch.setenv("PATCHKIT_PREFLIGHT", variable)
    cls = trainer()
    before = vars(cls)["step"]
    one = session(patch(), look())
    given = {"only": None, "exclude": None, **options}
    only, exclude = given.pop("only"), given.pop("exclude")
    report = one.apply(only, exclude, strict=True, dtype=None, chosen={}, **given)
    assert cls().step(2) == (4 if asked else 2)
    assert (vars(cls)["step"] is before) is not asked
    if asked:
        assert report["madeup-look"].status is Status.APPLIED
        assert one.applied() >= {"madeup-look"}
    elif exclude:
        assert report["madeup-look"].status is Status.DISABLED
    else:
        assert report["madeup-look"].status is Status.AVAILABLE
        assert "apply(preflight=True) applies it" in report["madeup-look"].reason
    assert (cls().value == "mended") is (only != "madeup-look")
    one.revert(None)
    assert vars(cls)["step"] is before


def test_asked_for_once_it_stays_until_it_is_reverted(trainer, session, apply) -> None:
    cls = trainer()
    one = session(patch(), look())
    one.apply(None, None, strict=False, dtype=None, chosen={}, preflight=True)
    assert apply(one).changed == ()
    assert cls().step(2) == 4
    assert one.revert("madeup-look").changed == ("madeup-look",)
    assert cls().step(2) == 2
    assert apply(one).changed == ()
    assert cls().step(2) == 2


def test_asking_for_what_is_excluded_contradicts_itself(trainer, session) -> None:
    cls = trainer()
    one = session(patch(), look())
    with pytest.raises(UsageError, match="preflight=True and exclude= contradict each other"):
        one.apply(None, "*-look", strict=False, dtype=None, chosen={}, preflight=True)
    assert cls().value == "bug"


@pytest.mark.parametrize("value", ["perhaps", "2"])
def test_a_variable_that_is_neither_yes_nor_no(trainer, session, apply, monkeypatch, value) -> None:
    monkeypatch.setenv("PATCHKIT_PREFLIGHT", value)
    with pytest.raises(UsageError, match="PATCHKIT_PREFLIGHT must be 1 or 0"):
        apply(session(look()))
    assert trainer()().value == "bug"


def test_applied_names_what_holds_now(trainer, session, apply) -> None:
    one = session(patch())
    assert one.applied() == frozenset()
    apply(one)
    assert one.applied() == frozenset()  # pending
    cls = trainer()
    assert one.applied() == {"madeup-bug"}
    cls.__init__ = lambda self: None
    assert one.applied() == frozenset()
