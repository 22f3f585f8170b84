"""The functions of the installed libraries that patches rewrite, before and after."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from functools import cached_property

from patchkit.catalogue import entries
from patchkit.catalogue.resolution import resolve
from patchkit.environment import modules_matching, without_garbage_collection
from patchkit.matrix.preview import PreviewedModule
from patchkit.patch import Rewrite
from patchkit.rewrite import Drift, Edit, FunctionSource, Rule, Target
from patchkit.rewrite.edit import apply_edits


@dataclass(frozen=True)
class RewrittenFunction:
    """A function that patches rewrite.

    Args:
        name: `module:qualname`.
        patches: the ids of the patches.
        before: its text as it was installed.
        after: its text with all patches.
    """

    name: str
    patches: tuple[str, ...]
    before: str
    after: str

    @cached_property
    def dedented(self) -> str:
        return textwrap.dedent(self.before)

    @cached_property
    def _dedented_after(self) -> str:
        return textwrap.dedent(self.after)

    def had(self, text: str) -> bool:
        """Tell whether it had a text, with its indentation or without."""
        return text in self.before or text in self.dedented

    def has(self, text: str) -> bool:
        """Tell whether it has a text with all patches."""
        return text in self.after or text in self._dedented_after


@without_garbage_collection()
def rewritten_functions() -> list[RewrittenFunction]:
    """Return the functions that the patches that are due rewrite here; nothing is imported."""
    modules: dict[str, PreviewedModule] = {}
    sources: dict[str, FunctionSource] = {}
    edits: dict[str, dict[Edit, None]] = {}
    patches: dict[str, dict[str, None]] = {}
    for patch in (entry.patch for entry in entries.load()):
        for change in resolve(patch).changes:
            if not isinstance(change, Rewrite):
                continue
            target = Target.parse(change.target)
            for name in modules_matching(target.module):
                if name not in modules:
                    modules[name] = PreviewedModule(name)
                for source, found in _planned(modules[name], target, change.rule):
                    function = f"{name}:{source.qualname}"
                    sources[function] = source
                    edits.setdefault(function, {}).update(dict.fromkeys(found))
                    patches.setdefault(function, {})[patch.id] = None
    return [
        RewrittenFunction(
            name,
            tuple(patches[name]),
            _text(source, source.lines),
            _text(source, apply_edits(source.lines, edits[name])),
        )
        for name, source in sorted(sources.items())
    ]


def _planned(
    module: PreviewedModule, target: Target, rule: Rule
) -> list[tuple[FunctionSource, list[Edit]]]:
    names = filter(target.matches_qualname, module.functions_with_site(rule))
    planned = []
    for source in module.parsed.sources(names):
        try:
            found = [edit for site in module.parsed.plan(source, rule) for edit in site]
        except Drift:
            continue
        if found:
            planned.append((source, found))
    return planned


def _text(source: FunctionSource, lines: tuple[str, ...]) -> str:
    return "".join(lines[source.first - 1 : source.last])
