"""What patchkit fixes here: due, switched off, unreadable, and whose."""

from __future__ import annotations

from pathlib import Path

import pytest

from patchkit.catalogue.entries import load
from patchkit.cli.doctor import diagnose, due, pairs, requirements, versions
from patchkit.engine import session
from patchkit.environment import installed_distributions
from patchkit.matrix import lookup
from patchkit.matrix.records import Environment, Matrix, MatrixError, Result
from patchkit.reporting.pins import Pins

VERSIONS = {"trl": "1.16.0", "transformers": "5.23.0", "peft": "0.21.2", "accelerate": "1.15.0"}


@pytest.fixture
def libraries(installation):
    for name, version in VERSIONS.items():
        installation.add(name, version)
    return installation


def test_nothing_installed(installation) -> None:
    section = due.check()
    assert section.facts["due"] == {}
    assert section.steps == ()
    assert section.rows[0].text == "none"


def test_due(libraries) -> None:
    section = due.check()
    assert "trl-adapter-bf16-cast" in section.facts["due"]
    assert not [name for name in section.facts["due"] if name.startswith("bitsandbytes-")]
    assert "transformers-preflight" not in section.facts["due"]
    (step, *_) = section.steps
    assert not step.wrong
    assert f"patchkit fixes {len(section.facts['due'])} bugs" in step.what
    assert step.do == ("import patchkit; patchkit.apply()", "patchkit run -- python train.py")
    assert sum(int(part.split()[-1]) for part in section.rows[0].text.split(",")) == len(
        section.facts["due"]
    )


def test_switched_off(libraries, monkeypatch) -> None:
    everything = set(due.check().facts["due"])
    monkeypatch.setenv("PATCHKIT_DISABLE", "trl-*")
    section = due.check()
    off = set(section.facts["switched_off"])
    assert off == {name for name in everything if name.startswith("trl-")}
    assert set(section.facts["due"]) == everything - off
    monkeypatch.setenv("PATCHKIT_DISABLE", "all")
    section = due.check()
    assert section.facts["due"] == {}
    assert section.steps == ()


@pytest.mark.parametrize(
    ("trl", "asked"), [("1.16.0", False), ("1.16.1", True)], ids=["measured", "not measured"]
)
def test_what_was_never_run_is_worth_running(installation, trl: str, asked: bool) -> None:
    installation.add("trl", trl)
    steps = [step for step in due.check().steps if step.do[0].startswith("patchkit verify")]
    assert bool(steps) == asked
    assert not any(step.wrong for step in steps)


def test_patches_of_others_and_of_the_project(libraries, tmp_path: Path, monkeypatch) -> None:
    points = "[patchkit.patches]\ngood = acme_patches:good\nbad = acme_patches:bad\n"
    libraries.add("acme-patches", "1.0", points=points)
    (libraries.folder / "acme_patches.py").write_text(
        "from types import SimpleNamespace\n"
        "from patchkit.patch import Patch, Wrap\n"
        "change = Wrap('trl:x', 'acme_patches:wrapper')\n"
        "good = SimpleNamespace(__name__='acme_patches', PATCH=Patch(\n"
        "    id='trl-acme', title='t', affects={'trl': '>=1'}, changes=(change,)))\n"
    )
    own = tmp_path / "own"
    own.mkdir()
    (own / "broken.py").write_text("raise RuntimeError('/home/zaphod/secret/x.py')\n")
    (own / "mine.py").write_text(
        "from patchkit.patch import Patch, Wrap\n"
        "PATCH = Patch(id='trl-mine', title='t', affects={'trl': '>=1'},\n"
        "    changes=(Wrap('trl:x', 'os:getcwd'),))\n"
    )
    monkeypatch.setenv("PATCHKIT_PATCHES", str(own))
    state = session.SESSION._state._replace(catalogue=load())
    monkeypatch.setattr(session.SESSION, "_state", state)
    section = due.check()
    assert section.facts["from_others"] == ["acme-patches"]
    assert section.facts["your_own"] == ["trl-mine"]
    assert {"trl-acme", "trl-mine"} <= section.facts["due"].keys()
    broken = " ".join(section.facts["broken"])
    assert "RuntimeError" in broken
    assert "acme_patches:bad" in broken
    assert len([step for step in section.steps if step.wrong]) == 2
    assert "zaphod" not in repr(section)
    assert str(tmp_path) not in repr(section)


