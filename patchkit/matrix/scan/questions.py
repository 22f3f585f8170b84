"""Define what to look for in a library's modules: the rules and targets of its patches."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from ...patch import Change, Patch, Rewrite
from ...rewrite import Rule, Target


@dataclass(frozen=True)
class Question:
    """One change of a patch.

    Its key is `id/number`; `rule` is the key of the patch's first change with the same rule, or its
    own for a wrap.
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
        """Tell whether its target covers a function; wildcards cover no nested classes."""
        return (
            self.concerns(module)
            and self.target.matches_qualname(qualname)
            and (not self.target.qualname_is_glob or qualname.count(".") <= 1)
        )


@dataclass(frozen=True)
class Search:
    """A rule to look for, and the words that a function with a site must contain."""

    rule: Rule
    words: frozenset[str]


class Questions:
    """The rules and targets of patches, to look for in the modules of the library that they fix."""

    def __init__(self, patches: Iterable[Patch]) -> None:
        self.patches = tuple(patches)
        self.by_key: dict[str, Question] = {}
        for patch in self.patches:
            rules: dict[Rule, str] = {}
            for number, change in enumerate(patch.changes):
                key = f"{patch.id}/{number}"
                rule = rules.setdefault(change.rule, key) if isinstance(change, Rewrite) else key
                self.by_key[key] = Question(key, patch, change, rule)
        self.packages = frozenset(question.target.package for question in self.by_key.values())

    def of(self, patch: Patch) -> list[Question]:
        return [question for question in self.by_key.values() if question.patch is patch]

    def searches_in(self, module: str) -> dict[str, Search]:
        """Return the rules to look for in a module, by key.

        A rule without a fixed number of sites does not prove a bug: it is looked for only where a
        target may be.
        """
        return {
            key: searches
            for key, searches in self._rules.items()
            if key in self._everywhere
            or any(question.concerns(module) for question in self._uses[key])
        }

    def targets_in(self, module: str) -> Iterator[Question]:
        """Yield the changes that name one callable in a module."""
        for question in self.by_key.values():
            if question.target.module == module and not question.target.is_glob:
                yield question

    @cached_property
    def _rules(self) -> dict[str, Search]:
        return {
            question.rule: Search(question.change.rule, _words(question.change.rule.names))
            for question in self.by_key.values()
            if isinstance(question.change, Rewrite)
        }

    @cached_property
    def _uses(self) -> dict[str, list[Question]]:
        uses: dict[str, list[Question]] = {}
        for question in self.by_key.values():
            uses.setdefault(question.rule, []).append(question)
        return uses

    @cached_property
    def _everywhere(self) -> frozenset[str]:
        return frozenset(
            question.rule
            for question in self.by_key.values()
            if isinstance(question.change, Rewrite) and question.change.sites is not None
        )


def _words(names: Iterable[str]) -> frozenset[str]:
    return frozenset(word for name in names for word in re.findall(r"\w+", name))
