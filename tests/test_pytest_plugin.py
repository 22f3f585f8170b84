"""`pytest --patchkit`, the marker and the fixture, in pytest runs of their own."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest

from .madeup_bug import patch_file
from .processes import python_path

pytest_plugins = ["pytester"]

LIBRARY = """\
def first():
    return bug()

def second():
    return bug()

def bug():
    return "bug"
"""
FIXED = "from madeup.trainer import first, second\n"


@pytest.fixture
def run(library, pytester, monkeypatch) -> Callable[..., pytest.RunResult]:
    """Runs pytest on files given by name, beside a library with two bugs and their patches."""
    library.write("trainer", LIBRARY)
    info = next(library.folder.glob("*.dist-info"))
    points = ["[pytest11]", "patchkit = patchkit.pytest_plugin", "[patchkit.patches]"]
    for name in ("first", "second"):
        (library.folder / f"patch_{name}.py").write_text(
            "from patchkit.settings import Setting\n"
            + patch_file(
                f"madeup-{name}",
                target=f"madeup.trainer:{name}",
                more='settings=(Setting("madeup_choice", ("this", "that"), "which one"),),',
            )
        )
        points.append(f"{name} = patch_{name}")
    (info / "entry_points.txt").write_text("\n".join(points))
    monkeypatch.setenv("PYTHONPATH", python_path(library.folder))
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PATCHKIT_DISABLE"):
        monkeypatch.delenv(name, raising=False)

    def call(*args: str, **files: str) -> pytest.RunResult:
        pytester.makepyfile(**{name: textwrap.dedent(text) for name, text in files.items()})
        # Hypothesis takes as long to be imported as all else.
        return pytester.runpytest_subprocess("-p", "no:hypothesispytest", "--strict-markers", *args)

    return call


def header(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if line.startswith("patchkit")]


def error(result: pytest.RunResult) -> str:
    """What pytest said instead of running anything."""
    text = result.stderr.str()
    assert result.ret == pytest.ExitCode.USAGE_ERROR, text
    assert "Traceback" not in text
    return text


def expecting(first: str, second: str) -> str:
    return FIXED + f"def test_it():\n    assert (first(), second()) == ({first!r}, {second!r})\n"


BOTH, NONE = expecting("fixed", "fixed"), expecting("bug", "bug")


def test_applies_before_conftest_files(run) -> None:
    seen = FIXED + "assert first() == 'fixed'\n"
    result = run("--patchkit", conftest=seen, test_one=BOTH)
    result.assert_outcomes(passed=1)
    assert [line.split(": ", 1)[1] for line in header(result)] == [
        "2 applied, 0 pending until their modules are imported"
    ]


def test_without_being_asked_does_nothing(run) -> None:
    idle = """
        import sys

        def test_nothing_was_loaded():
            loaded = {name for name in sys.modules if name.startswith("patchkit")}
            ours = {"patchkit.about", "patchkit.errors", "patchkit.pytest_plugin"}
            assert loaded == {"patchkit", *ours}
    """
    result = run(test_one=idle, test_two=NONE)
    result.assert_outcomes(passed=2)
    assert header(result) == []


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["-o", "patchkit=true"], ("fixed", "fixed")),
        (["-o", "patchkit=false"], ("bug", "bug")),
        (["--patchkit-only", "madeup-first"], ("fixed", "bug")),
        (["--patchkit-only=madeup-first,madeup-second"], ("fixed", "fixed")),
        (["--patchkit-only=madeup-*", "--patchkit-exclude=*-second"], ("fixed", "bug")),
        (["--patchkit-strict"], ("fixed", "fixed")),
        (["-p", "no:patchkit"], ("bug", "bug")),
    ],
    ids=" ".join,
)
def test_ways_to_ask(run, args, expected) -> None:
    run(*args, test_one=expecting(*expected)).assert_outcomes(passed=1)


def test_an_unknown_id(run) -> None:
    text = error(run("--patchkit-only", "madeup-frist", test_one=NONE))
    assert len(text.strip().splitlines()) == 1
    assert "patchkit: --patchkit-only names no patch: 'madeup-frist'. Did you mean" in text


def test_a_contradiction(run) -> None:
    options = ["--patchkit-only=madeup-first", "--patchkit-exclude=madeup-*"]
    text = error(run(*options, test_one=NONE))
    assert "--patchkit-only and --patchkit-exclude contradict each other" in text


@pytest.mark.parametrize("option", ["--patchkit-only=", "--patchkit-exclude=", "--patchkit-only=,"])
def test_no_names(run, option: str) -> None:
    assert f"{option.partition('=')[0]} names no patch: ''" in error(run(option, test_one=NONE))


DRIFTED = LIBRARY.replace("def second():\n    return bug()", "def second():\n    return 'new'")


def test_trouble_is_a_warning(run, library) -> None:
    library.write("trainer", DRIFTED)
    result = run("--patchkit", conftest="import madeup.trainer", test_one="def test_it(): pass")
    result.assert_outcomes(passed=1, warnings=1)
    assert [line.partition(": ")[2] for line in header(result)] == [
        "1 applied, 0 pending until their modules are imported",
        "madeup-second drifted",
    ]
    result.stdout.fnmatch_lines(["*PatchWarning: patch madeup-second drifted: *"])


def test_trouble_that_is_known_at_once(run, library) -> None:
    """Here another plugin has imported the library before."""
    library.write("trainer", DRIFTED)
    (library.folder / "early.py").write_text("import madeup.trainer")
    files = {"test_one": expecting("fixed", "new")}
    warned = run("-p", "early", "--patchkit", **files)
    warned.assert_outcomes(passed=1, warnings=1)
    warned.stdout.fnmatch_lines(["*pytest_plugin.py:*: PatchWarning: patch madeup-second drifted*"])
    for args in (["--patchkit-strict"], ["--patchkit", "-W", "error::patchkit.PatchWarning"]):
        text = error(run("-p", "early", *args, **files))
        assert text.startswith("ERROR: patchkit: ")
        assert "patch madeup-second drifted: " in text


@pytest.fixture
def program(run, pytester) -> Callable[[str], None]:
    """Runs a program that applies the first patch and then calls pytest, and checks its end."""

    def call(*args: str, then: str = "") -> None:
        program = f"import patchkit, pytest\n{FIXED}patchkit.apply('madeup-first')\n"
        program += f"assert pytest.main({list(args)}) == 0\n{then}"
        done = pytester.runpython(pytester.makepyfile(program=program))
        assert done.ret == 0

    return call


def test_what_was_applied_before_pytest_stays(program, pytester) -> None:
    """What the run applied is taken back, and no more."""
    pytester.makepyfile(test_one=BOTH)
    program("--patchkit", then="assert (first(), second()) == ('fixed', 'bug')")


def test_patchkit_may_be_imported_before_pytest(program, pytester) -> None:
    """Pytest would rewrite the asserts of a plugin's distribution, and warns where it cannot."""
    pytester.makeconftest("import pytest\npytest.register_assert_rewrite('patchkit')")
    pytester.makepyfile(test_one=expecting("fixed", "bug"))
    program("-W", "error")


