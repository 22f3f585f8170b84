"""The catalogue is read in full; a definition that cannot be used is named and set aside."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from patchkit import UnknownPatchError, UsageError
from patchkit.catalogue import definitions
from patchkit.catalogue import entries as catalogue
from patchkit.catalogue.entries import Catalogue, Entry, check_ranges
from patchkit.patch import Patch, Rewrite
from patchkit.rewrite import Pattern, Rule, replace

from .. import installed
from ..madeup_bug import patch_file
from ..processes import python_path

TRAINER = (
    "def bug():\n    return 'bug'\n\ndef f():\n    return bug()\n\ndef g():\n    return bug()\n"
)


def good(name: str = "addon-bug", function: str = "f", affects: str = ">=1") -> str:
    reproduce = "def reproduce():\n    pass"
    return patch_file(
        name, target=f"madeup.trainer:{function}", affects=affects, reproduce=reproduce
    )


def asked(name: str, keyword: str) -> str:
    return good(name, "g").replace("    title", f"    opt_in={keyword!r},\n    title")


def offers(name: str, setting: str) -> str:
    settings = f"settings=(Setting({setting!r}, ('a', 'b'), 'x'),)"
    source = good(name, "g").replace("    title", f"    {settings},\n    title")
    return f"from patchkit.settings import Setting\n{source}"


FILES = {
    "addon.good": good(),
    "addon.raises": "raise ZeroDivisionError('oops')",
    "addon.misses": "import no_such_module_at_all",
    "addon.typo": "PATCH = (",
    "addon.nothing": "PACTH = None",
    "addon.text": "PATCH = 'not a patch'",
    "addon.incomplete": "from patchkit.patch import Patch\nPATCH = Patch(id='addon-incomplete')",
    "addon.malformed": good("Addon_Malformed"),
    "addon.range": good("addon-range", affects="newer than 1"),
    "addon.range_of_change": good("addon-range-of-change").replace(
        "    )),)", '    ), affects="x"),)'
    ),
    "addon.range_of_harm": good("addon-range-of-harm").replace(
        "    changes=", '    harmless={"m:f": "since 2"},\n    changes='
    ),
    "addon.twin": good("trl-adapter-bf16-cast"),
    "addon.twin_of_addon": good("addon-bug", function="g"),
    "addon.asked": asked("addon-asked", "addon_choice"),
    "addon.offers": offers("addon-offers", "addon_choice"),
    "addon.taken": asked("addon-taken", "adapter_cast"),
    "addon.also_good": good("addon-second", function="g"),
}
EXPECTED = {
    "addon.raises": "the patch file addon.raises cannot be imported: ZeroDivisionError: oops",
    "addon.misses": "the patch file addon.misses cannot be imported: ModuleNotFoundError: No module",
    "addon.typo": "the patch file addon.typo cannot be imported: SyntaxError: ",
    "addon.nothing": "the patch file addon.nothing defines no PATCH = Patch(...)",
    "addon.text": "the patch file addon.text defines no PATCH = Patch(...)",
    "addon.incomplete": "addon.incomplete cannot be imported: TypeError: ",
    "addon.malformed": "patch 'Addon_Malformed': its id must be lower-case words",
    "addon.range": "patch 'addon-range': `affects`: 'newer than 1' is not a version range",
    "addon.range_of_change": "patch 'addon-range-of-change': `affects`: 'x' is not a version range",
    "addon.range_of_harm": "patch 'addon-range-of-harm': `harmless`: 'since 2' is not a version range",
    "addon.twin": "patch 'trl-adapter-bf16-cast' is defined twice: in "
    "patchkit.patches.trl.adapter_bf16_cast and addon.twin",
    "addon.twin_of_addon": "patch 'addon-bug' is defined twice: in addon.good and addon.twin_of_addon",
    "addon.offers": "patch 'addon-offers': 'addon_choice' would be both a setting and an "
    "opt-in keyword",
    "addon.taken": "patch 'addon-taken': 'adapter_cast' would be both a setting and an opt-in keyword",
    "addon.away": "the patch file addon.away cannot be imported: ModuleNotFoundError: ",
}

Distribution = Callable[[dict[str, str]], Path]


@pytest.fixture
def distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Distribution]:
    """Installs a distribution `addon` whose entry points name these modules as patches."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    folder = tmp_path / "site"

    def install(files: dict[str, str], *absent: str) -> Path:
        (folder / "addon").mkdir(parents=True)
        (folder / "addon" / "__init__.py").touch()
        for module, source in files.items():
            folder.joinpath(*module.split(".")).with_suffix(".py").write_text(source)
        names = [*files, *absent]
        points = [f"point{number} = {name}" for number, name in enumerate(names)]
        entry_points = "\n".join(["[patchkit.patches]", *points, ""])
        installed.distribution(folder, "addon", "3.0", **{"entry_points.txt": entry_points})
        monkeypatch.syspath_prepend(str(folder))
        return folder

    yield install
    for name in [name for name in sys.modules if name.partition(".")[0] == "addon"]:
        del sys.modules[name]


