"""What a patch would do to the installed files, found without importing them."""

from __future__ import annotations

from dataclasses import dataclass

from ..catalogue.resolution import Resolution, resolve
from ..environment import module_file, modules_matching, short_name
from ..heap import without_garbage_collection
from ..patch import Patch, Rewrite, note
from ..rewrite import Edit, Rule, Target
from ..rewrite.diff import Difference
from .scan.facts import facts_of
from .scan.parsed import ParsedModule
from .scan.questions import Questions
from .scan.verdicts import verdict

_MOST_FILES = 4
"""How many files are shown of those that one wildcard finds; there are hundreds of models."""


@dataclass(frozen=True)
class Preview:
    """What a patch would do to the installed files; a unified diff by `str`.

    Args:
        drift: why `apply` would leave targets alone, one sentence each.
        notes: lines that say what is wrapped, and where more is mended than is shown.
        differences: what would be rewritten, one for each file.
    """

    drift: tuple[str, ...]
    notes: tuple[str, ...]
    differences: tuple[Difference, ...]

    def __str__(self) -> str:
        drift = (f"# drift: {one}\n" for one in self.drift)
        return "".join([*drift, *self.notes, *map(str, self.differences)])


@without_garbage_collection()
def preview(patch: Patch) -> Preview:
    """Look at the files that a patch is about; of wildcards, at the first few that have the bug."""
    resolution = resolve(patch)
    seen: dict[str, _Module] = {}
    edits: dict[str, dict[Edit, None]] = {}
    lines: dict[str, tuple[str, ...]] = {}
    concerned: set[str] = set()
    notes: list[str] = []
    for change in resolution.changes:
        target = Target.parse(change.target)
        if not target.module_is_glob:
            concerned.add(target.module)
        if not isinstance(change, Rewrite):
            notes.append(note(str(target), change.wrapper))
            continue
        shown: set[str] = set()
        for name in modules_matching(target.module):
            module = seen[name] = seen.get(name) or _Module(name)
            with_site = module.functions_with_site(change.rule)
            if not any(map(target.matches_qualname, with_site)):
                continue
            if len(shown) == _MOST_FILES:
                notes.append(
                    f"# {target}: more modules may be mended like the {_MOST_FILES} below\n"
                )
                break
            for source in module.parsed.sources(filter(target.matches_qualname, with_site)):
                if sites := module.parsed.plan(source, change.rule):
                    concerned.add(name)
                    shown.add(name)
                    lines[module.short_name] = source.lines
                    found = edits.setdefault(module.short_name, {})
                    for site in sites:
                        found.update(dict.fromkeys(site))
    drift = _drift(patch, resolution, concerned, seen)
    # One target that drifts keeps all of its module as it is.
    left_alone = {seen[name].short_name for name in map(_module, drift) if name in seen}
    return Preview(
        drift,
        tuple(notes),
        tuple(
            Difference(name, lines[name], tuple(edits[name]))
            for name in lines
            if name not in left_alone
        ),
    )


def _module(sentence: str) -> str:
    """The module of the target that a sentence about drift begins with."""
    return sentence.partition(":")[0]


class _Module:
    """A module of an installed package, read and parsed once for all changes of a patch."""

    def __init__(self, name: str) -> None:
        file = module_file(name)
        self.short_name = short_name(name, file)
        self.is_there = file is not None
        self.parsed = ParsedModule(name, file.read_bytes() if file else b"", self.short_name)
        self._with_site: dict[Rule, set[str]] = {}

    def functions_with_site(self, rule: Rule) -> set[str]:
        """Their qualified names. Nothing is compiled: that would take most of the time."""
        if not all(name in self.parsed.text for name in rule.names):
            return set()
        if rule not in self._with_site:
            self._with_site[rule] = {
                name
                for name, node, text in self.parsed.functions
                if all(one in text for one in rule.names) and self.parsed.sites(node, rule)
            }
        return self._with_site[rule]


def _drift(
    patch: Patch, resolution: Resolution, modules: set[str], seen: dict[str, _Module]
) -> tuple[str, ...]:
    """What the scan of releases says of the installed one, as far as these modules tell."""
    if resolution.version is None or not resolution.changes:
        return ()
    questions = Questions([patch])
    known = {name: seen.get(name) or _Module(name) for name in modules}
    looked_at = {
        name: facts_of(module.parsed, questions)
        for name, module in known.items()
        if module.is_there
    }
    found = verdict(patch, resolution.version, looked_at, questions)
    return tuple(found.notes) if found.state == "drifted" else ()
