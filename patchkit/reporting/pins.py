"""What installed distributions require of each other, and pip commands that keep to it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from ..environment import Distribution, canonical, installed_distributions, is_version
from ..libraries import LIBRARIES

_INDEXES = frozenset({"-i", "--index-url", "--extra-index-url"})
_TAKES_A_VALUE = _INDEXES | {
    *("-c", "--constraint", "-r", "--requirement", "-f", "--find-links", "-t", "--target"),
    *("--prefix", "--root", "--no-binary", "--only-binary", "--platform", "--python-version"),
}
_BESIDE_TORCH = frozenset({"torchvision", "torchaudio"})
"""Distributions whose every release is built for one release of torch."""
BUILDS = "https://download.pytorch.org/whl"
"""Where each build of torch has an index, by its local version: `cpu`, `cu128`."""
_UPGRADES = frozenset({"-U", "--upgrade"})
_ACTS_ANYWAY = frozenset({"--force-reinstall"})
_BEYOND_ALL = Version("99999")
_COMMAND_WIDTH = 72
_OF_AN_EXTRA = re.compile(r"^(?!.*\bor\b).*;.*\bextra *== *['\"]\w")
_PLAIN = re.compile(r"[\w.\-=/:]+")


@dataclass(frozen=True)
class Pin:
    """A requirement that counts here.

    Args:
        by: the distribution that requires it.
        requirement: what it requires.
        by_extra: whether an extra requires it, for which another distribution asks.
    """

    by: Distribution
    requirement: Requirement
    by_extra: bool = False

    @property
    def name(self) -> str:
        return canonical(self.requirement.name)

    @property
    def wanted(self) -> str:
        """What it requires, such as `transformers>=4.56`."""
        return f"{self.requirement.name}{self.requirement.specifier}"

    def __str__(self) -> str:
        return f"{self.by.name} {self.by.version} requires {self.wanted}"


@dataclass(frozen=True)
class Pins:
    """All requirements that count among installed distributions, which have canonical names."""

    installed: Mapping[str, Distribution]

    @cached_property
    def all(self) -> tuple[Pin, ...]:
        """Those without an extra, and those of an extra for which one of them asks."""
        queue = [(name, "") for name in self.installed]
        seen = set(queue)
        found: dict[tuple[str, str], Pin] = {}
        for name, extra in queue:  # which grows
            for text in self.installed[name].requires:
                requirement = _requirement(text, extra)
                if requirement is None or (name, text) in found:
                    continue
                found[name, text] = Pin(self.installed[name], requirement, bool(extra))
                wanted = canonical(requirement.name)
                asked = [(wanted, canonical(name)) for name in requirement.extras]
                new = [pair for pair in asked if wanted in self.installed and pair not in seen]
                seen.update(new)
                queue += new
        return tuple(found.values())

    @cached_property
    def by_name(self) -> dict[str, list[Pin]]:
        """The requirements, by what they require."""
        found: dict[str, list[Pin]] = {}
        for pin in self.all:
            found.setdefault(pin.name, []).append(pin)
        return found

    def is_met(self, requirement: Requirement) -> bool:
        present = self.installed.get(canonical(requirement.name))
        if present is None:
            return False
        # A version that cannot be read is told once, with the versions.
        return not is_version(present.version) or _contains(
            requirement.specifier, Version(present.version)
        )

    def is_outgrown(self, pin: Pin) -> bool:
        """Tell whether what is installed breaks a requirement, and no newer version meets it."""
        if pin.name not in self.installed or self.is_met(pin.requirement):
            return False
        newer = SpecifierSet(f">{Version(self.installed[pin.name].version).public}")
        return not admits(pin.requirement.specifier & newer)


def fit(command: str, pins: Pins, *, outgrown: bool = True) -> tuple[str, Pin | None]:
    """Fit a command to what installed distributions require; others than pip's stay as they are.

    Args:
        command: the command.
        pins: the requirements.
        outgrown: whether those count, too, that a version breaks which is newer than all they take.
            Who installed it is told of that by doctor, and in no other advice to go back.

    Returns:
        the command, with the bounds that they set to what it installs. It is empty where it
        contradicts a requirement, which comes with it, or where it would change nothing.
    """
    try:
        words = shlex.split(command.replace("\\\n", " "), comments=True)
    except ValueError:
        return command, None
    if words[1:3] == ["-m", "pip"]:
        words = words[2:]
    if words[:2] == ["pip", "uninstall"]:
        for name in words[2:]:
            for pin in pins.by_name.get(canonical(name), ()):
                return "", pin
        return command, None
    if words[:2] != ["pip", "install"]:
        return command, None
    options, wanted = _parsed(words[2:])
    if wanted is None:
        return command, None
    if not _INDEXES.intersection(options):
        more_options, more = _build_of_torch(wanted, pins)
        options, wanted = [*options, *more_options], [*wanted, *more]
    fitted: list[str] = []
    changes = bool(_ACTS_ANYWAY.intersection(options))
    for requirement in wanted:
        specifier = requirement.specifier
        if not admits(specifier):
            return "", None
        for pin in _binding(requirement, wanted, pins):
            if _implies(specifier, pin.requirement.specifier):
                continue
            if not outgrown and pins.is_outgrown(pin):
                continue
            specifier &= pin.requirement.specifier
            if not admits(specifier):
                return "", pin
        name = requirement.name + (
            f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
        )
        at = f" @ {requirement.url}" if requirement.url else ""
        fitted.append(f"{name}{at}{_shortest(specifier)}")
        changes = changes or bool(at) or _changes(requirement.name, specifier, options, pins)
    if not changes:
        return "", None
    return pip_install(fitted, options=options), None


def advised(line: str, pins: Callable[[], Pins]) -> tuple[str, Pin | None]:
    """Fit a line of advice, which may be a pip command and end in a comment, to what is required.

    Args:
        line: the line; any other than a pip command stays as it is.
        pins: gives the requirements that count; is called for pip commands only.

    Returns:
        the line. It is empty where it contradicts a requirement, which comes with it.
    """
    command, mark, comment = line.partition("  #")
    if not re.match(r"\s*(?:\S*python\S* -m )?pip3? (?:un)?install\b", command):
        return line, None
    fitting, pin = fit(command, pins(), outgrown=False)
    if pin is not None:
        return "", pin
    if not fitting or fitting == fit(command, Pins({}))[0]:
        return line, None
    return " ".join(fitting.replace("\\\n", " ").split()) + mark + comment, None


def admits(specifier: SpecifierSet) -> bool:
    """Tell whether a version can be in all of these ranges."""
    return any(_contains(specifier, version) for version in _versions_around(specifier))


def _requirement(text: str, extra: str) -> Requirement | None:
    """Return a requirement if it counts on this platform and for this extra; else None."""
    if extra and "extra" not in text:
        return None  # it counts without
    if not extra and _OF_AN_EXTRA.search(text):
        return None  # most are: to parse them all would take most of the time of an answer
    try:
        requirement = Requirement(text)
    except InvalidRequirement:  # metadata older than the rules
        return None
    marker = requirement.marker
    return requirement if marker is None or marker.evaluate({"extra": extra}) else None


def _parsed(words: list[str]) -> tuple[list[str], list[Requirement] | None]:
    """Return the options of `pip install`, and what it installs; None if that is no name."""
    options: list[str] = []
    wanted: list[Requirement] = []
    for word in words:
        if word.startswith("-") or (options and options[-1] in _TAKES_A_VALUE):
            options.append(word)
            continue
        try:
            wanted.append(Requirement(word))
        except InvalidRequirement:
            return options, None
    return options, wanted


def _build_of_torch(wanted: list[Requirement], pins: Pins) -> tuple[list[str], list[Requirement]]:
    """Return what makes pip choose the build of the torch here, and a torchvision that loads.

    What is not installed yet cannot be asked whether it requires torchvision; the libraries do not.
    """
    torch = pins.installed.get("torch")
    names = {canonical(requirement.name) for requirement in wanted}
    if torch is None or not is_version(torch.version):
        return [], []
    version = Version(torch.version)
    new = bool(version.local) and not names <= {*pins.installed, *map(canonical, LIBRARIES)}
    others = any(canonical(each.name) == "torch" and not pins.is_met(each) for each in wanted)
    if names.isdisjoint(_BESIDE_TORCH) and not new and not others:
        return [], []
    more = [] if "torch" in names else [Requirement(f"torch=={version.public}")]
    return (["--extra-index-url", f"{BUILDS}/{version.local}"] if version.local else []), more


def _binding(wanted: Requirement, others: list[Requirement], pins: Pins) -> Iterator[Pin]:
    """Yield the installed requirements on a name by distributions that stay as they are."""
    replaced = {canonical(other.name) for other in others if not pins.is_met(other)}
    for pin in pins.by_name.get(canonical(wanted.name), ()):
        if pin.by.name not in replaced:
            yield pin


def _changes(name: str, specifier: SpecifierSet, options: list[str], pins: Pins) -> bool:
    """Tell whether pip would install another version than there is."""
    present = pins.installed.get(canonical(name))
    if present is None or not is_version(present.version):
        return True
    if not _UPGRADES.intersection(options):
        return not _contains(specifier, Version(present.version))
    return admits(specifier & SpecifierSet(f">{Version(present.version).public}"))


def _implies(specifier: SpecifierSet, other: SpecifierSet) -> bool:
    """Tell whether all versions in a range are in another one, too."""
    return not any(
        _contains(specifier, version) and not _contains(other, version)
        for version in _versions_around(specifier & other)
    )


def _shortest(specifier: SpecifierSet) -> str:
    """Return a range without the parts that follow from the others."""
    parts = sorted(set(map(str, specifier)))  # An equal bound of two requirements is one.
    for part in list(parts):
        others = SpecifierSet(",".join(other for other in parts if other != part))
        if _implies(others, SpecifierSet(part)):
            parts.remove(part)
    return ",".join(parts)


def _contains(specifier: SpecifierSet, version: Version) -> bool:
    return specifier.contains(version, prereleases=True)


def _versions_around(specifier: SpecifierSet) -> Iterator[Version]:
    """Yield versions, at least one of them in each part into which the bounds cut all versions."""
    yield from (Version("0"), Version("0.0.0.1"), _BEYOND_ALL)
    for part in specifier:
        text = part.version.removesuffix(".*")
        if not is_version(text):
            continue  # `===` compares texts
        bound = Version(text)
        release = list(bound.release)
        yield bound
        yield _release([*release, 0, 1])
        for kept_parts in (len(release), len(release) - 1):
            above = release[:kept_parts]
            if above:  # the ends of `==1.4.*` and `~=1.4.2`
                above[-1] += 1
                yield _release(above)
                yield _release([*above, 0, 1])
        while release and not release[-1]:
            release.pop()
        if release:
            release[-1] -= 1
            yield _release([*release, 99999])


def _release(parts: list[int]) -> Version:
    return Version(".".join(map(str, parts)))


def pip_install(requirements: Iterable[str], *, options: Iterable[str] = ()) -> str:
    """Return the `pip install` of requirements, in several lines if one would be too long."""
    words = [word if _PLAIN.fullmatch(word) else f"'{word}'" for word in (*options, *requirements)]
    lines, line = [], "pip install"
    for word in words:
        if len(line) + 1 + len(word) > _COMMAND_WIDTH - 2:
            lines.append(line + " \\")
            line = "   "
        line += f" {word}"
    return "\n".join([*lines, line])


def pins_here() -> Pins:
    """Return the requirements among what is installed here."""
    return Pins(installed_distributions())
