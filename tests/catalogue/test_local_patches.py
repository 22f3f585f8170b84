"""A project's own patches, in a folder: by an argument, a variable and an option."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from patchkit import PatchDefinitionError, PatchError, UnknownPatchError, UsageError
from patchkit.catalogue.folders import PACKAGE
from patchkit.engine.choices import Choices
from patchkit.patch import Status

from ..processes import python_path

TRAINER = """\
def bug(number):
    raise ValueError(f"bug {number}")

def f():
    return bug(1)

class C:
    def method(self):
        return bug(2)
"""
REWRITE = """\
from patchkit.patch import Patch, Rewrite
from patchkit.rewrite import Pattern, Rule, replace

from ._texts import FIXED

PATCH = Patch(
    id="mine-rewrite",
    title="f is fixed",
    affects={"madeup": ">=1"},
    changes=(Rewrite("madeup.trainer:f", Rule(
        Pattern("bug(1)"), lambda node: [replace(node, repr(FIXED))]
    )),),
    symptom="bug 1",
)

def reproduce():
    from madeup.trainer import f
    assert f() == FIXED
"""
WRAP = """\
from patchkit.patch import Patch, Wrap
from ..._texts import FIXED

def around(wrapped, instance, args, kwargs):
    return FIXED

PATCH = Patch(
    id="mine-wrap",
    title="C.method is fixed",
    affects={"madeup": ">=1"},
    changes=(Wrap("madeup.trainer:C.method", around),),
    symptom="bug 2",
)

def reproduce():
    from madeup.trainer import C
    C().method()
