"""`patchkit.authoring`: all that a patch imports, and nothing else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import patchkit
from patchkit import authoring
from patchkit.about import shipped_path
from patchkit.cli.new import texts

DOCS = Path(__file__).parents[1] / "docs"
GUIDE = (DOCS / "writing-a-patch.md").read_text(encoding="utf-8")
ALLOWED = ("patchkit", "patchkit.authoring", "patchkit.lab", "patchkit.precision")


def imported(source: str) -> Iterator[str]:
    """Yield the modules of patchkit that a text imports, those of a template too."""
    for line in re.findall(r"^\s*(?:from (patchkit[\w.]*)|import (patchkit[\w.]*))", source, re.M):
        yield "".join(line)


def test_the_names_are_sorted_and_nothing_else_is_there() -> None:
    assert authoring.__all__ == sorted(set(authoring.__all__))
    there = {name for name in vars(authoring) if name.isidentifier() and name[0] != "_"}
    assert there <= set(authoring.__all__)
    for name in ("Catalogue", "Session", "lab", "TYPE_CHECKING", "import_module"):
        assert not hasattr(authoring, name)
    with pytest.raises(AttributeError, match=r"'patchkit\.authoring' has no attribute 'Drift'"):
        _ = authoring.Drift


@pytest.mark.parametrize("name", authoring.__all__)
def test_each_name_is_there_and_documented(name: str) -> None:
    assert getattr(authoring, name).__doc__ or name == "Matcher"
    assert f"`{name}`" in GUIDE.partition("## What a patch imports")[2].partition("\n## ")[0]
    api = (DOCS / "api.md").read_text(encoding="utf-8")
    assert f"::: patchkit.{'' if name in patchkit.__all__ else 'authoring.'}{name}\n" in api


def test_the_guide_and_the_reference_name_no_other() -> None:
    api = (DOCS / "api.md").read_text(encoding="utf-8")
    named = set(re.findall(r"::: patchkit\.authoring\.(\w+)", api))
    assert named == set(authoring.__all__) - set(patchkit.__all__)
    for names in re.findall(r"^from patchkit\.authoring import (.*)$", GUIDE, re.M):
        assert {name.strip() for name in names.split(",")} <= set(authoring.__all__)
    assert set(imported(GUIDE)) == {"patchkit.authoring"}


def test_what_new_writes_imports_nothing_else() -> None:
    templates = list(Path(texts.__file__).parent.glob("*.txt"))
    assert len(templates) == 3
    written = [file.read_text(encoding="utf-8") for file in templates]
    assert set().union(*map(imported, written)) == {"patchkit", "patchkit.authoring"}


def test_shipped_patches_import_from_here_and_from_what_fixed_code_calls() -> None:
    files = sorted(Path(shipped_path("patches")).rglob("*.py"))
    assert len(files) > 40
    for file in files:
        text = file.read_text(encoding="utf-8")
        for module in imported(text):
            assert ".".join(module.split(".")[:2]) in ALLOWED, f"{file}: {module}"
        for node in ast.parse(text).body:  # the lab is for reproducers
            if isinstance(node, ast.ImportFrom) and file.stem[0] != "_":
                assert not str(node.module).startswith("patchkit.lab"), file


def test_it_loads_no_more_than_a_patch_needs(fresh) -> None:
    found = fresh(
        """
        import sys
        import patchkit
        import patchkit.patch, patchkit.rewrite, patchkit.rewrite.edit, patchkit.settings
        before = set(sys.modules)
        import patchkit.authoring
        first = sorted(set(sys.modules) - before)
        patchkit.authoring.device
        result = [first, "torch" in sys.modules]
        """
    )
    assert found == [["patchkit.authoring"], False]