def test_shipped_catalogue() -> None:
    known = catalogue.load()
    assert "trl-adapter-bf16-cast" in known.entries
    assert not [entry for entry in known.broken if entry.name.startswith("patchkit.")]
    for patch_id, entry in known.entries.items():
        assert entry.patch.id == patch_id
        assert callable(entry.reproduce)
        # Reading the catalogue leaves these out.
        entry.patch.check_symptom()
        check_ranges(entry.patch)
        assert entry.module in sys.modules
    assert [entry.patch.id for entry in known] == list(known.entries)


def test_reading_the_catalogue_imports_no_library(fresh) -> None:
    loaded = fresh(
        """
        import sys
        from patchkit.catalogue import entries as catalogue
        known = catalogue.load()
        assert known.entries and not known.broken, known.broken
        result = [name for name in ("torch", "numpy", "transformers", "trl", "peft", "accelerate")
                  if name in sys.modules]
        """
    )
    assert loaded == []


def test_every_shipped_file_is_a_patch() -> None:
    """A file that is no patch begins with an underscore; no other is passed over."""
    folder = Path(definitions.shipped_package().__path__[0])
    files = {
        "patchkit.patches." + ".".join(file.relative_to(folder).with_suffix("").parts)
        for file in folder.rglob("*.py")
        if not file.name.startswith("_")
    }
    assert {entry.module for entry in catalogue.load()} >= files


def test_patches_of_another_distribution(distribution) -> None:
    before = set(catalogue.load().entries)
    distribution({"addon.good": FILES["addon.good"], "addon.also_good": FILES["addon.also_good"]})
    known = catalogue.load()
    assert set(known.entries) - before == {"addon-bug", "addon-second"}
    assert known.entries["addon-bug"].module == "addon.good"
    assert callable(known.entries["addon-bug"].reproduce)
    assert not known.broken


def test_a_patch_needs_no_reproducer(distribution) -> None:
    distribution({"addon.good": good().partition("def reproduce")[0]})
    assert catalogue.load().entries["addon-bug"].reproduce is None


def test_broken_definitions_are_named_and_stop_no_other(distribution) -> None:
    shipped = set(catalogue.load().entries)
    distribution(FILES, "addon.away")
    known = catalogue.load()
    assert set(known.entries) == shipped | {"addon-asked", "addon-bug", "addon-second"}
    reasons = {broken.name: str(broken.error) for broken in known.broken}
    assert set(reasons) == set(EXPECTED)
    for name, expected in EXPECTED.items():
        assert expected in reasons[name], reasons[name]
    assert known.entries["trl-adapter-bf16-cast"].module.startswith("patchkit.")


