"""A rewritten script names only what the installed libraries have; their own code stays."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

from patchkit.modernize import files
from patchkit.modernize.findings import ScriptOutcome
from patchkit.modernize.reading import read
from patchkit.modernize.target import due_for

LIBRARIES = {"trl", "transformers", "peft", "accelerate", "datasets", "patchkit"}
TESTS = Path(__file__).resolve().parents[2]
MESSY = TESTS / "modernize" / "messy"
SCRIPTS = [
    path
    for folder in (MESSY, TESTS / "legacy" / "scripts")
    for path in sorted(folder.rglob("*.py"))
    if path.name != "python_2.py"
]

# Attributes of instances, methods of the scripts' own and of what a column holds, and one of a class
# that refuses to be made.
FOUND_ON_NO_CLASS = [
    ("datasets.Dataset", "count", []),
    ("transformers.Trainer", "label_smoother", ["shift_labels"]),
    ("patchkit.replacements.Repository", "git_pull", []),
]


def test_names_and_keywords_exist() -> None:
    wanted: dict[str, tuple[str, str, list[str]]] = {}
    for path in SCRIPTS:
        for need in needs(path):
            wanted.setdefault(json.dumps(need), need)
    assert len(wanted) > 200
    for known in FOUND_ON_NO_CLASS:
        del wanted[json.dumps(known)]
    child = Path(__file__).with_name("exists.py")
    result = subprocess.run(
        [sys.executable, str(child)],
        input=json.dumps(list(wanted.values())),
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(result.stdout.splitlines()[-1]) == []


def needs(path: Path) -> list[tuple[str, str, list[str]]]:
    """Return the names that a script has after it was rewritten, but for those left to a person."""
    result = files.modernized(files.load(path), due_for())
    left = [
        finding.old
        for finding in result.findings
        if finding.outcome in (ScriptOutcome.GONE, ScriptOutcome.REMARKED)
    ]
    script = read(result.text.removeprefix("\ufeff"))
    uses = [(use.name, "", []) for use in script.uses if not use.optional and use.name not in left]
    calls = [
        (
            call.name,
            "" if call.method == "__init__" else call.method,
            sorted(map(str, call.keywords)),
        )
        for call in script.calls
        if call.own is None and not any(call.name.rpartition(".")[2] in old for old in left)
    ]
    return [
        need
        for need in (*uses, *calls)
        if need[0].partition(".")[0] in LIBRARIES and not _is_gone(need[0], left)
    ]


def _is_gone(name: str, left: list[str]) -> bool:
    return any(name == old or name.startswith(f"{old}.") for old in left)


def test_the_installed_release_itself_stays() -> None:
    spec = importlib.util.find_spec("trl")
    assert spec is not None
    assert spec.origin is not None
    due, changed = due_for(), {}
    for path in sorted(Path(spec.origin).parent.rglob("*.py")):
        source = files.load(path)
        result = files.modernized(source, due)
        found = [
            finding for finding in result.findings if finding.outcome is not ScriptOutcome.SILENT
        ]
        if result.text != source.text or found:
            changed[path.name] = found
    assert changed == {}
