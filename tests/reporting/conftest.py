"""Fixtures: reports of a made-up library, with a patch of every status."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from patchkit import PatchDefinitionError
from patchkit.catalogue.entries import Broken, Catalogue
from patchkit.engine.session import Session
from patchkit.patch import Patch, Rewrite, Status, Wrap
from patchkit.reporting.record import PatchRecord, TargetRecord
from patchkit.reporting.report import Report
from patchkit.rewrite import Pattern, Rule

from ..madeup_bug import BUG, SOURCE, TARGET, patch


def passing(wrapped: Any, instance: Any, args: Any, kwargs: Any) -> Any:
    return wrapped(*args, **kwargs)


@pytest.fixture
def library(library):
    library.write("trainer", SOURCE)
    return library


@pytest.fixture
def three(library, session) -> Report:
    return session(patch("a-a"), patch("b-b", affects=">=2"), patch("c-c")).report()


def broken_rule() -> Rule:
    def oops(node: Any) -> Any:
        raise ZeroDivisionError("oops")

    return Rule(Pattern("bug()"), oops)


def troubled(library: Any, session: Any, apply: Any) -> Session:
    """A session with a patch of every status."""
    library.load("trainer")
    absent = Patch(
        id="not-installed",
        title="x",
        affects={"no-such-thing": ""},
        changes=(Rewrite("no_such_thing:f", BUG),),
    )
    library.write("later", "def f():\n    return bug()\n")
    one = session(
        patch("applied-one"),
        patch("pending-one", Rewrite("madeup.later:f", BUG)),
        absent,
        patch("not-affected", affects="<1"),
        patch("disabled-one"),
        patch("drifted-one", Rewrite("madeup.trainer:Trainer.gone", BUG)),
        patch("overridden-one", Wrap("madeup.trainer:Trainer.step", passing)),
        patch("failed-one", Rewrite("madeup.trainer:Trainer.__init__", broken_rule())),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        apply(one, exclude="disabled-one")
    library.load("trainer").Trainer.step = lambda self: None
    return one


def record(**given: Any) -> PatchRecord:
    return PatchRecord(
        **{
            "id": "a-a",
            "title": "it is fixed",
            "library": "madeup",
            "version": "1.2.0",
            "affects": {"madeup": ">=1"},
            "status": Status.DRIFTED,
            "reason": "why",
            "targets": (TargetRecord(TARGET, Status.DRIFTED, "why"),),
            "upstream": (),
            **given,
        }
    )


def broken_report() -> Report:
    error = PatchDefinitionError("patch 'x': it has no title")
    return Session(Catalogue({}, (Broken("addon.bad", error),))).report()
