"""Versions, ranges and modules of what is installed, found without importing any of it."""

from __future__ import annotations

import gc
import sys
from importlib.machinery import EXTENSION_SUFFIXES

import pytest

from patchkit import PatchDefinitionError
from patchkit.environment import (
    check_range,
    in_range,
    installed_version,
    module_file,
    module_is_absent,
    modules_matching,
    without_garbage_collection,
)


def test_installed_version(library) -> None:
    assert installed_version("madeup") == "1.2.0"
    assert installed_version("MadeUp") == "1.2.0"
    assert installed_version("no-such-thing") is None


@pytest.mark.parametrize(
    ("version", "versions", "expected"),
    [
        ("0.26.0", ">=0.26", True),
        ("0.26", ">=0.26.0", True),
        ("0.25.1", ">=0.26", False),
        ("0.100", ">=0.26", True),
        ("1.16.0", ">=0.26,<2", True),
        ("2.0", ">=0.26,<2", False),
        ("1.16.0", "", True),
        ("1.16.3", "==1.16.*", True),
        ("1.17.0", "==1.16.*", False),
        ("1.4.9", "~=1.4.2", True),
        ("1.5.0", "~=1.4.2", False),
        ("1.6.0", "!=1.6.0", False),
        # A range must find those who train with a pre-release, of any of its ends.
        ("1.17.0.dev0", ">=0.26", True),
        ("1.17.0rc1", ">=0.26,<2", True),
        ("1.17.0.dev0", ">=1.17", True),
        ("1.17.0rc1", ">=1.17.0rc1", True),
        ("1.17.0.dev0", ">=1.17.0.dev0", True),
        ("1.17.0a1", "==1.17.*", True),
        ("1.8.0.dev0", "<=1.7", False),
        ("1.8.0rc2", "<1.8.0rc3", True),
        # So must a build of one's own.
        ("2.13.0+cu126", "==2.13.0", True),
        ("2.13.0+cu126", "<=2.13.0", True),
        ("2.13.0+cu126", ">=2.13,<2.14", True),
        ("2.13.0+cu126", ">2.13.0", False),
        ("2.13.0+cu126", "!=2.13.0", False),
        ("2.13.0+cpu", "==2.13.0+cu126", False),
        ("1.16.0.post1", ">=1.16", True),
        ("1.16.0.post1", "<=1.16.0", False),
        ("1.16.0.post1", "<1.17", True),
        ("1.7.1.dev0+g1234567", ">=1.7,<1.8", True),
        ("1!0.1", "<2", False),
    ],
)
def test_range(version: str, versions: str, expected: bool) -> None:
    assert in_range(version, versions) is expected


@pytest.mark.parametrize(
    "versions", ["newer than 1", "1.2", ">=", "=>1", ">=1.x", ">=1 <2", "^1.2"]
)
def test_range_that_does_not_parse(versions: str) -> None:
    with pytest.raises(ValueError, match="is not a version range such as") as caught:
        in_range("1.0", versions)
    assert repr(versions) in str(caught.value)
    with pytest.raises(PatchDefinitionError, match="patch 'madeup-bug': `affects`: ") as refused:
        check_range("madeup-bug", versions)
    assert repr(versions) in str(refused.value)


@pytest.mark.parametrize("version", ["unknown", "", "1.x", "main"])
def test_version_that_does_not_parse(version: str) -> None:
    with pytest.raises(ValueError, match="is not a version") as caught:
        in_range(version, ">=1")
    assert repr(version) in str(caught.value)


def test_check_range_accepts_a_range() -> None:
    check_range("madeup-bug", ">=0.26,<2")
    check_range("madeup-bug", "")