"""
FILES = {
    "_texts.py": "FIXED = 'fixed'",
    "rewrite.py": REWRITE,
    "deep/er/wrap.py": WRAP,
    "test_rewrite.py": "raise AssertionError('a test is no patch')",
    "conftest.py": "raise AssertionError",
    "tests/test_more.py": "raise AssertionError",
    "_more/helper.py": "raise AssertionError",
    ".hidden/wrap.py": "raise AssertionError",
}

Write = Callable[..., Path]


@pytest.fixture
def mine(library, tmp_path: Path) -> Iterator[Write]:
    """Writes a folder of patches for the made-up library."""
    library.write("trainer", TRAINER)

    def write(files: dict[str, str], name: str = "mine") -> Path:
        for file, source in files.items():
            path = tmp_path / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source)
        (tmp_path / name).mkdir(exist_ok=True)
        return tmp_path / name

    yield write
    for name in [name for name in sys.modules if name.startswith(PACKAGE)]:
        del sys.modules[name]


@pytest.fixture
def command(library, patchkit_command) -> Callable[..., Any]:
    """Runs `patchkit …` where the made-up library is installed."""
    return patchkit_command


def apply(one: Any, patches: Any, **options: Any) -> Any:
    return one.apply(Choices(patches=patches, **options))


FORMS: dict[str, Callable[[Path], Any]] = {
    "a path": lambda folder: folder,
    "text": str,
    "relative": lambda folder: folder.name,
    "a list": lambda folder: [folder],
    "twice, and below": lambda folder: [folder, str(folder), folder / "deep"],
    "files": lambda folder: (folder / "rewrite.py", str(folder / "deep" / "er" / "wrap.py")),
}
IN_DEEP = {**FILES, "deep/er/wrap.py": WRAP.replace("from ..._texts import FIXED", "FIXED = 0")}


@pytest.mark.parametrize("form", FORMS)
def test_apply(mine, library, session, monkeypatch, form: str) -> None:
    folder = mine(IN_DEEP)
    monkeypatch.chdir(folder.parent)
    one = session()
    report = apply(one, FORMS[form](folder), strict=True)
    assert report.changed == ("mine-wrap", "mine-rewrite") or set(report.changed) == {
        "mine-wrap",
        "mine-rewrite",
    }
    module = library.load("trainer")
    assert (module.f(), module.C().method()) == ("fixed", 0)
    assert {r.status for r in one.report()} == {Status.APPLIED}
    assert apply(one, FORMS[form](folder)).changed == ()
    assert len(one.report()) == 2
    assert one.revert("mine-*").changed
    with pytest.raises(ValueError, match="bug 1"):
        module.f()


def test_helpers_are_imported_from_above(mine, library, session) -> None:
    apply(session(), mine(FILES), strict=True)
    assert library.load("trainer").C().method() == "fixed"


def test_a_folder_with_an_init_file(mine, library, session) -> None:
    more = {"__init__.py": "TEXT = 'fixed'", "_texts.py": "from . import TEXT as FIXED"}
    apply(session(), mine({**FILES, **more}), strict=True)
    assert library.load("trainer").f() == "fixed"


def test_the_rewritten_code_can_call_a_helper_beside_the_patch(mine, library, session) -> None:
    source = REWRITE.replace("repr(FIXED)", "helper(__package__ + '._texts:text') + '()'")
    source = source.replace("import Pattern", "import helper, Pattern")
    files = {"_texts.py": "FIXED = 'fixed'\ndef text():\n    return FIXED", "r.py": source}
    apply(session(), mine(files), strict=True)
    assert library.load("trainer").f() == "fixed"


def test_folders_of_one_name_stay_apart(mine, library, session) -> None:
    first = mine({"_texts.py": "FIXED = 'first'", "rewrite.py": REWRITE}, "a/patches")
    wrap = WRAP.replace("..._texts", "._texts")
    second = mine({"_texts.py": "FIXED = 'second'", "rewrite.py": wrap}, "b/patches")
    apply(session(), [first, second], strict=True)
    module = library.load("trainer")
    assert (module.f(), module.C().method()) == ("first", "second")


REFUSED = {
    "no such folder": ({}, "nowhere", UsageError, "there is no folder or file of patches"),
    "nothing in it": ({"README.md": ""}, ".", UsageError, "there is no patch in the folder"),
    "helpers only": ({"_a.py": "", "test_a.py": ""}, ".", UsageError, "there is no patch in the"),
    "no Python": ({"a.txt": ""}, "a.txt", UsageError, "in a folder or a .py file"),
    "an error": (
        {"a.py": "1 / 0"},
        ".",
        PatchDefinitionError,
        r"a\.py cannot be imported: ZeroDivisionError: division by zero",
    ),
    "an exit": (
        {"a.py": "raise SystemExit(5)"},
        ".",
        PatchDefinitionError,
        r"a\.py cannot be imported: SystemExit: 5",
    ),
    "a typing error": ({"a.py": "PATCH = ("}, ".", PatchDefinitionError, r"a\.py .*SyntaxError"),
    "a helper that is missing": (
        {"a.py": "from ._b import c"},
        ".",
        PatchDefinitionError,
        r"a\.py cannot be imported: ModuleNotFoundError",
    ),
    "no PATCH": ({"a.py": "x = 1"}, ".", PatchDefinitionError, r"a\.py defines no PATCH = Patch"),
    "a dot in its name": (
        {"a.b.py": REWRITE},
        ".",
        PatchDefinitionError,
        r"a\.b\.py cannot be imported: a dot in a name means a package",
    ),
    "one id twice": (
        {"a.py": REWRITE, "b.py": REWRITE, "_texts.py": "FIXED = 1"},
        ".",
        PatchDefinitionError,
        r"patch 'mine-rewrite' is defined twice: in .+a\.py and .+b\.py",
    ),
    "an id of the session": (
        {"a.py": REWRITE.replace("mine-rewrite", "known-bug"), "_texts.py": "FIXED = 1"},
        ".",
        PatchDefinitionError,
        r"patch 'known-bug' is defined twice: in tests and .+a\.py",
    ),
    "an error in the folder's init file": (
        {"__init__.py": "1 / 0", "a.py": ""},
        ".",
        PatchDefinitionError,
        "ZeroDivisionError",
    ),
    "one of two": (
        {"a.py": REWRITE, "b.py": "1 / 0", "_texts.py": "FIXED = 1"},
        ".",
        PatchDefinitionError,
        r"b\.py cannot be imported",
    ),
}


@pytest.fixture
def known(session) -> Any:
    from patchkit.patch import Patch, Rewrite
    from patchkit.rewrite import Pattern, Rule, replace

    rule = Rule(Pattern("bug(1)"), lambda node: [replace(node, "1")])
    return session(
        Patch(
            id="known-bug",
            title="it is fixed",
            affects={"madeup": ">=1"},
            changes=(Rewrite("madeup.trainer:f", rule),),
        )
    )


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_raised_and_nothing_applied(mine, known, library, case) -> None:
    files, where, error, message = REFUSED[case]
    folder = mine(files)
    with pytest.raises(error, match=message) as caught:
        apply(known, folder / where)
    assert "\n" not in str(caught.value)
    assert known.report().keys() == ["known-bug"]
    assert known.report()["known-bug"].status is Status.AVAILABLE
    assert not [name for name in sys.modules if name.startswith(f"{PACKAGE}.")]


@pytest.mark.parametrize("given", [7, [7], None, [None], "", b"mine"], ids=repr)
def test_an_argument_of_another_type(session, given: Any) -> None:
    if given is None:
        assert apply(session(), given).keys() == []
        return
    with pytest.raises(UsageError, match="patches= takes"):
        apply(session(), given)


def test_a_file_is_read_anew_once_it_is_fixed(mine, library, session) -> None:
    folder = mine({"_texts.py": "1 / 0", "a.py": REWRITE})
    one = session()
    with pytest.raises(PatchDefinitionError):
        apply(one, folder)
    (folder / "_texts.py").write_text("FIXED = 'fixed'")
    apply(one, folder, strict=True)
    assert library.load("trainer").f() == "fixed"


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"only": "mine-x"}, UnknownPatchError),
        ({"only": "mine-rewrite", "keywords": {"nonsense": "1"}}, UsageError),
        ({"strict": True}, PatchError),
    ],
)
def test_a_call_that_fails_adds_nothing(mine, known, library, options: Any, error: Any) -> None:
    drifts = REWRITE.replace("bug(1)", "gone(1)")
    folder = mine({"_texts.py": "FIXED = 'fixed'", "a.py": drifts})
    library.load("trainer")
    with pytest.raises(error):
        apply(known, folder, **options)
    assert known.report().keys() == ["known-bug"]
    (folder / "a.py").write_text(REWRITE)
    apply(known, folder, only="mine-rewrite", strict=True)
    assert library.load("trainer").f() == "fixed"


def test_the_shipped_catalogue_is_no_second_copy(fresh) -> None:
    assert fresh(
        """
        import patchkit
        from patchkit.catalogue import definitions
        before = len(patchkit.report())
        patchkit.apply(only=[], patches=definitions.shipped_package().__path__[0])
        result = len(patchkit.report()) == before
        """
    )


def test_patched_keeps_them_known(mine, library, session) -> None:
    one, folder = session(), mine(FILES)
    with one.patched(Choices(strict=True, patches=folder)):
        assert library.load("trainer").f() == "fixed"
    assert {r.status for r in one.report()} == {Status.AVAILABLE}


PROGRAM = """
    import json
    import patchkit
    report = patchkit.apply(only="mine-*")
    import madeup.trainer
    result = [sorted(r.id for r in report if r.id.startswith("mine")), madeup.trainer.f()]
    """


def test_the_variable(mine, library, fresh) -> None:
    folder = mine(FILES)
    paths = python_path(library.folder)
    env = {"PYTHONPATH": paths, "PATCHKIT_PATCHES": folder.name}
    assert fresh(PROGRAM, env=env) == [["mine-rewrite", "mine-wrap"], "fixed"]


ASKED = REWRITE.replace("    title=", '    opt_in="lookout",\n    title=')
OPTED_IN = """
    import patchkit
    {before}
    report = patchkit.apply({arguments})
    import madeup.trainer
    try:
        found = madeup.trainer.f()
    except ValueError as error:
        found = str(error)
    result = [str(report["mine-rewrite"].status), found]
    """


@pytest.mark.parametrize(
    ("before", "arguments", "env", "expected"),
    [
        ("", 'patches="mine"', {}, ["available", "bug 1"]),
        ("", 'patches="mine", lookout=True', {}, ["pending", "fixed"]),
        ("", 'patches="mine", lookout=False', {}, ["available", "bug 1"]),
        ('patchkit.apply(patches="mine")', "lookout=True", {}, ["pending", "fixed"]),
        ("", "lookout=True", {"PATCHKIT_PATCHES": "mine"}, ["pending", "fixed"]),
        ("", "", {"PATCHKIT_PATCHES": "mine", "PATCHKIT_LOOKOUT": "1"}, ["pending", "fixed"]),
        ("", "", {"PATCHKIT_PATCHES": "mine", "PATCHKIT_LOOKOUT": "0"}, ["available", "bug 1"]),
        ("", 'only="mine-rewrite"', {"PATCHKIT_PATCHES": "mine"}, ["pending", "fixed"]),
    ],
)
def test_opting_in(mine, library, fresh, before, arguments, env, expected) -> None:
    mine({"rewrite.py": ASKED, "_texts.py": FILES["_texts.py"]})
    assert ASKED != REWRITE
    paths = python_path(library.folder)
    code = OPTED_IN.format(before=before, arguments=arguments)
    assert fresh(code, env={"PYTHONPATH": paths, **env}) == expected


def test_what_the_variable_names_and_cannot_be_read_is_told(mine, command) -> None:
    files = {"a.py": "1 / 0", "rewrite.py": REWRITE, "_texts.py": "FIXED = 1"}
    mine({**files, "twin.py": REWRITE})
    done = command("report", "--json", PATCHKIT_PATCHES=os.pathsep.join(["mine", "nowhere"]))
    patches = {row["id"]: row for row in json.loads(done.stdout)["patches"]}
    failed = {Path(name).name: row["reason"] for name, row in patches.items() if not row["library"]}
    assert patches["mine-rewrite"]["status"] == "available"
    assert "ZeroDivisionError" in failed["a.py"]
    assert "defined twice" in failed["twin.py"]
    assert "PATCHKIT_PATCHES: there is no folder or file of patches 'nowhere'" in failed["nowhere"]
    done = command("verify", "mine-wrap", PATCHKIT_PATCHES="mine")
    assert done.returncode == 64
    assert "'mine-wrap'. Did you mean 'mine-rewrite'? Cannot be read: " in done.stderr


@pytest.mark.parametrize("how", ["option", "variable"])
@pytest.mark.parametrize("fork", [[], ["--fork"]], ids=["new processes", "forks"])
def test_verify(mine, command, how: str, fork: list[str]) -> None:
    mine(FILES)
    given = ["--patches", "mine"] if how == "option" else []
    env = {"PATCHKIT_PATCHES": "mine"} if how == "variable" else {}
    done = command("verify", "mine-*", "--json", *fork, *given, **env)
    verdicts = {
        verdict["id"]: verdict["outcome"] for verdict in json.loads(done.stdout)["verdicts"]
    }
    assert verdicts == {"mine-rewrite": "fixed", "mine-wrap": "fixed"}, done.stderr
    assert done.returncode == 0


def test_verify_names_what_cannot_be_read(fresh) -> None:
    verdicts, status = fresh(
        """
        import dataclasses
        import patchkit
        from patchkit.catalogue.entries import Broken, Catalogue
        from patchkit.engine.session import SESSION
        known = Catalogue({}, (Broken("a.py", patchkit.PatchError("oops")),))
        SESSION._state = SESSION._state._replace(catalogue=known)
        found = patchkit.verify()
        result = [[[one.id, one.outcome, one.without] for one in found], found.exit_status]
        """
    )
    assert (verdicts, status) == ([["a.py", "error", "oops"]], 1)


def test_an_option_that_names_nothing(command) -> None:
    done = command("verify", "--patches", "nowhere")
    assert (done.returncode, done.stdout) == (64, "")
    assert done.stderr.splitlines()[-1].startswith("Error: there is no folder or file of patches")


@pytest.mark.parametrize("fork", [False, True])
def test_verify_sees_what_this_process_was_told(mine, library, fresh, fork: bool) -> None:
    mine(FILES)
    mine({"wrap.py": WRAP.replace("..._texts", "._texts"), "_texts.py": "FIXED = 1"}, "other")
    paths = python_path(library.folder)
    result = fresh(
        f"""
        import patchkit
        if __name__ == "__main__":
            patchkit.apply(only=[], patches="mine")
            found = patchkit.verify("mine-rewrite", fork={fork})
            other = patchkit.verify("mine-*", patches="mine/deep/er", fork={fork})
            result = [[one.outcome for one in found], [one.id for one in other]]
        """,
        env={"PYTHONPATH": paths},
    )
    assert result == [["fixed"], ["mine-rewrite", "mine-wrap"]] or result == [
        ["fixed"],
        ["mine-wrap", "mine-rewrite"],
    ]


def test_no_folder_costs_nothing(fresh) -> None:
    assert fresh(
        textwrap.dedent(
            """
            import sys, patchkit
            patchkit.apply()
            result = not [name for name in sys.modules if name.startswith("patchkit_local")]
            """
        )
    )