def test_the_cause_of_a_broken_file_is_kept(distribution) -> None:
    distribution({"addon.raises": FILES["addon.raises"]})
    (broken,) = catalogue.load().broken
    assert isinstance(broken.error.__cause__, ZeroDivisionError)


def run_with(site: Path, library: Any, fresh: Any, code: str) -> Any:
    return fresh(textwrap.dedent(code), env={"PYTHONPATH": python_path(site, library.folder)})


def test_apply_with_broken_definitions(distribution, library, fresh) -> None:
    library.write("trainer", TRAINER)
    result = run_with(
        distribution(FILES, "addon.away"),
        library,
        fresh,
        """
        import warnings
        import patchkit
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            report = patchkit.apply(only="addon-*")
        import madeup.trainer
        report = patchkit.report()
        result = {
            "fixed": [madeup.trainer.f(), madeup.trainer.g()],
            "failed": {one.id: one.reason for one in report.with_status("failed")},
            "warned": [str(one.message) for one in caught],
            "text": str(report),
            "html": report._repr_html_(),
            "json": len(report.to_json()),
            "titles": {one.id: one.title for one in report},
        }
        """,
    )
    assert result["fixed"] == ["fixed", "fixed"]
    assert set(result["failed"]) == set(EXPECTED)
    for name, expected in EXPECTED.items():
        assert expected in result["failed"][name]
        assert [text for text in result["warned"] if text.startswith(f"patch {name} failed: ")]
        assert name in result["text"]
        assert name in result["html"]
    assert result["titles"]["addon.raises"] == "a patch definition that cannot be read"


def test_a_setting_that_is_none_stops_no_other(distribution, library, fresh) -> None:
    """Whether the definition or the call is refused, the other patches are applied."""
    library.write("trainer", TRAINER)
    bad = good("addon-bad", "g").replace("    title=", "    settings=('x',),\n    title=")
    result = run_with(
        distribution({"addon.bad": bad, "addon.good": FILES["addon.good"]}),
        library,
        fresh,
        """
        import warnings
        warnings.simplefilter("ignore")
        import patchkit
        patchkit.apply(only="addon-bug")
        import madeup.trainer
        result = madeup.trainer.f()
        """,
    )
    assert result == "fixed"


def test_strict_names_a_broken_definition(distribution, library, fresh) -> None:
    library.write("trainer", TRAINER)
    result = run_with(
        distribution({"addon.good": FILES["addon.good"], "addon.raises": FILES["addon.raises"]}),
        library,
        fresh,
        """
        import madeup.trainer
        import patchkit
        try:
            patchkit.apply(exclude="[!a]*", strict=True)
        except patchkit.PatchError as error:
            result = [str(error), madeup.trainer.f(), str(patchkit.report()["addon-bug"].status)]
        """,
    )
    assert "patch addon.raises failed" in result[0]
    assert "ZeroDivisionError: oops" in result[0]
    assert result[1] == "bug"


def test_strict_about_one_patch_does_not_mind_the_others(distribution, library, fresh) -> None:
    """Else no patch could be verified beside a broken one: that is done with `only` and `strict`."""
    library.write("trainer", TRAINER)
    result = run_with(
        distribution({"addon.good": FILES["addon.good"], "addon.raises": FILES["addon.raises"]}),
        library,
        fresh,
        """
        import madeup.trainer
        import patchkit
        patchkit.apply(only="addon-bug", strict=True)
        result = madeup.trainer.f()
        """,
    )
    assert result == "fixed"


RULE = Rule(Pattern("bug()"), lambda node: [replace(node, "1")])


def known(*ids: str) -> Catalogue:
    patches = [
        Patch(
            id=patch_id,
            title="fixed",
            affects={"madeup": ">=1"},
            changes=(Rewrite("madeup:f", RULE),),
        )
        for patch_id in ids
    ]
    return Catalogue({patch.id: Entry(patch, "tests", None) for patch in patches})


