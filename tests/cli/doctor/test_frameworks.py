"""Frameworks are read off the records of what is installed."""

from __future__ import annotations

import pytest

from patchkit.cli.doctor import diagnose, frameworks, pairs
from patchkit.environment import frameworks as named
from patchkit.environment import installed_distributions
from patchkit.reporting.pins import Pins

SCRIPTS = "[gui_scripts]\nwindow = a:b\n[console_scripts]\nother = a:b\nmade-up-cli = a:b\n\n[more]\nx = y\n"


@pytest.fixture
def made_up(installation):
    installation.add("trl", "1.16.0", ["transformers>=4.56", "peft"])
    installation.add("transformers", "5.23.0", ['peft; extra == "testing"'])
    installation.add("Made_Up", "3.1", ["trl<2,>=1", "transformers", "numpy"], points=SCRIPTS)
    return installation


def test_what_is_a_framework(made_up) -> None:
    made_up.add("beside", "1.0", ["made-up"])
    made_up.add("by-an-extra", "1.0", ['trl; extra == "train"'])
    made_up.add("patchkit-trl", "1.0", ["trl"])
    made_up.add("similar", "1.0", ["trl-more", "transformers_stream"])
    made_up.add("marked", "1.0", ['bitsandbytes ; sys_platform != "none"'])
    assert list(named()) == ["made-up", "marked"] or set(named()) == {"made-up", "marked"}
    assert named()["made-up"].commands == ("other", "made-up-cli")


def test_it_is_named(made_up) -> None:
    section = frameworks.check(Pins(installed_distributions()))
    (row,) = section.rows
    (fact,) = section.facts
    assert row.label == "made-up"
    assert row.text.startswith("3.1. Requires trl<2,>=1, transformers. patchkit fixes ")
    assert row.text.endswith(", and none of made-up itself: `patchkit run -- made-up-cli …`.")
    assert fact["requires"] == ["trl<2,>=1", "transformers"]
    assert 0 < fact["due"] < 100


def test_what_requires_the_most_is_named_first(made_up) -> None:
    made_up.add("helper", "1.0", ["transformers"])
    for installed in (installed_distributions(), dict(reversed(installed_distributions().items()))):
        assert [row.label for row in frameworks.check(Pins(installed)).rows] == [
            "made-up",
            "helper",
        ]


def test_of_two_comes_first_what_no_other_requires(installation) -> None:
    """As flair and transformer-smaller-training-vocab, which only flair's users have."""
    installation.add("above", "1.0", ["beside", "trl"])
    installation.add("beside", "1.0", ["trl"])
    for installed in (installed_distributions(), dict(reversed(installed_distributions().items()))):
        assert list(named(installed)) == ["above", "beside"]


def test_what_to_do_starts_the_framework(made_up) -> None:
    made_up.add("helper", "1.0", ["transformers"], points="[console_scripts]\nhelper = a:b\n")
    (step,) = [step for step in diagnose(quick=True).steps if "patchkit fixes" in step.what]
    assert step.do == ("import patchkit; patchkit.apply()", "patchkit run -- made-up-cli …")


def test_without_a_command_or_a_bug(installation) -> None:
    installation.add("trl", "1.16.0")
    installation.add("library", "1.0", ["trl"])
    installation.add("other", "1.0", ["accelerate"])
    texts = {row.label: row.text for row in frameworks.check(Pins(installed_distributions())).rows}
    assert texts["library"].endswith("`patchkit run -- python train.py`.")
    assert texts["other"] == "1.0. Requires accelerate. patchkit has nothing to fix in these."


def test_a_framework_with_bugs_of_its_own(installation) -> None:
    installation.add("nemo-automodel", "0.7.0", ["transformers"])
    installation.add("transformers", "5.18.0")
    section = frameworks.check(Pins(installed_distributions()))
    assert ", and 1 of nemo-automodel itself: " in section.rows[0].text
    assert section.facts[0]["due_of_its_own"] == 1


def test_none(installation) -> None:
    section = frameworks.check(Pins(installed_distributions()))
    assert (section.facts, section.rows[0].text) == ([], "None is installed.")


def test_the_diagnosis_keeps_to_its_pins(installation) -> None:
    """A known pair whose first way out the framework forbids, as LLaMA-Factory does."""
    installation.add("framework", "1.0", ["trl<=0.24.0", "transformers>=4.55"])
    installation.add("trl", "0.24.0")
    installation.add("transformers", "5.6.0")
    diagnosis = diagnose(quick=True)
    (step,) = [step for step in diagnosis.steps if "do not work together" in step.what]
    assert step.do == ("pip install 'transformers<5,>=4.55'",)
    assert "framework" in diagnosis.to_dict()["environment"]["installed"]
    assert "trl>=0.29" not in str(diagnosis)


@pytest.mark.parametrize(("version", "told"), [("0.9.3", True), ("0.9.5", False)])
def test_a_framework_that_works_around_a_known_pair(installation, version, told) -> None:
    """LLaMA-Factory gives TRL the function of Transformers that it expects, and its DPO trains."""
    installation.add("llamafactory", version, ["trl<=0.24.0", "transformers>=4.55"])
    installation.add("trl", "0.24.0")
    installation.add("transformers", "5.6.0")
    diagnosis = diagnose(quick=True)
    assert bool([step for step in diagnosis.steps if "work together" in step.what]) == told
    (row,) = [row for row in pairs.check().rows if "measured with" in row.text]
    assert row.text.endswith("`llamafactory` works around it.") != told
    assert row.alarming == told


def test_triton_is_what_nemo_automodel_needs_another_of(installation) -> None:
    installation.add("nemo-automodel", "0.7.0", ["transformers"])
    installation.add("transformers", "5.18.0")
    installation.add("torch", "2.13.0+cpu")
    installation.add("triton", "3.9.0")
    (step,) = [step for step in diagnose(quick=True).steps if "work together" in step.what]
    assert step.do == ("pip install 'triton<3.9'",)


def test_bitsandbytes_that_a_framework_pins(installation) -> None:
    installation.add("autotrain-advanced", "0.8.36", ["bitsandbytes==0.45.0", "transformers"])
    installation.add("transformers", "4.48.0")
    installation.add("bitsandbytes", "0.45.0")
    installation.add("triton", "3.9.0")
    (step,) = [step for step in diagnose(quick=True).steps if "work together" in step.what]
    assert step.do == ("pip install 'triton<3.2'", "pip uninstall triton")
