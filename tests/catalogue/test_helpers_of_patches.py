"""Helpers that patched code calls: beside the only patch that they serve, or in `precision`."""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import patchkit
from patchkit.catalogue import definitions
from patchkit.patch import Patch, Rewrite
from patchkit.rewrite import Pattern, Rule, helper, replace

ENGINE = Path(patchkit.__file__).parent
PATCHES = Path(definitions.shipped_package().__path__[0])
PATCH_FILES = sorted(file for file in PATCHES.glob("*/*.py") if not file.name.startswith("_"))
HELPER_FILES = sorted(PATCHES.glob("*/_[!_]*.py"))


def names(files: list[Path]) -> list[str]:
    return [f"{file.parent.name}/{file.stem}" for file in files]


def imported(file: Path) -> set[str]:
    """What a file imports, wherever it does so: the full names of modules, and of what is in them."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=aliases):
                found |= {alias.name for alias in aliases}
            case ast.ImportFrom(module=module, names=aliases, level=level):
                package = ["patchkit", "patches", file.parent.name][: 4 - level] if level else []
                base = ".".join([*package, *([module] if module else [])])
                found |= {base, *(f"{base}.{alias.name}" for alias in aliases)}
    return found


@pytest.mark.parametrize("file", [*PATCH_FILES, *HELPER_FILES], ids=lambda file: file.stem)
def test_no_patch_is_imported(file: Path) -> None:
    """To fix one bug must not edit another: what two patches share is no patch."""
    patches = {f"patchkit.patches.{name.replace('/', '.')}" for name in names(PATCH_FILES)}
    assert not imported(file) & patches


@pytest.mark.parametrize("file", HELPER_FILES, ids=lambda file: file.stem)
def test_a_helper_serves_the_patches_of_its_library(file: Path) -> None:
    users = [
        user.stem
        for user in PATCHES.glob("*/*.py")
        if user != file and re.search(rf"\b{file.stem}\b", user.read_text(encoding="utf-8"))
    ]
    assert users
    assert all((file.parent / f"{user}.py").exists() for user in users)


def _users_of_precision() -> Iterator[tuple[str, set[str]]]:
    """Each module of `precision`, and what calls it, other modules of `precision` looked through."""
    texts = {
        file.relative_to(root).with_suffix("").as_posix(): file.read_text(encoding="utf-8")
        for root in (ENGINE, PATCHES)
        for file in root.rglob("*.py")
    }

    def users(module: str) -> set[str]:
        inside = re.compile(rf"from \.{module} import|precision\.{module}:")
        found = {
            user
            for user, text in texts.items()
            if re.search(rf"precision[.]{module}\b", text)
            or (user.startswith("precision/") and inside.search(text))
        }
        inner = {user.removeprefix("precision/") for user in found if user.startswith("precision/")}
        outer = {user for user in found if not user.startswith("precision/")}
        return outer.union(*(users(name) for name in inner - {module}))

    for file in sorted((ENGINE / "precision").glob("[!_]*.py")):
        yield file.stem, users(file.stem)


@pytest.mark.parametrize(("module", "users"), list(_users_of_precision()))
def test_precision_holds_what_several_call(module: str, users: set[str]) -> None:
    assert len(users) > 1 or users & {"__init__"}, f"{module} serves {users} only"


def test_a_helper_by_itself(fresh) -> None:
    """Nothing has read the catalogue in that process, and nothing does."""
    found = fresh(
        """
        import sys
        import patchkit.patches.trl._fused_loss as helper
        result = [
            callable(helper.log_probs),
            sorted({"patchkit.catalogue.entries", "patchkit.engine.session", "torch"} & set(sys.modules)),
        ]
        """
    )
    assert found == [True, []]


@pytest.mark.parametrize("file", HELPER_FILES, ids=lambda file: file.stem)
def test_helpers_import_no_library(file: Path) -> None:
    """Not on their own import: what they serve may be needed where the library is not."""
    body = ast.parse(file.read_text(encoding="utf-8")).body
    modules = [node.module or "" for node in body if isinstance(node, ast.ImportFrom)]
    modules += [alias.name for node in body if isinstance(node, ast.Import) for alias in node.names]
    heavy = ("torch", "transformers", "peft", "trl", "bitsandbytes", "accelerate", "patchkit.lab")
    assert not [name for name in modules if name.startswith(heavy)]


def test_a_fixed_function_pickled_by_value(library, session, apply, fresh) -> None:
    """It finds its helper where nobody applied anything, nor read the catalogue."""
    cloudpickle = pytest.importorskip("cloudpickle")
    library.write("loss", "def runs(tensor):\n    return bug(tensor)\n")
    asks = helper("patchkit.patches.trl._fused_loss:has_kernels_for")
    fixed = Rule(Pattern("bug(T)"), lambda node: [replace(node.func, asks)])
    patch = Patch(
        id="madeup-bug",
        title="it asks",
        affects={"madeup": ">=1"},
        changes=(Rewrite("madeup.loss:runs", fixed),),
    )
    apply(session(patch), strict=True)
    module = library.load("loss")
    cloudpickle.register_pickle_by_value(module)
    try:
        data = cloudpickle.dumps(module.runs)
    finally:
        cloudpickle.unregister_pickle_by_value(module)
    assert b"_fused_loss" in data
    code = f"""
        import pickle, types
        runs = pickle.loads({data!r})
        tensor = types.SimpleNamespace(device=types.SimpleNamespace(type="cpu"))
        result = runs(tensor)
    """
    assert fresh(code, env={"PYTHONPATH": os.pathsep.join(sys.path)}) is False
