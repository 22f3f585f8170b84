"""What is asked of each module of a library: the rules and targets of the library's patches."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from ..patch import Change, Patch, Rewrite
from ..rewrite import Rule, Target


@dataclass(frozen=True)
class Question:
    """One change of a patch.

    Args:
        key: `id/number`, which names the change in what is written down.
        patch: whose change it is.
        change: the change.
        rule: the key of the first change of the patch that has the same rule; its own for a wrap.
    """

    key: str
    patch: Patch
    change: Change
    rule: str

    @cached_property
    def target(self) -> Target:
        return Target.parse(self.change.target)

    def concerns(self, module: str) -> bool:
        return fnmatch.fnmatchcase(module, self.target.module)

    def names(self, module: str, qualname: str) -> bool:
        """Whether its target means a function; wildcards mean functions and methods of classes."""
        return (
            self.concerns(module)
            and self.target.matches_qualname(qualname)
            and (not self.target.qualname_is_glob or qualname.count(".") <= 1)
        )


@dataclass(frozen=True)
class Sought:
    """A rule that is looked for.

    Args:
        rule: the rule.
        words: the words that a function with a site is made of, among others.
    """

    rule: Rule
    words: frozenset[str]


class Questions:
    """All that is asked of the modules of one library.

    Args:
        patches: those that mend the library.
    """

    def __init__(self, patches: Iterable[Patch]) -> None:
        self.patches = tuple(patches)
        self.by_key: dict[str, Question] = {}
        for patch in self.patches:
            rules: dict[Rule, str] = {}
            for number, change in enumerate(patch.changes):
                key = f"{patch.id}/{number}"
                rule = rules.setdefault(change.rule, key) if isinstance(change, Rewrite) else key
                self.by_key[key] = Question(key, patch, change, rule)
        self.packages = frozenset(one.target.package for one in self.by_key.values())

    def of(self, patch: Patch) -> list[Question]:
        return [one for one in self.by_key.values() if one.patch is patch]

    def sought_in(self, module: str) -> dict[str, Sought]:
        """The rules to look for in a module, by key.

        A rule that edits each of whatever number of sites says nothing about a bug by itself: it
        is looked for only where a target may be.
        """
        return {
            key: sought
            for key, sought in self._rules.items()
            if key in self._everywhere or any(one.concerns(module) for one in self._uses[key])
        }

    def targets_in(self, module: str) -> Iterator[Question]:
        """The changes that name one callable in a module."""
        for one in self.by_key.values():
            if one.target.module == module and not one.target.is_glob:
                yield one

    @cached_property
    def _rules(self) -> dict[str, Sought]:
        return {
            one.rule: Sought(one.change.rule, _words(one.change.rule.names))
            for one in self.by_key.values()
            if isinstance(one.change, Rewrite)
        }

    @cached_property
    def _uses(self) -> dict[str, list[Question]]:
        uses: dict[str, list[Question]] = {}
        for one in self.by_key.values():
            uses.setdefault(one.rule, []).append(one)
        return uses

    @cached_property
    def _everywhere(self) -> frozenset[str]:
        return frozenset(
            one.rule
            for one in self.by_key.values()
            if isinstance(one.change, Rewrite) and one.change.sites is not None
        )


def _words(names: Iterable[str]) -> frozenset[str]:
    return frozenset(word for name in names for word in re.findall(r"\w+", name))