def test_an_installed_version_that_does_not_parse(installation) -> None:
    installation.add("trl", "of-today")
    sections = [
        due.check(),
        versions.check(),
        requirements.check(Pins(installed_distributions())),
        pairs.check(),
    ]
    assert sections[0].facts["troubled"]
    (step,) = [step for section in sections for step in section.steps if "of-today" in str(step)]
    assert "'of-today' is not a version. Reinstall trl" in step.what
    assert step.wrong


@pytest.fixture
def measured(monkeypatch):
    """Puts runs of TRL 1.16.0 in place of the matrix, beside these versions of torch."""

    def put(*torch: str) -> None:
        places = [
            Environment({"trl": "1.16.0", "torch": version}, "3.11.7", "linux", "cpu", "2026-02-03")
            for version in torch
        ]
        results = [Result("trl-adapter-bf16-cast", "fixed", place) for place in places]
        monkeypatch.setattr(lookup, "_shipped", lambda: Matrix(tuple(results)))

    return put


@pytest.mark.parametrize(
    ("torch", "said"),
    [("2.13.0+cu130", False), ("2.6.0", False), ("2.10.0+cpu", True), (None, False)],
)
def test_a_torch_that_was_not_measured(
    installation, measured, torch: str | None, said: bool
) -> None:
    measured("2.13.0+cpu", "2.6.0+cu124")
    installation.add("trl", "1.16.0")
    if torch:
        installation.add("torch", torch)
    section = due.check()
    rows = [row for row in section.rows if row.label == "torch"]
    expected = f"not measured with {torch}; measured with 2.6.0, 2.13.0"
    assert [row.text for row in rows] == [expected] * said
    assert section.facts["measured_with_torch"] == ["2.6.0", "2.13.0"]


def test_older_than_any_measured(installation, measured) -> None:
    measured("2.13.0")
    installation.add("trl", "0.9.0")
    section = due.check()
    assert section.facts["untested"] == ["trl-adapter-bf16-cast"]
    assert section.facts["due"] == {}
    (row,) = [row for row in section.rows if row.label == "untested"]
    assert row.text == "older than any measured release: trl-adapter-bf16-cast"
    (step,) = section.steps
    assert not step.wrong
    assert "For 1 bug the installed versions (trl 0.9.0) are older than any" in step.what
    assert step.do == ("patchkit verify --everywhere", "pip install -U 'trl>=1.16.0'")


@pytest.mark.parametrize(("pin", "printed"), [("trl~=0.9.0", False), ("trl<2", True)])
def test_an_upgrade_that_reaches_nothing_measured_is_not_printed(
    installation, measured, pin: str, printed: bool
) -> None:
    """As with adapters 1.3.0, which keeps Transformers where it is."""
    measured("2.13.0")
    installation.add("trl", "0.9.0")
    installation.add("peft", "0.10.0")
    installation.add("framework", "1.0", [pin, "peft"])
    (step,) = [step for step in diagnose(quick=True).steps if "older than any" in step.what]
    assert step.do == (
        "patchkit verify --everywhere",
        *["pip install -U 'trl<2,>=1.16.0' peft"] * printed,
    )


def test_the_library_that_is_too_old_is_named(installation) -> None:
    """A patch for Transformers is untested here because of bitsandbytes."""
    installation.add("transformers", "4.57.6")
    installation.add("bitsandbytes", "0.49.2")
    (step,) = [step for step in due.check().steps if "older than any" in step.what]
    assert "versions (bitsandbytes 0.49.2) are older" in step.what
    assert step.do[1].startswith("pip install -U transformers 'bitsandbytes>=0.5")


def test_doctor_with_a_damaged_matrix(installation, monkeypatch) -> None:
    monkeypatch.setattr(lookup, "_shipped", lambda: MatrixError("damaged"))
    installation.add("trl", "0.9.0")
    installation.add("torch", "2.10.0")
    section = due.check()
    assert section.facts["measured_with_torch"] == section.facts["untested"] == []
    assert not [row for row in section.rows if row.label in ("torch", "untested")]
