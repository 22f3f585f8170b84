"""The patch: plain data that can be listed, compared and printed without running it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from keyword import iskeyword
from typing import NamedTuple, NoReturn

from .errors import PatchDefinitionError
from .rewrite.rule import Rule
from .rewrite.target import Target
from .rewrite.trampoline import Wrapper
from .settings import RESERVED, Setting

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def is_id(text: object) -> bool:
    """Tell whether a patch can have this id: lower-case words joined by hyphens."""
    return isinstance(text, str) and bool(_ID.fullmatch(text))


class Status(str, Enum):
    """The state of a patch in this process."""

    APPLIED = "applied"
    """Due, and the live targets carry it now."""
    PENDING = "pending"
    """Due; its module has not been imported yet."""
    AVAILABLE = "available"
    """Due, but not applied: `apply()` was not called, or `revert()` was."""
    NOT_INSTALLED = "not-installed"
    """The library is absent."""
    NOT_AFFECTED = "not-affected"
    """The installed version does not have the bug."""
    UNTESTED = "untested"
    """Not due: the installed version is older than any measured, and may have the bug."""
    DISABLED = "disabled"
    """Left out by `only`, `exclude` or `PATCHKIT_DISABLE`."""
    DRIFTED = "drifted"
    """Due by version, but the anchor did not match as expected: the target was left alone."""
    OVERRIDDEN = "overridden"
    """Was applied; someone replaced the target since."""
    FAILED = "failed"
    """An error while applying: rolled back, with the exception."""

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Rewrite:
    """Edit the source of a function and swap its code in place.

    Args:
        target: `module:qualname`; with shell wildcards, every such function in which the rule finds
            the buggy code.
        rule: the code to look for and its replacement.
        sites: how many places ("sites") the rule finds in one target; any other number is drift.
            None if the number does not matter, since all are fixed alike; none is still drift.
        affects: the range of the patch's first library in which this target has the bug, if that
            is narrower than the range of the patch.
    """

    target: str
    rule: Rule
    sites: int | None = 1
    affects: str = ""


@dataclass(frozen=True)
class Wrap:
    """Put a wrapper around a callable.

    A Python function keeps its identity: its code is swapped, so older references call the wrapper
    too. Any other callable, a generator or a coroutine gets a proxy, which older references bypass.

    Args:
        target: `module:qualname`, without wildcards.
        wrapper: called as `wrapper(wrapped, instance, args, kwargs)`, as wrapt's wrappers are; or
            `module:name` of one, which is imported when needed. Arguments are bound to the
            signature of the target: positional where possible, with defaults filled in.
        parameters: names that the signature of the target must have; a missing one is drift.
        affects: as for `Rewrite`.
    """

    target: str
    wrapper: Wrapper | str
    parameters: tuple[str, ...] = ()
    affects: str = ""


Change = Rewrite | Wrap


class Requirement(NamedTuple):
    """Something that a reproducer needs and not every machine has, and what a sentence calls it."""

    name: str
    what: str

    @property
    def outcome(self) -> str:
        """The outcome of a reproducer on a machine without it."""
        return f"needs-{self.name}"


REQUIREMENTS = {
    requirement.name: requirement
    for requirement in (
        Requirement("cuda", "a GPU"),
        Requirement("avx512-bf16", "a CPU with AVX512-BF16"),
    )
}
"""All known requirements, by name; `verification.machine` probes for them."""


@dataclass(frozen=True, kw_only=True)
class Patch:
    """One upstream bug and its fix.

    Args:
        id: lower-case words joined by hyphens; the library comes first.
        title: how things are once the patch is applied, in one line.
        affects: distribution name to PEP 440 range, as measured; all must hold. The first is the
            library that the patch fixes. A range open at the top means: not fixed in any release
            measured so far.
        changes: the changes it makes.
        upstream: links to the reports and fixes.
        symptom: a regular expression that finds the error a user sees without the patch; the error
            that the reproducer raises must match it.
        messages: the error a user sees without the patch, word for word but without the parts that
            vary, so that a search for it finds the patch; each matches `symptom`. Empty if the bug
            raises nothing.
        caution: what changes for someone who never met the bug.
        settings: options for the user.
        opt_in: the keyword of `apply` that turns on a patch which is off by default, since it fixes
            no bug, or changes the numbers of trainings that work: `lookout` for
            `apply(lookout=True)`, `PATCHKIT_LOOKOUT=1` and `patchkit run --opt-in lookout`. Naming
            its id in `only` turns it on too. Empty for all other patches.
        requires: what the reproducer needs of the machine, by the names in `REQUIREMENTS`, such as
            `cuda`; empty if any machine will do.
        harmless: functions whose code looks like the bug but does no harm, as targets with or
            without wildcards, each with the range of the patch's library for which that is so.

    Raises:
        PatchDefinitionError: something is missing or malformed. The symptom is looked at by
            `check_symptom`.
    """

    id: str
    title: str
    affects: Mapping[str, str]
    changes: tuple[Change, ...]
    upstream: tuple[str, ...] = ()
    symptom: str = ""
    messages: tuple[str, ...] = ()
    caution: str = ""
    settings: tuple[Setting, ...] = field(default=())
    opt_in: str = ""
    requires: tuple[str, ...] = ()
    harmless: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not is_id(self.id):
            self._refuse(f"its id must be lower-case words joined by hyphens, not {self.id!r}")
        if not isinstance(self.title, str) or not self.title:
            self._refuse("it has no title")
        if not isinstance(self.affects, Mapping) or not self.affects:
            self._refuse("`affects` must map a distribution to a version range")
        for library, versions in self.affects.items():
            if not isinstance(library, str) or not isinstance(versions, str):
                self._refuse(f"`affects` must map names to ranges, not {library!r}: {versions!r}")
        if not isinstance(self.changes, tuple) or not self.changes:
            self._refuse("`changes` must be a tuple of at least one Rewrite or Wrap")
        for change in self.changes:
            self._check(change)
        if not _is_strings(self.upstream):
            self._refuse(f"`upstream` must be a tuple of links, not {self.upstream!r}")
        if not isinstance(self.symptom, str):
            self._refuse(f"`symptom` must be a regular expression, not {self.symptom!r}")
        if not _is_strings(self.messages):
            self._refuse(f"`messages` must be a tuple of strings, not {self.messages!r}")
        if not isinstance(self.opt_in, str) or (self.opt_in and not _is_name(self.opt_in)):
            self._refuse(f"`opt_in` must be a keyword of apply(), not {self.opt_in!r}")
        if self.opt_in in RESERVED and self.opt_in != "preflight":
            self._refuse(f"`opt_in` is a name that patchkit uses itself: {self.opt_in!r}")
        if not _is_strings(self.requires) or not REQUIREMENTS.keys() >= set(self.requires):
            known = ", ".join(map(repr, REQUIREMENTS))
            self._refuse(f"`requires` must be a tuple made of {known}, not {self.requires!r}")
        if not isinstance(self.harmless, Mapping):
            self._refuse(f"`harmless` must map targets to ranges, not {self.harmless!r}")
        for target, versions in self.harmless.items():
            self._check_harmless(target, versions)
        if not isinstance(self.settings, tuple):
            self._refuse(f"`settings` must be a tuple of Setting, not {self.settings!r}")
        for setting in self.settings:
            problem = setting.problem() if isinstance(setting, Setting) else "is no Setting"
            if problem:
                self._refuse(f"`settings`: the setting {setting!r} {problem}")

    @property
    def library(self) -> str:
        """The distribution that the patch fixes."""
        return next(iter(self.affects))

    @cached_property
    def packages(self) -> frozenset[str]:
        """The top-level packages that its changes are in."""
        return frozenset(re.split(r"[.:]", change.target)[0] for change in self.changes)

    def check_symptom(self) -> None:
        """Check the symptom, which takes longer than all the rest.

        Raises:
            PatchDefinitionError: it is not a regular expression, or does not find the messages.
        """
        try:
            re.compile(self.symptom)
        except re.error as error:
            self._refuse(f"`symptom` is not a regular expression: {error}")
        for message in self.messages:
            if not re.search(self.symptom, message):
                self._refuse(f"`symptom` does not find the message {message!r}")

    def _check(self, change: object) -> None:
        if not isinstance(change, (Rewrite, Wrap)):
            self._refuse(f"a change is a Rewrite or a Wrap, not {change!r}")
        try:
            target = Target.parse(change.target)
        except ValueError as error:
            self._refuse(str(error))
        if target.package_is_glob:
            self._refuse(f"the package of a target must not contain wildcards: {target}")
        if not isinstance(change.affects, str):
            self._refuse(f"`affects` of {target} must be a version range, not {change.affects!r}")
        if isinstance(change, Rewrite):
            if not isinstance(change.rule, Rule):
                self._refuse(f"the rule of {target} is not a Rule: {change.rule!r}")
            if change.sites is not None and not (
                isinstance(change.sites, int) and change.sites >= 1
            ):
                self._refuse(f"the number of sites of {target} must be at least 1")
        else:
            if target.is_glob:
                self._refuse(f"a Wrap names one callable, so its target has no wildcards: {target}")
            if not callable(change.wrapper) and not _is_path(change.wrapper):
                self._refuse(f"the wrapper of {target} is neither callable nor 'module:name'")
            if not _is_strings(change.parameters):
                self._refuse(f"the parameters of {target} must be a tuple of names")

    def _check_harmless(self, target: str, versions: object) -> None:
        try:
            Target.parse(target)
        except ValueError as error:
            self._refuse(f"`harmless`: {error}")
        if not isinstance(versions, str):
            self._refuse(f"`harmless` must map targets to ranges, not {target!r}: {versions!r}")

    def _refuse(self, reason: str) -> NoReturn:
        raise PatchDefinitionError(f"patch {self.id!r}: {reason}")


def note(target: str, wrapper: Wrapper | str) -> str:
    """Return the line of a diff for a wrapper."""
    return f"# {target} is wrapped by {wrapper_name(wrapper)}\n"


def wrapper_name(wrapper: Wrapper | str) -> str:
    """Return the dotted name of a wrapper, without importing it."""
    if isinstance(wrapper, str):
        return wrapper.replace(":", ".")
    return f"{wrapper.__module__}.{getattr(wrapper, '__qualname__', '?')}"


def _is_strings(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(text, str) for text in value)


def _is_name(text: str) -> bool:
    return text.isidentifier() and not iskeyword(text)


def _is_path(text: object) -> bool:
    return isinstance(text, str) and bool(re.fullmatch(r"[\w.]+:\w+", text))


def apply_call(opt_in: str) -> str:
    """Return the call of `apply` that applies a patch with this opt-in keyword, or with none."""
    return f"patchkit.apply({f'{opt_in}=True' if opt_in else ''})"
