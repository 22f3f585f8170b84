"""No pip command that is printed contradicts what an installed distribution requires."""

from __future__ import annotations

import re
import shlex
from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from patchkit.cli.doctor import Diagnosis
from patchkit.cli.doctor.section import Section, Step
from patchkit.environment import Distribution
from patchkit.reporting.pins import Pins, admits, fit

Records = dict[str, tuple[str, list[str]]]

NAMES = ("alpha", "beta", "gamma")
ALL_VERSIONS = [Version(f"{x}.{y}.{z}") for x, y, z in product(range(5), range(4), (0, 1, 99999))]
"""Each version in which a made-up bound may lie, and one on both sides of it."""
versions = st.builds("{}.{}".format, st.integers(0, 2), st.integers(0, 2))
parts = st.one_of(
    st.builds("{}{}".format, st.sampled_from((">=", "<=", "<", ">", "!=", "==", "~=")), versions),
    st.builds("=={}.*".format, st.integers(0, 2)),
)
ranges = st.lists(parts, max_size=3).map(",".join)
markers = st.sampled_from(("", '; extra == "more"', '; extra == "other"', '; python_version < "3"'))
extras = st.sampled_from(("", "[more]"))
wanted = st.builds("{}{}{}{}".format, st.sampled_from(NAMES), extras, ranges, markers)
records = st.fixed_dictionaries(
    {}, optional={name: st.tuples(versions, st.lists(wanted, max_size=4)) for name in NAMES}
)
requirements = st.lists(
    st.builds("{}{}".format, st.sampled_from(NAMES), ranges),
    min_size=1,
    max_size=2,
    unique_by=lambda text: text[0],
)
commands = st.one_of(
    st.builds(
        lambda option, texts: shlex.join(["pip", "install", *option, *texts]),
        st.sampled_from(([], ["-U"], ["--force-reinstall"])),
        requirements,
    ),
    st.sampled_from(NAMES).map("pip uninstall {}".format),
)


def pins_of(made_up: Records) -> Pins:
    return Pins(
        {
            name: Distribution(name, version, tuple(texts))
            for name, (version, texts) in made_up.items()
        }
    )


def requirements_that_count(made_up: Records) -> list[tuple[str, Requirement]]:
    """Each requirement and who has it, found by trying until nothing is added."""
    asked: set[tuple[str, str]] = set()
    while True:
        counting = [
            (by, requirement)
            for by, (_, texts) in made_up.items()
            for requirement in map(Requirement, texts)
            if requirement.marker is None
            or any(
                requirement.marker.evaluate({"extra": extra})
                for extra in ["", *(extra for name, extra in asked if name == by)]
            )
        ]
        found = {(r.name, extra) for _, r in counting for extra in r.extras if r.name in made_up}
        if found <= asked:
            return counting
        asked |= found


def possible(specifier: SpecifierSet) -> bool:
    return any(specifier.contains(version, prereleases=True) for version in ALL_VERSIONS)


@settings(max_examples=300, deadline=None)
@given(records, commands)
@example({"alpha": ("1.0", ["beta<=0.2"]), "beta": ("0.2", [])}, "pip install 'beta>=0.3'")
@example({"alpha": ("1.0", ["beta==0.2"]), "beta": ("0.2", [])}, "pip install -U beta")
@example({"alpha": ("1.0", ["beta"]), "beta": ("0.2", [])}, "pip uninstall beta")
def test_no_printed_command_contradicts_a_requirement(made_up: Records, command: str) -> None:
    section = Section("s", "S", steps=(Step("Do it.", (command,), wrong=True),))
    (step,) = Diagnosis((section,), pins_of(made_up)).steps
    counting = requirements_that_count(made_up)
    for printed in step.do:
        action, *words = shlex.split(printed.replace("\\\n", " "))[1:]
        if action == "uninstall":
            assert not [r for _, r in counting if r.name in words]
            continue
        installs = [Requirement(word) for word in words if not word.startswith("-")]
        # A distribution of which the command asks for another version may require other things.
        replaced = {
            r.name
            for r in map(Requirement, (w for w in shlex.split(command)[2:] if w[0] != "-"))
            if r.name not in made_up or not r.specifier.contains(made_up[r.name][0])
        }
        for install in installs:
            for by, requirement in counting:
                if requirement.name == install.name and by not in replaced:
                    # All that pip may choose is all that the other wants.
                    for version in ALL_VERSIONS:
                        if install.specifier.contains(version):
                            assert requirement.specifier.contains(version), (by, str(requirement))
            assert possible(install.specifier)
    if not step.do and "is ruled out" in step.what:
        assert any(f"{by} {made_up[by][0]} requires {r.name}" in step.what for by, r in counting)