@pytest.fixture
def tree(library):
    for module in (
        "trainer.sft_trainer",
        "trainer.dpo_trainer",
        "trainer.sft_trainer_config",
        "trainer.utils",
        "experimental.deep.er.kto_trainer",
        "top_trainer",
        "a1",
        "a22",
    ):
        library.write(module, "raise ImportError('nobody imports this')\n")
    (library.package / "trainer" / "notes_trainer.txt").touch()
    return library


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (
            "madeup.*_trainer",
            {
                "madeup.top_trainer",
                "madeup.trainer.sft_trainer",
                "madeup.trainer.dpo_trainer",
                "madeup.experimental.deep.er.kto_trainer",
            },
        ),
        ("madeup.trainer.*_trainer", {"madeup.trainer.sft_trainer", "madeup.trainer.dpo_trainer"}),
        ("madeup.trainer.[sk]*_trainer", {"madeup.trainer.sft_trainer"}),
        ("madeup.trainer.[!s]*_trainer", {"madeup.trainer.dpo_trainer"}),
        ("madeup.a?", {"madeup.a1"}),
        ("madeup.a*", {"madeup.a1", "madeup.a22"}),
        (
            "madeup.exp*.deep*",
            {
                "madeup.experimental.deep",
                "madeup.experimental.deep.er",
                "madeup.experimental.deep.er.kto_trainer",
            },
        ),
        ("madeup.exp*.er", {"madeup.experimental.deep.er"}),
        (
            "madeup.tr*er",
            {"madeup.trainer", *(f"madeup.trainer.{n}_trainer" for n in ("sft", "dpo"))},
        ),
        ("madeup.*.nothing", set()),
        ("madeup.gone.*", set()),
        ("no_such_thing.*", set()),
    ],
)
def test_modules_matching(tree, pattern: str, expected: set[str]) -> None:
    found = modules_matching(pattern)
    assert len(found) == len(set(found))
    assert set(found) == expected
    assert "madeup" not in sys.modules


@pytest.mark.parametrize("name", ["madeup.trainer.utils", "madeup.gone", "no_such_thing.at.all"])
def test_a_name_without_wildcards_is_itself(tree, name: str) -> None:
    assert modules_matching(name) == [name]


@pytest.mark.parametrize(
    ("module", "file"),
    [
        ("madeup", "__init__.py"),
        ("madeup.trainer", "trainer/__init__.py"),
        ("madeup.trainer.utils", "trainer/utils.py"),
        ("madeup.experimental.deep.er.kto_trainer", "experimental/deep/er/kto_trainer.py"),
        ("madeup.gone", None),
        ("madeup.trainer.gone", None),
        ("madeup.gone.utils", None),
        ("madeup.trainer.notes_trainer", None),
        ("no_such_thing", None),
        ("no_such_thing.trainer", None),
    ],
)
def test_module_file(tree, module: str, file: str | None) -> None:
    assert module_file(module) == (tree.package / file if file else None)
    assert "madeup" not in sys.modules


def test_file_of_a_library_that_is_one_module(library) -> None:
    (library.folder / "madeup_alone.py").write_text("def f():\n    return 1\n")
    assert module_file("madeup_alone") == library.folder / "madeup_alone.py"
    assert module_is_absent("madeup_alone") is False


def test_a_package_goes_before_a_module_of_its_name(tree) -> None:
    (tree.package / "trainer.py").touch()
    assert module_file("madeup.trainer") == tree.package / "trainer" / "__init__.py"


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("madeup.gone", True),
        ("madeup.trainer.gone", True),
        ("madeup.gone.utils", True),
        ("madeup.trainer.notes_trainer", True),
        ("madeup.trainer.util", True),
        ("madeup", False),
        ("madeup.trainer", False),
        ("madeup.trainer.utils", False),
        # Nor can anything of a package that is not there.
        ("no_such_thing", True),
        ("no_such_thing.trainer", True),
    ],
)
def test_module_is_absent(tree, module: str, absent: bool) -> None:
    assert module_is_absent(module) is absent
    assert "madeup" not in sys.modules


@pytest.mark.parametrize("suffix", [EXTENSION_SUFFIXES[0], ".pyc"])
def test_a_compiled_module_is_not_absent(library, suffix: str) -> None:
    (library.package / f"fast{suffix}").touch()
    assert module_file("madeup.fast") is None
    assert module_is_absent("madeup.fast") is False
    assert module_is_absent("madeup.faster") is True


def test_a_folder_without_init_is_not_absent(library) -> None:
    (library.package / "space").mkdir()
    assert module_is_absent("madeup.space") is False
    assert module_is_absent("madeup.space.gone") is True


@pytest.mark.parametrize("frozen", [False, True])
def test_what_was_made_without_collections_is_not_walked_through_afterwards(frozen: bool) -> None:
    gc.collect()
    gc.unfreeze()
    if frozen:
        gc.freeze()
    before, walks = gc.get_freeze_count(), []
    gc.callbacks.append(lambda *walk: walks.append(walk))
    try:
        with without_garbage_collection():
            made: list[object] = [[] for _ in range(5000)]
        more = [[]]
        assert len(walks) == (2 if frozen else 0)  # what a caller has frozen stays so
        assert gc.isenabled()
        assert gc.get_freeze_count() == before
        assert made
        assert more
    finally:
        gc.callbacks.pop()
        gc.unfreeze()
