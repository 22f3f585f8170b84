"""`import patchkit` is cheap, and its names are what they say, before and after use."""

from __future__ import annotations

import ast
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import patchkit
from patchkit import authoring

HEAVY = [
    "torch",
    "numpy",
    "transformers",
    "trl",
    "peft",
    "accelerate",
    "bitsandbytes",
    "wrapt",
    "packaging",
    "importlib.metadata",
    "yaml",
    "rich",
    "click",
]


def test_import_loads_nothing_heavy(fresh) -> None:
    """What the interpreter's own start has loaded, by some `.pth` file, is not ours."""
    loaded, ours = fresh(
        f"""
        import sys
        before = set(sys.modules)
        import patchkit
        new = set(sys.modules) - before
        result = [[name for name in {HEAVY} if name in new],
                  sorted(name for name in new if name.startswith("patchkit"))]
        """
    )
    assert loaded == []
    assert ours == ["patchkit", "patchkit.about", "patchkit.errors"]


def test_looking_at_names_loads_no_library(fresh) -> None:
    loaded = fresh(
        """
        import sys
        import patchkit
        for name in patchkit.__all__:
            getattr(patchkit, name)
        result = [name for name in ("torch", "numpy", "trl", "wrapt", "rich", "yaml", "click")
                  if name in sys.modules]
        """
    )
    assert loaded == []


def test_apply_loads_no_library(fresh) -> None:
    loaded = fresh(
        """
        import sys
        import patchkit
        patchkit.apply()
        str(patchkit.report().summary())
        patchkit.revert()
        result = [name for name in ("torch", "numpy", "trl", "accelerate", "rich", "yaml", "click")
                  if name in sys.modules]
        """
    )
    assert loaded == []


@pytest.mark.parametrize("name", patchkit.__all__)
def test_every_public_name_is_there(name: str) -> None:
    found = getattr(patchkit, name)
    assert found.__name__ == name
    assert found.__module__.partition(".")[0] == "patchkit"
    assert found.__doc__


def test_public_names_are_sorted_and_unique() -> None:
    assert patchkit.__all__ == sorted(set(patchkit.__all__))


def test_star_import_brings_them_all() -> None:
    namespace: dict[str, object] = {}
    exec("from patchkit import *", namespace)
    assert set(namespace) - {"__builtins__"} == set(patchkit.__all__)


@pytest.mark.parametrize("name", ["aply", "Sesion", "_nothing", "torch", "TYPE"])
def test_unknown_name(name: str) -> None:
    with pytest.raises(AttributeError, match=f"module 'patchkit' has no attribute '{name}'"):
        getattr(patchkit, name)
    with pytest.raises(ImportError):
        exec(f"from patchkit import {name}")
    assert not hasattr(patchkit, name)


def test_no_public_name_is_a_submodule() -> None:
    modules = {found.name for found in pkgutil.iter_modules(patchkit.__path__)}
    assert modules.isdisjoint(patchkit.__all__)


def test_functions_stay_functions(fresh) -> None:
    """A submodule of the same name would take the function's place when it is imported."""
    root = Path(patchkit.__file__).parent
    modules = sorted(
        f"patchkit.{file.stem}" for file in root.glob("*.py") if not file.stem.startswith("__")
    )
    result = fresh(
        f"""
        import importlib
        import patchkit
        names = ("apply", "patched", "preflight", "report", "revert")
        first = [getattr(patchkit, name) for name in names]
        patchkit.apply()
        after_apply = [type(getattr(patchkit, name)).__name__ for name in names]
        for module in {modules}:
            importlib.import_module(module)
        patchkit.revert()
        with patchkit.patched():
            pass
        same = all(getattr(patchkit, name) is one for name, one in zip(names, first))
        result = [after_apply, same, type(patchkit.report()).__name__]
        """
    )
    assert result == [["function"] * 5, True, "Report"]