@settings(max_examples=300, deadline=None)
@given(records, commands)
def test_commands_that_fit_stay(made_up: Records, command: str) -> None:
    """One is left out only where no version fits, or where what is installed fits already."""
    counting = requirements_that_count(made_up)
    words = shlex.split(command)
    if words[1] == "uninstall":
        assert bool(fit(command, pins_of(made_up))[0]) is not any(r.name == words[2] for _, r in counting)  # fmt: skip
        return
    if words[2] in ("-U", "--force-reinstall"):
        return
    installs = [Requirement(word) for word in words[2:]]
    others = {r.name: SpecifierSet() for r in installs}
    for _, requirement in counting:
        if requirement.name in others:
            others[requirement.name] &= requirement.specifier
    fits = all(possible(r.specifier & others[r.name]) for r in installs)
    is_there = all(r.name in made_up and r.specifier.contains(made_up[r.name][0]) for r in installs)
    if fits and not is_there:
        assert fit(command, pins_of(made_up))[0]


@settings(max_examples=300, deadline=None)
@given(ranges)
def test_admits(specifier: str) -> None:
    assert admits(SpecifierSet(specifier)) is possible(SpecifierSet(specifier))


LLAMAFACTORY: Records = {
    "llamafactory": ("0.9.5", ["trl<=0.24.0,>=0.18.0", "transformers!=4.57.0,<=5.6.0,>=4.55.0"]),
    "trl": ("0.24.0", ["transformers>=4.56.1"]),
    "transformers": ("5.6.0", []),
    "torch": ("2.13.0+cpu", []),
}


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("pip install 'trl>=0.29'", ""),
        ("pip install 'transformers<5'", "pip install 'transformers!=4.57.0,<5,>=4.56.1'"),
        ("pip install -U trl transformers", ""),
        ("pip install -U trl peft", "pip install -U 'trl<=0.24.0,>=0.18.0' peft"),
        ("pip install 'torch<2.15'", ""),
        ("pip install --force-reinstall torch", "pip install --force-reinstall torch"),
        (
            "pip install torch==2.11.0",
            "pip install --extra-index-url https://download.pytorch.org/whl/cpu torch==2.11.0",
        ),
        ("pip uninstall transformers", ""),
        ("pip uninstall torch", "pip uninstall torch"),
        ("python -m bitsandbytes  # lists files", "python -m bitsandbytes  # lists files"),
        ("pip install ./here", "pip install ./here"),
        ("import patchkit; patchkit.apply()", "import patchkit; patchkit.apply()"),
        ("it's no command", "it's no command"),
        (
            "pip install 'torchvision>=0.19'",
            "pip install --extra-index-url https://download.pytorch.org/whl/cpu 'torchvision>=0.19' torch==2.13.0",
        ),
        (
            "pip install timm==1.0.12",
            "pip install --extra-index-url https://download.pytorch.org/whl/cpu timm==1.0.12 torch==2.13.0",
        ),
        (
            "pip install --no-deps torchvision==0.28.0 --index-url https://x.org/whl",
            "pip install --no-deps --index-url https://x.org/whl torchvision==0.28.0",
        ),
    ],
)  # fmt: skip
def test_beside_a_framework(command: str, printed: str) -> None:
    fitted, _ = fit(command, pins_of(LLAMAFACTORY))
    assert fitted.replace(" \\\n   ", "") == printed


def test_what_rules_all_commands_out_is_said() -> None:
    made_up = {**LLAMAFACTORY, "trl": ("0.24.0", ["transformers>=5"])}
    step = Step("They fail.", ("pip install 'trl>=0.29'", "pip install 'transformers<5'"), True)
    left = step.within(pins_of(made_up))
    assert left.do == ()
    assert "llamafactory 0.9.5 requires trl<=0.24.0,>=0.18.0" in left.what
    assert "trl 0.24.0 requires transformers>=5" in left.what
    assert left.wrong


def test_the_property_can_fail() -> None:
    """Without the gate the command of the first example would be printed."""
    made_up: Records = {"alpha": ("1.0", ["beta<=0.2"]), "beta": ("0.2", [])}
    step = Step("Do it.", ("pip install 'beta>=0.3'",))
    assert step.within(Pins({})).do == step.do
    assert step.within(pins_of(made_up)).do == ()
    assert not re.search("pip", step.within(pins_of(made_up)).what)
