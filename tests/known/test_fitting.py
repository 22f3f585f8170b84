"""No pip command of an answer contradicts what an installed distribution requires."""

from __future__ import annotations

import pytest

from patchkit.environment import Distribution
from patchkit.known.answering import answered
from patchkit.known.fitting import fitted
from patchkit.known.reading import read
from patchkit.reporting.pins import Pins, advised

GONE = "ImportError: cannot import name 'EncoderDecoderCache' from 'transformers'"


def pins(*requires: str) -> Pins:
    held = Distribution("made-up", "1.0", requires)
    here = Distribution("transformers", "4.40.0")
    return Pins({"made-up": held, "transformers": here})


def said(text: str, *requires: str, transformers: str = "4.40.0") -> tuple[tuple[str, ...], str]:
    pasted = read(text)

    def installed(name: str) -> str | None:
        return {"transformers": transformers}.get(name)

    found = answered(pasted, installed)
    first = fitted(found, pasted, installed, lambda: pins(*requires)).answers[0]
    return first.write, first.do


def test_a_command_that_breaks_a_requirement_is_not_printed() -> None:
    free, _ = said(GONE)
    assert any("transformers" in line for line in free)
    held, do = said(GONE, "transformers<4.43", "peft>=0.14")
    assert held == ()
    assert "made-up 1.0 requires transformers<4.43" in do


def test_what_is_left_is_printed() -> None:
    free, _ = said(GONE)
    held, do = said(GONE, "transformers<4.43")
    assert set(held) < set(free)
    assert "ruled out here" in do
    gone = next(line for line in free if line not in held)
    assert f"An environment of its own takes it: {gone}" in do


def test_a_command_gets_the_bounds_of_requirements() -> None:
    assert said(GONE, "transformers<5")[0] != said(GONE)[0]
    assert any("<5" in line for line in said(GONE, "transformers<5")[0])


def test_an_error_of_another_environment_is_not_held_by_this_one() -> None:
    other = f"{GONE}\n\ntransformers==4.41.0"
    assert said(other, "transformers<4.43") == said(other)


@pytest.mark.parametrize(
    ("line", "requires", "left"),
    [
        ("pip install -U transformers", (), "pip install -U transformers"),
        ("pip install -U transformers", ("transformers<5",), "pip install -U 'transformers<5'"),
        ("pip install 'transformers>=5'", ("transformers<5",), ""),
        ("python -m pip install 'transformers>=5'", ("transformers<5",), ""),
        ("pip install 'transformers>=5'  # or older", ("transformers<5",), ""),
        ("pip install -U transformers  # now", ("transformers<5",), "pip install -U 'transformers<5'  # now"),
        ("pip install other  # and FFmpeg", ("transformers<5",), "pip install other  # and FFmpeg"),
        ("pip install -U transformers other", ("transformers<4.30",), "pip install -U transformers other"),
        ("pip install 'transformers<4.20'", ("transformers==4.30.0",), "pip install 'transformers<4.20'"),
        ("pip install -U transformers", ("transformers==4.40.1",), "pip install -U transformers==4.40.1"),
        ("pip uninstall transformers", ("transformers",), ""),
        ("pip check", ("transformers<5",), "pip check"),
        ("pip install -U transformers", ("transformers<5", "transformers>4,<5"), "pip install -U 'transformers<5,>4'"),
        (
            "pip install -U --no-binary transformers transformers",
            ("transformers<5",),
            "pip install -U --no-binary transformers 'transformers<5'",
        ),
        ("model = load()  # pip install", ("transformers<5",), "model = load()  # pip install"),
    ],
)  # fmt: skip
def test_a_line(line: str, requires: tuple[str, ...], left: str) -> None:
    assert advised(line, lambda: pins(*requires))[0] == left


def test_requirements_are_read_for_pip_commands_only() -> None:
    def no_pins() -> Pins:
        raise AssertionError("there is no pip command")

    assert advised("trainer.train()", no_pins) == ("trainer.train()", None)


def test_a_change_that_a_preflight_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    preflight = pytest.importorskip("patchkit.inspection.preflight")
    change = '# An older one has it:\npip install "transformers<5"'
    finding = preflight.Finding("some", preflight.Severity.NOTE, "found", "why", change)
    monkeypatch.setattr(preflight, "pins_here", pins)
    assert preflight._within_pins(finding).change == change
    monkeypatch.setattr(preflight, "pins_here", lambda: pins("transformers>=5"))
    held = preflight._within_pins(finding).change.split("\n")
    assert held[0] == "# An older one has it:"
    assert held[1].startswith("# pip install")
    assert held[1].endswith("made-up 1.0 requires transformers>=5")