SOME = known("trl-adapter-bf16-cast", "trl-generation-cast", "peft-helper", "a-b")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (None, set()),
        ([], set()),
        ("a-b", {"a-b"}),
        (["a-b", "peft-helper", "a-b"], {"a-b", "peft-helper"}),
        ("trl-*", {"trl-adapter-bf16-cast", "trl-generation-cast"}),
        ("*-cast", {"trl-adapter-bf16-cast", "trl-generation-cast"}),
        ("[ap]*", {"a-b", "peft-helper"}),
        ("?-b", {"a-b"}),
        (("trl-gen*", "a-b"), {"trl-generation-cast", "a-b"}),
        ({"a-b"}, {"a-b"}),
        ((name for name in ["a-b"]), {"a-b"}),
        ("*", set(SOME.entries)),
    ],
)
def test_named(names: Any, expected: set[str]) -> None:
    assert SOME.matching_ids(names, "only=") == expected


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (
            "trl-adapter-cast",
            "only= names no patch: 'trl-adapter-cast'. Did you mean 'trl-adapter-bf16",
        ),
        ("A-B", "only= names no patch: 'A-B'. "),
        ("", "only= names no patch: ''. There are: a-b, peft-helper, trl-"),
        ("xyz", "There are: a-b, peft-helper, trl-adapter-bf16-cast, trl-generation-cast."),
        ("trl", "only= names no patch: 'trl'. "),
        (["a-b", "trl-x*"], "only= names no patch: 'trl-x*'. "),
        ("a-b,peft-helper", "only= names no patch: 'a-b,peft-helper'. "),
    ],
)
def test_unknown_names(names: Any, message: str) -> None:
    with pytest.raises(UnknownPatchError) as caught:
        SOME.matching_ids(names, "only=")
    assert message in str(caught.value)


def test_an_entry_point_that_names_the_patch_itself(distribution) -> None:
    distribution({"addon.good": FILES["addon.good"]}, "addon.good:PATCH")
    (broken,) = [entry for entry in catalogue.load().broken if entry.name.startswith("addon")]
    assert "addon.good:PATCH names a patch; it must name the module, addon.good" in str(
        broken.error
    )


def test_a_patch_file_that_ends_the_process(distribution) -> None:
    distribution({"addon.exits": "raise SystemExit(3)", "addon.good": FILES["addon.good"]})
    (broken,) = [entry for entry in catalogue.load().broken if entry.name.startswith("addon")]
    assert "addon.exits cannot be imported: SystemExit: 3" in str(broken.error)


def test_a_name_of_what_cannot_be_read(distribution) -> None:
    distribution({"addon.mistyped": "1 / 0"})
    with pytest.raises(UnknownPatchError, match=r"'mistyped'. It cannot be read: .*Zero"):
        catalogue.load().matching_ids("mistyped", "ID")


def test_of_many_patches_not_all_are_listed() -> None:
    many = known(*(f"a-{number}" for number in range(20)))
    with pytest.raises(UnknownPatchError, match="`patchkit list` shows all 20"):
        many.matching_ids("xyz", "only=")


def test_unknown_name_in_an_empty_catalogue() -> None:
    with pytest.raises(UnknownPatchError, match="There are: none"):
        known().matching_ids("a-b", "only=")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (7, "exclude= takes a patch id, a glob such as 'trl-*', or several of them, not 7"),
        (True, "or several of them, not True"),
        ([7], "exclude= takes patch ids and globs, not 7"),
        (["a-b", None], "exclude= takes patch ids and globs, not None"),
        (b"a-b", "exclude= takes patch ids and globs, not 97"),
        ([["a-b"]], "exclude= takes patch ids and globs, not ['a-b']"),
    ],
)
def test_selection_of_another_type(names: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        SOME.matching_ids(names, "exclude=")
    assert not isinstance(caught.value, UnknownPatchError)
    assert message in str(caught.value)


def test_settings_of_the_catalogue() -> None:
    offered = [setting.name for setting in catalogue.load().settings]
    assert "adapter_cast" in offered
