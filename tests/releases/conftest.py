"""Released wheels, downloaded once and read without being installed."""

from __future__ import annotations

import ast
import functools
import gc
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from patchkit.catalogue import entries as catalogue
from patchkit.environment import in_range
from patchkit.matrix.scan.facts import Facts, facts
from patchkit.matrix.scan.questions import Questions
from patchkit.rewrite import FunctionSource, functions_in_file
from patchkit.rewrite.edit import apply_edits, split_lines
from workbench.scan import tree
from workbench.scan.run import scan_of
from workbench.scan.tree import Tree
from workbench.scan.wheels import Wheel
from workbench.scan.workers import library_questions

_CACHE = Path(__file__).parents[2] / ".cache"
WHEELS = Path(os.environ.get("PATCHKIT_WHEELS", _CACHE / "wheels"))
"""Whole wheels; what is not among them is fetched as a scan fetches it."""
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
        return Wheel(CACHE, library, version).read({package})

    return read


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
            found = facts(name, content, questions)
            _check_edits(name, content.decode(), found, questions)
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


def _check_edits(module: str, text: str, found: Facts, questions: Questions) -> None:
    sources = {source.qualname: source for source in _edited(module, text, found)}
    edits = [
        edit
        for function in found.functions
        for site in questions.by_key[function.rule].change.rule.plan(sources[function.qualname])
        for edit in site
    ]
    if edits:
        edited = "".join(apply_edits(split_lines(text), edits))
        assert _untouched(edited, edits) == _untouched(text, edits)


def _edited(module: str, text: str, found: Facts) -> Iterable[FunctionSource]:
    names = {function.qualname for function in found.functions}
    return functions_in_file(text, module, names.__contains__) if names else ()


def _untouched(text: str, edits) -> list[tuple[type, list[int], list[str]]]:
    """All statements of a file that no edit touches, with their places, at whatever depth.

    The text of a statement says what `ast.dump` would say of it, in a tenth of the time.
    """
    touched = {line for edit in edits for line in range(edit.start[0], edit.end[0] + 1)}
    lines = split_lines(text)

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
        return type(node), places, lines[min(above) - 1 : places[2]]

    return [described(node) for node in outermost(ast.parse(text))]
