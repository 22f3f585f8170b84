"""What a patch would do to the installed files, found without importing them."""

from __future__ import annotations

from .environment import module_file, modules_matching
from .mending import Difference
from .patch import Patch, Rewrite
from .resolution import resolve
from .rewrite import Edit, Target, functions_in_file
from .wrapping import note

_MOST_FILES = 4
"""How many files are shown of those that one wildcard finds; there are hundreds of models."""


def preview(patch: Patch) -> str:
    """Unified diffs of all functions that the patch would rewrite, and a line for each wrap."""
    files: dict[str, tuple[str, ...]] = {}
    edits: dict[str, dict[Edit, None]] = {}
    notes: list[str] = []
    for change in resolve(patch).changes:
        target = Target.parse(change.target)
        if not isinstance(change, Rewrite):
            notes.append(note(str(target), change.wrapper))
            continue
        shown: set[str] = set()
        for module in modules_matching(target.module):
            file = module_file(module)
            text = file.read_text(encoding="utf-8") if file else ""
            if not all(name in text for name in change.rule.names):
                continue
            if len(shown) == _MOST_FILES:
                notes.append(
                    f"# {target}: more modules may be mended like the {_MOST_FILES} below\n"
                )
                break
            name = module.replace(".", "/")
            name += "/__init__.py" if file and file.stem == "__init__" else ".py"
            for source in functions_in_file(text, name, target.matches_qualname):
                if sites := change.rule.plan(source):
                    shown.add(name)
                    files[name] = source.lines
                    found = edits.setdefault(name, {})
                    for site in sites:
                        found.update(dict.fromkeys(site))
    diffs = (str(Difference(name, lines, tuple(edits[name]))) for name, lines in files.items())
    return "".join([*notes, *diffs])
