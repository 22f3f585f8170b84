"""What a patch would do to the installed files, found without importing them."""

from __future__ import annotations

from .environment import module_file, modules_matching
from .mending import Difference
from .patch import Patch, Rewrite
from .resolution import resolve
from .rewrite import Edit, Target, functions_in_file
from .wrapping import note


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
        for module in modules_matching(target.module):
            file = module_file(module)
            text = file.read_text(encoding="utf-8") if file else ""
            if not all(name in text for name in change.rule.names):
                continue
            name = module.replace(".", "/")
            name += "/__init__.py" if file and file.stem == "__init__" else ".py"
            for source in functions_in_file(text, name):
                if target.matches_qualname(source.qualname):
                    files[name] = source.lines
                    found = edits.setdefault(name, {})
                    for site in change.rule.plan(source):
                        found.update(dict.fromkeys(site))
    diffs = (str(Difference(name, lines, tuple(edits[name]))) for name, lines in files.items())
    return "".join([*notes, *diffs])
