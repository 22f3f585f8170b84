"""Fixtures: the command line over a made-up catalogue."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from patchkit.catalogue.entries import Broken, Catalogue, Entry
from patchkit.cli.commands import main
from patchkit.cli.group import LazyGroup
from patchkit.engine.session import Session
from patchkit.errors import PatchDefinitionError
from patchkit.patch import Patch, Rewrite, Wrap
from patchkit.rewrite import Pattern, Rule, replace
from patchkit.settings import Setting

BUG = Rule(Pattern("bug()"), lambda node: [replace(node, "1")], names=("bug",))
SOURCE = "class Trainer:\n    def train(self):\n        return bug()\n"
MESSAGE = "Attempting to train in madeup precision"
DOCSTRING = f"""Training dies.

`ValueError: {MESSAGE}`, since the trainer asks for it
in two lines.

Fix: it asks no more.

Why: nobody wants it.

It was measured."""


def patch(name: str, target: str = "madeup.trainer:Trainer.train", **options: Any) -> Patch:
    given = {
        "id": name,
        "title": f"the title of {name}, which is a long one so that it has to be cut somewhere",
        "affects": {"madeup": ">=1"},
        "changes": (Rewrite(target, BUG),),
    }
    return Patch(**{**given, **options})


def patches() -> tuple[Patch, ...]:
    return (
        patch(
            "madeup-cast",
            symptom=MESSAGE,
            messages=(MESSAGE,),
            caution="It is slower.",
            upstream=("https://example.org/1",),
            settings=(Setting("madeup_cast", ("off", "on"), "whether to cast"),),
        ),
        patch("madeup-fixed", affects={"madeup": ">=2"}, symptom=MESSAGE, messages=(MESSAGE,)),
        patch("madeup-asked", opt_in="preflight"),
        patch(
            "madeup-wrap", changes=(Wrap("madeup.trainer:Trainer.train", "madeup.helpers:around"),)
        ),
        patch("absent-bug", "absent:f", affects={"absent": ""}),
    )


def invoke(*arguments: str, **options: Any) -> Result:
    return CliRunner().invoke(main, list(arguments), prog_name="patchkit", **options)


def refused(result: Result, message: str) -> str:
    """Check that a command was refused as bad usage, in one line that has this; return the line."""
    assert (result.exit_code, result.stdout) == (64, ""), result.output
    assert isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.output
    errors = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert errors == result.stderr.splitlines()[-1:]
    assert message in errors[0]
    return errors[0]


def command_of(words: list[str]) -> tuple[click.Command, click.Context | None]:
    """Take the name of a command off the words of a command line."""
    command: click.Command = main
    context = None
    while isinstance(command, LazyGroup):
        context = click.Context(command, parent=context, **command.context_settings)
        found = command.get_command(context, words.pop(0))
        assert found is not None
        command = found
    return command, context


@pytest.fixture
def loaded_of(fresh: Callable[..., Any]) -> Callable[..., list[str]]:
    """Tells which of some modules a command imports in an interpreter of its own."""

    def loaded(command: str, *modules: str) -> list[str]:
        result: list[str] = fresh(
            f"""
            import runpy, sys
            sys.argv = ["patchkit", {command!r}]
            try:
                runpy.run_module("patchkit", run_name="__main__", alter_sys=True)
            except SystemExit as end:
                assert not end.code
            result = [name for name in {modules!r} if name in sys.modules]
            """
        )
        return result

    return loaded


@pytest.fixture
def use(library: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes these patches the whole catalogue of this process."""
    library.write("trainer", SOURCE)
    module = ModuleType("madeup_patch", DOCSTRING)
    monkeypatch.setitem(sys.modules, module.__name__, module)

    def only(*given: Patch, broken: bool = False) -> None:
        entries = {patch.id: Entry(patch, module.__name__, None) for patch in given}
        bad = (Broken("addon.bad", PatchDefinitionError("patch 'x': it has no title")),)
        session = Session(Catalogue(entries, bad if broken else ()))
        monkeypatch.setattr("patchkit.engine.session.SESSION", session)

    return only


@pytest.fixture
def madeup(use: Callable[..., None]) -> None:
    use(*patches())
