"""Released wheels, downloaded once and read without being installed."""

from __future__ import annotations

import ast
import functools
import gc
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from patchkit.catalogue import entries as catalogue
from patchkit.environment import in_range
from patchkit.matrix.scan import tree
from patchkit.matrix.scan.facts import Facts, facts_of
from patchkit.matrix.scan.parsed import ParsedModule
from patchkit.matrix.scan.questions import Questions
from patchkit.matrix.scan.tree import Tree
from patchkit.matrix.scan.verdicts import scan_of
from patchkit.matrix.scan.wheels import Wheel
from patchkit.matrix.scan.workers import library_questions
from patchkit.rewrite.edit import apply_edits

_CACHE = Path(__file__).parents[2] / ".cache"
WHEELS = Path(os.environ.get("PATCHKIT_WHEELS", _CACHE / "wheels"))
"""Whole wheels; what is not among them is fetched."""
CACHE = Path(os.environ.get("PATCHKIT_CACHE", _CACHE))

WELL = {True: {"matches"}, False: {"absent", "harmless", "no-anchor"}}
"""Whether a patch is due, to what a scan may say of it."""


@pytest.fixture(scope="session")
def modules() -> Callable[[str, str], Tree]:
    """`modules("trl", "1.16.0")`: the content of each module of a release, by its name."""

    def read(library: str, version: str) -> Tree:
        package = library.replace("-", "_")
        wheel = next(WHEELS.glob(f"{package}-{version}-*.whl"), None)
        if wheel is not None:
            return tree.of_archive(wheel, {package})
        return _fetched(library, version, package)

    return read


def _fetched(library: str, version: str, package: str) -> Tree:
    """Read a release that uv installs in a folder, in a fifth of the time that pip takes."""
    try:
        import uv
    except ImportError:
        return Wheel(CACHE, library, version).read({package})
    folder = CACHE / "releases" / f"{library}-{version}"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
            options = ("--quiet", "--no-deps", "--no-build", "--target", f"{temporary}/whole")
            command = [uv.find_uv_bin(), "pip", "install", *options, f"{library}=={version}"]
            subprocess.run(command, check=True)
            try:
                Path(temporary, "whole").rename(folder)
            except OSError:  # another process may have been first
                if not folder.exists():
                    raise
    return tree.of_folder(folder, {package})


@pytest.fixture(scope="module")
def check_release(modules) -> Iterator[Callable[[str, str], None]]:
    """`check_release("trl", "1.16.0")`, for all patches of a library.

    Each known target has its sites, no other function has one, and only sites are edited.
    """

    questions_of = functools.cache(lambda library: library_questions(catalogue.load(), library))
    # Releases have most files in common.
    known: dict[tuple[str, bytes], Facts] = {}

    def look(name: str, content: bytes, questions: Questions) -> Facts:
        if (name, content) not in known:
            module = ParsedModule(name, content)
            found = facts_of(module, questions)
            _check_edits(module, found, questions)
            known[name, content] = found
        return known[name, content]

    def check(library: str, release: str) -> None:
        questions = questions_of(library)
        assert questions.patches
        contents = modules(library, release)
        found = {name: look(name, content, questions) for name, content in contents.items()}
        scan = scan_of(library, release, found, questions)
        for patch in questions.patches:
            due = in_range(release, patch.affects[library])
            assert scan.states[patch.id] in WELL[due], (patch.id, scan.notes)
        assert scan.unlisted == {}
        assert scan.notes == {}

    # Syntax trees have no cycles, and walking over them again and again takes a fifth of the time.
    gc.disable()
    yield check
    gc.enable()


def _check_edits(module: ParsedModule, found: Facts, questions: Questions) -> None:
    names = {function.qualname for function in found.functions}
    sources = {source.qualname: source for source in module.sources(names)} if names else {}
    edits = [
        edit
        for function in found.functions
        for site in questions.by_key[function.rule].change.rule.plan(sources[function.qualname])
        for edit in site
    ]
    if edits:
        edited = apply_edits(module.lines, edits)
        assert _untouched(edited, ast.parse("".join(edited)), edits) == _untouched(
            module.lines, module.tree, edits
        )


def _untouched(lines, tree: ast.Module, edits) -> list[tuple[type, list[int], list[str]]]:
    """All statements of a file that no edit touches, with their places, at whatever depth.

    The text of a statement says what `ast.dump` would say of it, in a tenth of the time.
    """
    touched = {line for edit in edits for line in range(edit.start[0], edit.end[0] + 1)}

    def outermost(parent: ast.AST) -> Iterator[ast.stmt]:
        for node in ast.iter_child_nodes(parent):
            if isinstance(node, ast.stmt) and touched.isdisjoint(
                range(node.lineno, (node.end_lineno or 0) + 1)
            ):
                yield node
            else:
                yield from outermost(node)

    def described(node: ast.stmt) -> tuple[type, list[int], list[str]]:
        above = [
            node.lineno,
            *(decorator.lineno for decorator in getattr(node, "decorator_list", ())),
        ]
        places = [node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0]
        return type(node), places, list(lines[min(above) - 1 : places[2]])

    return [described(node) for node in outermost(tree)]
