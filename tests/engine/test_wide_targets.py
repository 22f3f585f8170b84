"""Patches that fix many functions alike: hundreds of modules, any number of sites."""

from __future__ import annotations

import pytest

from patchkit import environment
from patchkit.engine import session as engine_session
from patchkit.environment import cached_lookups, installed_version, modules_matching
from patchkit.matrix.preview import preview
from patchkit.patch import Rewrite, Status
from patchkit.rewrite import Pattern, Rule, replace

from ..madeup_bug import BUG, patch

NEEDY = Rule(
    Pattern("bug()"), lambda node: [replace(node, "math.pi")], names=("bug",), needs=("math",)
)
TWICE = "def forward():\n    return [bug(), bug()]\n"
NEVER = "def forward():\n    return [1]\n"


@pytest.mark.parametrize("target", ["madeup.model:forward", "madeup.*:forward"])
def test_any_number_of_sites(library, session, apply, target: str) -> None:
    library.write("model", TWICE)
    one = session(patch("madeup-bug", Rewrite(target, BUG, sites=None)))
    apply(one, strict=True)
    assert library.load("model").forward() == ["fixed", "fixed"]


@pytest.mark.filterwarnings("ignore::patchkit.PatchWarning")
def test_no_site_is_drift_where_the_target_is_known(library, session, apply) -> None:
    library.write("model", NEVER)
    library.load("model")
    known = apply(session(patch("madeup-bug", Rewrite("madeup.model:forward", BUG, sites=None))))[0]
    assert known.status == Status.DRIFTED
    assert "expected at least 1 occurrence of the buggy code" in known.reason
    found = apply(session(patch("madeup-bug", Rewrite("madeup.*:forward", BUG, sites=None))))[0]
    assert found.status == Status.PENDING
    assert not found.targets


@pytest.mark.filterwarnings("ignore::patchkit.PatchWarning")
def test_an_edit_that_needs_an_import(library, session, apply) -> None:
    library.write("with_it", "import math\ndef forward():\n    return bug()\n")
    library.write("without", "def bug():\n    return 'bug'\ndef forward():\n    return bug()\n")
    everywhere = session(patch("madeup-bug", Rewrite("madeup.*:forward", NEEDY)))
    apply(everywhere, strict=True)
    assert library.load("with_it").forward() > 3
    assert library.load("without").forward() == "bug"
    (target,) = everywhere.report()[0].targets
    assert target.target == "madeup.with_it:forward"
    known = apply(session(patch("madeup-bug", Rewrite("madeup.without:forward", NEEDY))))[0]
    assert known.status == Status.DRIFTED
    assert "does not import math" in known.reason


@pytest.fixture
def models(library) -> None:
    for number in range(12):
        library.write(f"models.model_{number:02}", TWICE)


def test_a_sentence_names_the_first_few(models, library, session, apply) -> None:
    one = session(patch("madeup-bug", Rewrite("madeup.models.*:forward", BUG, sites=None)))
    assert apply(one)[0].targets == ()
    for number in range(12):
        library.load(f"models.model_{number:02}")
    record = one.report()[0]
    assert len(record.targets) == 12
    assert record.reason == f"fixed {', '.join(8 * ['forward'])} and 4 more"


def test_imports_that_go_well_make_no_records(models, library, session, apply, monkeypatch) -> None:
    """A record looks at all targets, so its cost would grow with the square of their number."""
    one = session(patch("madeup-bug", Rewrite("madeup.models.*:forward", BUG, sites=None)))
    apply(one, strict=True)
    library.load("models.model_00")
    made = []
    record = engine_session.patch_record
    monkeypatch.setattr(
        engine_session, "patch_record", lambda *args: made.append(args) or record(*args)
    )
    for number in range(12):
        assert library.load(f"models.model_{number:02}").forward() == ["fixed", "fixed"]
    assert not made
    library.write("models.without", NEVER)
    library.load("models.without")
    assert not made


def test_a_preview_shows_the_first_few(models) -> None:
    shown = str(preview(patch("madeup-bug", Rewrite("madeup.models.*:forward", BUG, sites=None))))
    assert shown.startswith(
        "# madeup.models.*:forward: shown in 4 modules; more may change in the same way"
    )
    assert shown.count("+++ ") == 4
    few = str(
        preview(patch("madeup-bug", Rewrite("madeup.models.model_0[012]:forward", BUG, sites=None)))
    )
    assert few.startswith("--- ")
    assert few.count("+++ ") == 3


def test_looked_up_once(library, monkeypatch) -> None:
    library.write("a_model", "")
    listed = []
    look = environment._modules_below
    monkeypatch.setattr(
        environment, "_modules_below", lambda *where: listed.append(where) or look(*where)
    )
    with cached_lookups():
        assert installed_version("madeup") == "1.2.0"
        library.release("1.3.0")
        with cached_lookups():
            assert installed_version("madeup") == "1.2.0"
            assert modules_matching("madeup.*_model") == ["madeup.a_model"]
        assert modules_matching("madeup.*_model") == ["madeup.a_model"]
        assert installed_version("no-such-thing") is None
    looked = len(listed)
    assert installed_version("madeup") == "1.3.0"
    library.write("b_model", "")
    assert modules_matching("madeup.*_model") == ["madeup.a_model", "madeup.b_model"]
    assert len(listed) == 2 * looked