def test_loaded_late(run) -> None:
    """By a conftest file, where no entry point has named it."""
    late = "pytest_plugins = ['patchkit.pytest_plugin']"
    result = run("-p", "no:patchkit", "-o", "patchkit=true", conftest=late, test_one=BOTH)
    result.assert_outcomes(passed=1)
    assert header(result)


def test_xdist(run) -> None:
    pytest.importorskip("xdist")
    two = """
        import os
        import pytest
        from madeup.trainer import first

        @pytest.mark.parametrize("number", range(4))
        def test_fixed(number):
            assert first() == "fixed" and os.environ["PYTEST_XDIST_WORKER"]

        @pytest.mark.patchkit(False)
        def test_not_fixed():
            assert first() == "bug"
    """
    result = run("--patchkit-only=madeup-first", "-n", "2", conftest="", test_one=two)
    result.assert_outcomes(passed=5)
    assert len(header(result)) == 1


MARKED = """
    import pytest
    import patchkit
    from madeup.trainer import first, second
    from patchkit import settings

    pytestmark = pytest.mark.patchkit("madeup-first")
    mark = pytest.mark.patchkit

    def state():
        return [name for name, function in (("first", first), ("second", second))
                if function() == "fixed"]

    class TestInnermostWins:
        def test_module(self):
            assert state() == ["first"]

        @mark("madeup-second")
        def test_function(self):
            assert state() == ["second"]

        @mark("madeup-first", "madeup-second")
        def test_several(self):
            assert state() == ["first", "second"]

    @mark("madeup-second")
    class TestClass:
        def test_it(self):
            assert state() == ["second"]

    @mark(False)
    class TestSubclass(TestClass):
        def test_it(self):
            assert state() == []

    @mark
    def test_all_that_are_due():
        assert state() == ["first", "second"]

    @mark()
    def test_also_with_parentheses():
        assert state() == ["first", "second"]

    @mark("madeup-*", exclude="*-first")
    def test_globs():
        assert state() == ["second"]

    @mark("madeup-second")
    @pytest.mark.parametrize("expected", [
        pytest.param([], marks=mark(False)),
        pytest.param(["first"], marks=mark("madeup-first")),
        ["second"],
    ])
    def test_parameters(expected):
        assert state() == expected

    @mark(dtype="fp16", madeup_choice="that")
    def test_settings():
        assert settings.current_choices() == {"dtype": "float16", "madeup_choice": "that"}

    def test_settings_are_gone():
        assert settings.current_choices() == {}

    @pytest.fixture
    def around():
        assert state() == ["second"]
        yield
        assert state() == ["second"]

    @mark("madeup-second")
    def test_fixtures_too(around):
        assert state() == ["second"]

    @mark("madeup-second")
    @pytest.mark.xfail(raises=ZeroDivisionError, strict=True)
    def test_failing(around):
        1 / 0

    def test_put_back_after_a_failure():
        assert state() == ["first"]

    @mark("madeup-second")
    def test_report(patchkit_report):
        assert patchkit_report["madeup-second"].status == "applied"
        assert patchkit_report["madeup-first"].status == "disabled"
"""