def test_patched_takes_what_apply_takes() -> None:
    """But for `explain`: an error that ends the program has left the block by then."""
    apply, patched = inspect.signature(patchkit.apply), inspect.signature(patchkit.patched)
    kinds = {name: parameter.kind.name for name, parameter in apply.parameters.items()}
    more = {name: parameter for name, parameter in patched.parameters.items() if name not in kinds}
    taken = {name: parameter for name, parameter in apply.parameters.items() if name != "explain"}
    assert {**taken, **more} == patched.parameters
    assert [(name, parameter.kind.name) for name, parameter in more.items()] == [
        ("others", "KEYWORD_ONLY")
    ]
    assert kinds == {
        "only": "POSITIONAL_OR_KEYWORD",
        "exclude": "POSITIONAL_OR_KEYWORD",
        "strict": "KEYWORD_ONLY",
        "dtype": "KEYWORD_ONLY",
        "preflight": "KEYWORD_ONLY",
        "patches": "KEYWORD_ONLY",
        "legacy": "KEYWORD_ONLY",
        "explain": "KEYWORD_ONLY",
        "settings": "VAR_KEYWORD",
    }


def test_errors_can_be_caught_as_one() -> None:
    for error in (patchkit.UnknownPatchError, patchkit.UsageError, patchkit.PatchDefinitionError):
        assert issubclass(error, patchkit.PatchError)
    assert issubclass(patchkit.UsageError, ValueError)
    assert issubclass(patchkit.UnknownPatchError, patchkit.UsageError)
    assert issubclass(patchkit.PatchWarning, UserWarning)
    assert not issubclass(patchkit.PatchWarning, DeprecationWarning)


def test_errors_of_the_layer_and_of_patches_can_be_caught() -> None:
    """As what the library would have raised, too."""
    assert issubclass(patchkit.LegacyError, (patchkit.PatchError, TypeError))
    assert issubclass(patchkit.LegacyError, TypeError)
    assert issubclass(patchkit.GoneError, patchkit.PatchError)
    assert issubclass(patchkit.GoneError, ImportError)
    assert issubclass(patchkit.HalfPrecisionTrainableError, patchkit.PatchError)


def test_what_is_returned_is_public() -> None:
    """Each class that a public function or an attribute of its result has is importable."""
    ours = {
        node.name
        for file in Path(patchkit.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    }
    named: dict[str, set[str]] = {}
    for name in patchkit.__all__:
        for attribute, annotation in annotations(getattr(patchkit, name)):
            found = set(re.findall(r"[A-Z]\w+", annotation)) & ours
            named.setdefault(f"{name}{attribute}", set()).update(found)
    assert named["PatchRecord.tested"] == {"Tested"}
    assert named["report()"] == {"Report"}
    assert named.pop("Patch.changes") == {"Change"}  # an alias for the two that are public
    for attribute in ("change", "kind", "place"):  # rows of the table; `to_dict` has them as text
        del named[f"LegacyUse.{attribute}"]
    public = {*patchkit.__all__, *authoring.__all__}
    assert {where: names - public for where, names in named.items() if names - public} == {}


def annotations(value: object) -> Iterator[tuple[str, str]]:
    """Yield the attributes and methods of a class, and a function, with what each returns."""
    if inspect.isfunction(value):
        yield "()", str(inspect.signature(value).return_annotation)
        return
    for name, annotation in vars(value).get("__annotations__", {}).items():
        if not name.startswith("_"):
            yield f".{name}", str(annotation)
    for name, member in vars(value).items():
        function = getattr(member, "fget", None) or getattr(member, "func", member)
        if inspect.isfunction(function) and not name.startswith("_"):
            yield f".{name}", str(inspect.signature(function).return_annotation)


def test_a_bad_call_says_so_before_anything_is_fixed(fresh) -> None:
    result = fresh(
        """
        import patchkit
        result = []
        for options in ({"only": "trl-adaptr-bf16-cast"}, {"dtype": "fp61"}, {"nonsense": "1"},
                        {"strict": 1}, {"only": 7}, {"adapter_cast": "fp8"}, {"preflight": 1}):
            try:
                patchkit.apply(**options)
            except patchkit.UsageError as error:
                result.append([type(error).__name__, str(error)])
        result.append({str(record.status) for record in patchkit.report()}
                      <= {"available", "not-installed", "not-affected", "untested"})
        """
    )
    *errors, untouched = result
    assert [name for name, _ in errors] == ["UnknownPatchError", *6 * ["UsageError"]]
    assert "Did you mean 'trl-adapter-bf16-cast'" in errors[0][1]
    assert "apply() has no argument 'nonsense'" in errors[2][1]
    assert untouched
