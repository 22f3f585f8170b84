"""Requirements that do not hold, from metadata alone."""

from __future__ import annotations

import pytest

from patchkit.cli.doctor import requirements
from patchkit.environment import installed_distributions
from patchkit.reporting.pins import Pins

Distributions = dict[str, tuple[str, list[str]]]


def library(version: str, *requires: str) -> tuple[str, list[str]]:
    return version, list(requires)


@pytest.mark.parametrize(
    ("distributions", "expected"),
    [
        pytest.param({}, [], id="nothing installed"),
        pytest.param({"trl": library("1.0")}, [], id="nothing required"),
        pytest.param(
            {"trl": library("1.0", "transformers>=4.56"), "transformers": library("4.56.0")},
            [],
            id="met",
        ),
        pytest.param(
            {"trl": library("1.0", "transformers>=4.56"), "transformers": library("4.50.0")},
            ["transformers>=4.56 (4.50.0)"],
            id="too old",
        ),
        pytest.param(
            {
                "transformers": library("4.57.0", "huggingface-hub<1.0"),
                "huggingface_hub": library("2.4.0"),
            },
            ["huggingface-hub<1.0 (2.4.0)"],
            id="too new, under another spelling",
        ),
        pytest.param({"trl": library("1.0", "datasets>=3")}, ["datasets>=3 (absent)"], id="absent"),
        pytest.param(
            {"trl": library("1.0", 'tomli; python_version < "3"')}, [], id="for another Python"
        ),
        pytest.param({"trl": library("1.0", 'vllm>=1; extra == "vllm"')}, [], id="extra"),
        pytest.param(
            {
                "transformers": library("5.0", 'accelerate>=1.1; extra == "torch"'),
                "torch": library("2.13.0"),
                "accelerate": library("1.0.1"),
            },
            [],
            id="extra of the name of an installed library",
        ),
        pytest.param(
            {
                "trl": library("1.0", "transformers[torch]"),
                "transformers": library("5.0", 'accelerate>=1.1; extra == "torch"'),
                "accelerate": library("1.0.1"),
            },
            ["accelerate>=1.1 (1.0.1)"],
            id="extra that another library asks for",
        ),
        pytest.param(
            {
                "framework": library("1.0", "trl", "transformers[A_b]"),
                "trl": library("1.0"),
                "transformers": library("5.0", 'x>1; extra == "a-b" and python_version > "3"'),
            },
            ["x>1 (absent)"],
            id="extra that a framework asks for, in another spelling",
        ),
        pytest.param(
            {
                "trl": library("1.0", "y"),
                "y": library("1.0", "y[all]", 'x; extra == "all"', 'z; extra == "none"'),
            },
            ["x (absent)"],
            id="extra that a distribution asks of itself",
        ),
        pytest.param(
            {"framework": library("1.0", "peft", "x>1"), "peft": library("1.0")},
            ["x>1 (absent)"],
            id="of a framework that no list has",
        ),
        pytest.param(
            {
                "bitsandbytes": library("0.50", 'transformers<5; extra == "test"'),
                "transformers": library("5.0"),
            },
            [],
            id="extra named after nothing",
        ),
        pytest.param(
            {"trl": library("1.0", "transformers>=4.56"), "transformers": library("5.0.0rc1")},
            [],
            id="pre-release",
        ),
        pytest.param(
            {"bitsandbytes": library("1.0", "torch==2.13.0"), "torch": library("2.13.0+cpu")},
            [],
            id="build of a release",
        ),
        pytest.param(
            {
                "trl": library("1.0", "datasets"),
                "datasets": library("5.0", "fsspec[http]>=2"),
                "fsspec": library("3.0", 'aiohttp; extra == "http"', 's3fs; extra == "s3"'),
            },
            ["aiohttp (absent)"],
            id="an extra that a requirement asks for, two steps away",
        ),
        pytest.param(
            {"trl": library("1.0", "peft"), "peft": library("1.0", "trl", "x>1")},
            ["x>1 (absent)"],
            id="circle",
        ),
        pytest.param(
            {"trl": library("1.0", "transformers (>=4.*|bad", "x>1")},
            ["x>1 (absent)"],
            id="metadata that pip cannot read",
        ),
        pytest.param(
            {"unrelated": library("1.0", "x>1")}, [], id="of a library that is none of ours"
        ),
    ],
)
def test_unmet(installation, distributions: Distributions, expected: list[str]) -> None:
    for name, (version, requires) in distributions.items():
        installation.add(name, version, requires)
    section = checked()
    assert [
        f"{fact['requirement']} ({fact['found'] or 'absent'})" for fact in section.facts
    ] == expected
    assert bool(section.steps) == bool(expected)
    assert all(step.wrong for step in section.steps)


def checked():
    return requirements.check(Pins(installed_distributions()))


def steps():
    """The steps as the doctor prints them."""
    pins = Pins(installed_distributions())
    return [step.within(pins) for step in requirements.check(pins).steps]


def test_what_to_do(installation) -> None:
    installation.add("trl", "1.16.0", ["transformers>=4.56", "datasets", "x", "y"])
    installation.add("transformers", "4.50.0", ["tokenizers<0.22"])
    installation.add("tokenizers", "0.22.0+local", ["z"])
    (step,) = steps()
    # What the next release of Transformers requires of tokenizers is not known here.
    assert step.do == ("pip install 'transformers>=4.56' datasets x y z",)
    assert "trl 1.16.0 requires transformers>=4.56: 4.50.0 is installed" in step.what
    assert "trl 1.16.0 requires datasets: it is not installed" in step.what
    assert "4 more below" in step.what


def test_bounds_of_others_are_kept(installation) -> None:
    installation.add("trl", "1.0", ["transformers>=4.56"])
    installation.add("framework", "2.0", ["transformers<5,>=4.40", "trl"])
    installation.add("transformers", "4.50.0")
    assert [step.do for step in steps()] == [("pip install 'transformers<5,>=4.56'",)]


def test_requirements_that_contradict_each_other(installation) -> None:
    installation.add("trl", "1.0", ["transformers>=5", "x"])
    installation.add("framework", "2.0", ["transformers<5", "trl"])
    installation.add("transformers", "4.50.0")
    apart, other = steps()
    assert apart.do == ()
    for wants in ("trl 1.0 requires transformers>=5", "framework 2.0 requires transformers<5"):
        assert wants in apart.what
    assert other.do == ("pip install x",)


def test_a_long_command_is_folded(installation) -> None:
    installation.add("trl", "1.2.3", [f"a-distribution-with-a-long-name-{i}" for i in range(3)])
    ((command,),) = [step.do for step in steps()]
    first, second, *_ = command.splitlines()
    assert first.endswith("\\")
    assert len(first) <= 72
    assert (first.removesuffix("\\") + second).split()[:3] == [
        "pip",
        "install",
        "a-distribution-with-a-long-name-0",
    ]