@pytest.mark.parametrize(
    ("args", "around"),
    [
        ([], ("bug", "bug")),
        (["--patchkit"], ("fixed", "fixed")),
        (["--patchkit-only=madeup-second"], ("bug", "fixed")),
    ],
    ids=["no patches around", "all around", "one around"],
)
def test_marker(run, args, around) -> None:
    unmarked = expecting(*around)
    result = run(*args, test_a=unmarked, test_marked=MARKED, test_z=unmarked)
    result.assert_outcomes(passed=18, xfailed=1)


def test_marker_that_makes_no_sense(run) -> None:
    wrong = """
        import pytest
        mark = pytest.mark.patchkit

        @mark("madeup-frist")
        def test_a(): pass

        @mark(only="madeup-first")
        def test_b(): pass

        @mark(False, dtype="fp16")
        def test_c(): pass

        @mark(madeup_choise="that")
        def test_d(): pass

        @mark(7)
        def test_e(): pass
    """
    result = run("--patchkit", test_one=wrong, test_two=BOTH)
    result.assert_outcomes(errors=5, passed=1)
    text = result.stdout.str()
    assert "Traceback" not in text
    assert "pytest_plugin.py" not in text
    assert "During handling" not in text
    for expected in (
        "@pytest.mark.patchkit: the marker names no patch: 'madeup-frist'. Did you mean 'madeup-first'",
        "@pytest.mark.patchkit: takes ids and globs without a keyword",
        "@pytest.mark.patchkit: False means no patch at all",
        "no argument 'madeup_choise'",
        "takes patch ids and globs, not 7",
    ):
        assert expected in text


def test_marker_and_trouble(run, library) -> None:
    library.write("trainer", DRIFTED)
    files = {
        "test_one": f"""
            import pytest
            {FIXED}
            @pytest.mark.patchkit("madeup-*")
            def test_it():
                assert first() == "fixed"

            @pytest.mark.patchkit("madeup-*", strict=True)
            def test_strict(): pass
        """
    }
    result = run(**files)
    result.assert_outcomes(passed=1, warnings=1, errors=1)
    result.stdout.fnmatch_lines(["*test_one.py:*PatchWarning: patch madeup-second drifted: *"])
    run("-W", "error::patchkit.PatchWarning", **files).assert_outcomes(errors=2)


DIES = "Attempting to unscale FP16 gradients."
KNOWN = f"""
    def test_first():
        raise ValueError({DIES!r})

    def test_second():
        raise ValueError({DIES!r})

    def test_unknown():
        raise ValueError("of my own")

    def test_passes():
        pass
    """
ANSWER = [
    "*= patchkit explain =*",
    "patchkit: What is trained is float16*",
    "*  do: Load the model*",
]


def test_answers_the_errors_of_failed_tests(run) -> None:
    result = run("--patchkit", test_known=KNOWN)
    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines(
        [*ANSWER, "  in: test_known.py::test_first, test_known.py::test_second"]
    )
    assert result.stdout.str().count("patchkit: What is trained") == 1
    assert result.stdout.str().count("ValueError: of my own") == 2  # its own and the summary's


def test_answers_the_errors_of_fixtures_and_of_collection(run) -> None:
    fixture = f"""
        import pytest

        @pytest.fixture
        def broken():
            raise ValueError({DIES!r})

        def test_it(broken):
            pass
        """
    result = run("--patchkit", test_fixture=fixture)
    result.stdout.fnmatch_lines([*ANSWER, "  in: test_fixture.py::test_it"])
    result = run("--patchkit", test_module=f"raise ValueError({DIES!r})")
    result.stdout.fnmatch_lines([*ANSWER, "  in: test_module.py"])


def test_answers_nothing_without_being_asked_for_patches(run, monkeypatch) -> None:
    assert "patchkit explain" not in run(test_known=KNOWN).stdout.str()
    monkeypatch.setenv("PATCHKIT_EXPLAIN", "0")
    assert "patchkit explain" not in run("--patchkit", test_known=KNOWN).stdout.str()


def test_answers_come_from_the_workers_of_xdist(run) -> None:
    pytest.importorskip("xdist")
    result = run("--patchkit", "-n1", test_known=KNOWN)
    result.stdout.fnmatch_lines(ANSWER)
