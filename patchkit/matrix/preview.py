"""Preview the changes of a patch to the installed files, without importing them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from ..catalogue.resolution import Resolution, resolve
from ..environment import module_file, modules_matching, short_name, without_garbage_collection
from ..patch import Patch, Rewrite, note
from ..rewrite import Drift, Edit, Rule, Target
from ..rewrite.diff import Difference
from .scan.facts import facts_of
from .scan.parsed import ParsedModule
from .scan.questions import Questions
from .scan.verdicts import verdict

_MOST_FILES = 4
"""The most files to show for one wildcard; there are hundreds of models."""


@dataclass(frozen=True)
class Preview:
    """The changes of a patch to the installed files; `str` makes a unified diff of them.

    `drift` has a sentence for each target that `apply` would leave alone, `notes` has lines on
    wrapped functions and on modules that are not shown, and `differences` the rewrites, one per
    file.
    """

    drift: tuple[str, ...]
    notes: tuple[str, ...]
    differences: tuple[Difference, ...]

    def __str__(self) -> str:
        drift = (f"# drift: {sentence}\n" for sentence in self.drift)
        return "".join([*drift, *self.notes, *map(str, self.differences)])


@without_garbage_collection()
def preview(patch: Patch) -> Preview:
    """Preview the changes of a patch; for a wildcard, in the first few files that have the bug."""
    resolution = resolve(patch)
    modules: dict[str, PreviewedModule] = {}
    edits: dict[str, dict[Edit, None]] = {}
    lines: dict[str, tuple[str, ...]] = {}
    targeted: set[str] = set()
    notes: list[str] = []
    for change in resolution.changes:
        target = Target.parse(change.target)
        if not target.module_is_glob:
            targeted.add(target.module)
        if not isinstance(change, Rewrite):
            notes.append(note(str(target), change.wrapper))
            continue
        shown: set[str] = set()
        for name in modules_matching(target.module):
            module = modules[name] = modules.get(name) or PreviewedModule(name)
            with_site = module.functions_with_site(change.rule)
            if not any(map(target.matches_qualname, with_site)):
                continue
            if len(shown) == _MOST_FILES:
                notes.append(
                    f"# {target}: shown in {_MOST_FILES} modules; more may change in the same way\n"
                )
                break
            for source in module.parsed.sources(filter(target.matches_qualname, with_site)):
                try:
                    sites = module.parsed.plan(source, change.rule)
                except Drift:
                    targeted.add(name)  # a sentence says why
                    continue
                if sites:
                    targeted.add(name)
                    shown.add(name)
                    lines[module.short_name] = source.lines
                    in_module = edits.setdefault(module.short_name, {})
                    for site in sites:
                        in_module.update(dict.fromkeys(site))
    drift = _drift(patch, resolution, targeted, modules)
    # One target that drifts keeps all of its module as it is. A sentence begins with its target.
    drifted = {sentence.partition(":")[0] for sentence in drift}
    left_alone = {module.short_name for name, module in modules.items() if name in drifted}
    return Preview(
        drift,
        tuple(notes),
        tuple(
            Difference(name, partial(lines.__getitem__, name), tuple(edits[name]))
            for name in lines
            if name not in left_alone
        ),
    )


class PreviewedModule:
    """A module of an installed package, parsed once for all changes of a patch."""

    def __init__(self, name: str) -> None:
        file = module_file(name)
        self.short_name = short_name(name, file)
        self.is_there = file is not None
        self.parsed = ParsedModule(name, file.read_bytes() if file else b"", self.short_name)
        self._with_site: dict[Rule, set[str]] = {}

    def functions_with_site(self, rule: Rule) -> set[str]:
        """Return their qualified names, without compiling: that would take most of the time."""
        if not all(name in self.parsed.text for name in rule.names):
            return set()
        if rule not in self._with_site:
            self._with_site[rule] = {
                name
                for name, node, text in self.parsed.functions
                if all(word in text for word in rule.names) and self.parsed.sites(node, rule)
            }
        return self._with_site[rule]


def _drift(
    patch: Patch, resolution: Resolution, names: set[str], modules: dict[str, PreviewedModule]
) -> tuple[str, ...]:
    """Return the drift that a scan of the installed release finds in these modules."""
    if resolution.version is None or not resolution.changes:
        return ()
    questions = Questions([patch])
    targeted = {name: modules.get(name) or PreviewedModule(name) for name in names}
    facts = {
        name: facts_of(module.parsed, questions)
        for name, module in targeted.items()
        if module.is_there
    }
    judged = verdict(patch, resolution.version, facts, questions)
    return tuple(judged.notes) if judged.state == "drifted" else ()
