"""The table in docs/architecture.md is the contract that lint checks, and the contract has no exceptions."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
MOST_ROOMS = 13
MOST_MODULES = 14


@pytest.fixture(scope="module")
def contracts() -> dict[str, Any]:
    tomllib = pytest.importorskip("tomllib")
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {contract["id"]: contract for contract in settings["tool"]["importlinter"]["contracts"]}


def names(layer: str) -> set[str]:
    return set(re.findall(r"\w+", layer))


def test_the_table_of_rooms_is_the_contract(contracts) -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    _, _, table = text.partition("| room | what it does |\n")
    rows = re.findall(r"^\| (`.+?) \|", table.partition("\n\n")[0], re.MULTILINE)
    documented = [set(re.findall(r"`(\w+)/?`", row)) for row in rows]
    assert documented == [names(layer) for layer in contracts["rooms"]["layers"]]


def test_the_engine_in_the_design_is_the_contract(contracts) -> None:
    text = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    sentence = re.search(r"held by a second contract: (.*?)\.\n", text, re.DOTALL)
    assert sentence is not None
    ranks = [set(re.findall(r"`(\w+)`", rank)) for rank in re.split(r"\s>\s", sentence[1])]
    ranks[0] -= {"apply", "revert"}
    documented = [rank - {"apply"} for rank in ranks]
    assert [" ".join(sorted(rank)) for rank in documented] == [
        " ".join(sorted(names(layer))) for layer in contracts["engine"]["layers"]
    ]


def test_contracts_have_no_exceptions(contracts) -> None:
    assert set(contracts) == {"rooms", "engine", "face", "circles", "workbench", "installed"}
    assert contracts["rooms"]["exhaustive"]
    assert contracts["engine"]["exhaustive"]
    assert contracts["workbench"]["exhaustive"]
    assert not any("ignore_imports" in contract for contract in contracts.values())
    lower = set().union(*map(names, contracts["rooms"]["layers"][1:]))
    face = contracts["face"]
    assert {name.removeprefix("patchkit.") for name in face["source_modules"]} == lower
    assert face["forbidden_modules"] == ["patchkit"]


def test_rooms_and_modules_are_few() -> None:
    package = ROOT / "patchkit"
    rooms = [path.parent.name for path in package.glob("*/__init__.py")]
    assert len(rooms) <= MOST_ROOMS
    assert len(list(package.glob("*.py"))) <= MOST_MODULES


def test_what_is_installed_does_not_import_the_workbench() -> None:
    """Nor does a string name it, as `importlib` or a fork server would take it."""
    for folder in ("patchkit", "patches"):
        for file in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    named = [alias.name for alias in node.names]
                else:
                    attribute = "module" if isinstance(node, ast.ImportFrom) else "value"
                    named = [str(getattr(node, attribute, ""))]
                assert not any(name.split(".")[0] == "workbench" for name in named), file


def test_no_patch_imports_another() -> None:
    for file in (ROOT / "patches").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (
                node.level or str(node.module).startswith("patchkit.patches")
            ):
                last = str(node.module or "").rpartition(".")[2]
                modules = [last] if last else [alias.name for alias in node.names]
                assert all(module.startswith("_") for module in modules), file
