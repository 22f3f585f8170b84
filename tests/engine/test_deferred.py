"""A plain `apply()` reads nothing before one of the libraries is imported."""

from __future__ import annotations

import pytest

from patchkit.catalogue import entries as catalogue
from patchkit.engine import deferred

HEAVY = (
    "wrapt",
    "packaging",
    "importlib.metadata",
    "patchkit.catalogue.entries",
    "patchkit.engine.session",
)
LOADED = f"[name for name in {HEAVY} if name in sys.modules]"
BEGIN = "import sys\nbefore = list(sys.meta_path)\nimport patchkit\n"


def test_folders_of_the_catalogue_are_named_after_packages() -> None:
    packages = {"accelerate", "bitsandbytes", "nemo_automodel", "peft", "transformers", "trl"}
    for entry in catalogue.load():
        folder = entry.module.split(".")[2]
        targets = {change.target.partition(".")[0] for change in entry.patch.changes}
        assert targets == {folder.partition(":")[0]}, entry.module
        packages.add(folder)
    here = deferred.packages_to_wait_for()
    assert here is None or here == packages


def test_files_of_the_legacy_table_are_named_after_packages() -> None:
    here, patched = deferred.packages_to_wait_for(legacy=True), deferred.packages_to_wait_for()
    if here is not None and patched is not None:
        assert here == patched | {"datasets", "huggingface_hub"}


def test_the_layer_answers_for_a_library_without_patches(fresh, tmp_path) -> None:
    (tmp_path / "datasets.py").write_text("")
    code = """
        import sys
        from patchkit.cli.run.interpreter import start
        from patchkit.engine.choices import Choices
        start(Choices(legacy=True, explain=False, quiet=True).encode(), "")
        waiting = len(sys.meta_path)
        import datasets
        result = [len(sys.meta_path) - waiting, type(sys.meta_path[-1]).__name__]
        """.replace("\n        ", "\n")
    assert fresh(code, env={"PYTHONPATH": str(tmp_path)}) == [1, "_FormerModuleFinder"]


@pytest.fixture
def library(tmp_path, fresh):
    """A package by the name of one that has patches, in a folder that `fresh` runs in."""
    (tmp_path / "nemo_automodel").mkdir()
    (tmp_path / "nemo_automodel" / "__init__.py").write_text(
        "import sys\nfound = list(sys.modules)\n"
    )
    return {"PYTHONPATH": str(tmp_path)}


def test_it_loads_nothing(fresh) -> None:
    assert fresh(f"{BEGIN}patchkit.apply()\nresult = {LOADED}") == []


def test_a_library_makes_it_apply(fresh, library) -> None:
    code = f"{BEGIN}patchkit.apply()\nimport nemo_automodel\n"
    found = fresh(f"{code}result = 'patchkit.engine.session' in nemo_automodel.found", env=library)
    assert found is True
    assert fresh(f"{BEGIN}import nemo_automodel\nresult = {LOADED}", env=library) == []


def test_other_imports_do_not(fresh) -> None:
    assert fresh(f"{BEGIN}patchkit.apply()\nimport json, email\nresult = {LOADED}") == []


def test_a_look_for_a_library_does_not(fresh, library) -> None:
    code = "from importlib.util import find_spec\nassert find_spec('nemo_automodel')\n"
    assert fresh(f"{BEGIN}patchkit.apply()\n{code}result = {LOADED}", env=library) == []


def test_whoever_reads_the_report_makes_it_apply(fresh) -> None:
    found = fresh(
        BEGIN
        + """
        report = patchkit.apply()
        again = patchkit.report()
        result = [
            "available" in again.summary().replace("2 available", ""),
            sorted(r.id for r in report) == sorted(r.id for r in again),
            [str(r.status) for r in report] == [str(r.status) for r in again],
            sorted(report.changed) == sorted(
                r.id for r in again if str(r.status) in ("pending", "applied", "drifted")
            ),
        ]
        """.replace("\n        ", "\n")
    )
    assert found == [False, True, True, True]


def test_a_report_is_of_its_moment(fresh) -> None:
    code = "report = patchkit.apply()\nthen = [str(r.status) for r in patchkit.report()]\n"
    code += "patchkit.revert()\nnow = [str(r.status) for r in patchkit.report()]\n"
    code += "result = [[str(r.status) for r in report], then, now]\n"
    of_the_call, then, now = fresh(f"{BEGIN}{code}")
    assert of_the_call == then
    assert "pending" not in now


def test_revert_takes_the_finder_away(fresh) -> None:
    code = "patchkit.apply()\nwaits = sys.meta_path != before\npatchkit.revert()\n"
    assert fresh(f"{BEGIN}{code}result = [waits, sys.meta_path == before]") == [True, True]


def test_what_the_environment_says_is_checked_at_once(fresh) -> None:
    code = """
try:
    patchkit.apply()
    result = "nothing was raised"
except patchkit.UnknownPatchError as error:
    result = str(error)
"""
    assert "no-such-patch" in fresh(BEGIN + code, env={"PATCHKIT_DISABLE": "no-such-patch"})


def test_an_error_is_told_to_who_reads_and_not_to_who_imports(fresh, library) -> None:
    code = """
import os
report = patchkit.apply()
os.environ["PATCHKIT_DISABLE"] = "no-such-patch"
import nemo_automodel
try:
    print(report)
    result = "nothing was raised"
except patchkit.UnknownPatchError as error:
    result = str(error)
"""
    assert "no-such-patch" in fresh(BEGIN + code, env=library)
