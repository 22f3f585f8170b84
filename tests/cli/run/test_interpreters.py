"""Interpreters of other environments, a patchkit that is broken, and a run within a run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from patchkit.cli.run.variables import AUTOSTART, command_environment, missing_variables

ENGINE = Path(AUTOSTART).parents[2]


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment in which nothing is installed, pip neither."""
    folder = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return folder / ("Scripts" if os.name == "nt" else "bin") / "python"


def site_packages(python: Path) -> Path:
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return Path(subprocess.check_output([python, "-I", "-c", code], text=True).strip())


def reached(world, python: Path, *options: str, code: str = "print('ran')", **env: str):
    """Run code in that environment, which is given none of ours."""
    alone = f"""
import os, sys
env = {{**os.environ, "PYTHONPATH": os.environ["PYTHONPATH"].split(os.pathsep)[0], **{env!r}}}
os.execve({str(python)!r}, [{str(python)!r}, "-c", {code!r}], env)
"""
    return world.run(*options, "--", sys.executable, "-c", alone)


def test_without_patchkit_and_the_libraries(world, empty: Path) -> None:
    done = reached(world, empty)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ran\n", "")
    assert reached(world, empty, "--strict").returncode == 0
    assert "has no packaging" in reached(world, empty, "-v").stderr.splitlines()[-1]


def test_without_patchkit_and_with_a_library(world, empty: Path) -> None:
    library = site_packages(empty) / "trl.py"
    library.touch()
    try:
        done = reached(world, empty)
        strict = reached(world, empty, "--strict")
    finally:
        library.unlink()
    assert (done.returncode, done.stdout) == (0, "ran\n")
    (line,) = done.stderr.splitlines()
    assert "runs without patchkit" in line
    assert line.endswith("has no packaging; install patchkit there")
    assert (strict.returncode, strict.stdout) == (78, "")
    assert len(strict.stderr.splitlines()) == 1


def test_the_patchkit_of_the_run_where_there_is_none(world, empty: Path) -> None:
    """What it needs is there, and a library: it is lent, and no site-packages with it."""
    import packaging
    import wrapt

    place = site_packages(empty)
    for module in (packaging, wrapt):
        os.symlink(Path(module.__file__).parent, place / module.__name__)
    for name in ("madeup.py", "madeup-1.0.dist-info", "more_patches.py", "more-1.0.dist-info"):
        os.symlink(world.folder / name, place / name)
    code = "import madeup, patchkit, sys; print(madeup.f(), patchkit.__file__); import click"
    try:
        done = reached(world, empty, code=code)
    finally:
        for path in place.iterdir():
            if path.is_symlink():
                path.unlink()
    assert done.stdout == f"fixed {ENGINE / '__init__.py'}\n", done.stderr
    assert "No module named 'click'" in done.stderr


def test_the_patchkit_of_the_environment_comes_first(world, empty: Path) -> None:
    """One that is broken, too: the command runs, and one line says so."""
    own = site_packages(empty) / "patchkit"
    own.mkdir()
    for name in ("wrapt", "packaging"):
        (own.parent / f"{name}.py").touch()
    try:
        for source in ("1 / 0", "", "def broken(:"):
            (own / "__init__.py").write_text(source)
            done = reached(world, empty)
            strict = reached(world, empty, "--strict")
            assert (done.returncode, done.stdout) == (0, "ran\n")
            assert len(done.stderr.splitlines()) == 1
            assert "runs without patchkit" in done.stderr
            assert (strict.returncode, strict.stdout) == (78, "")
    finally:
        shutil.rmtree(own)
        for name in ("wrapt", "packaging"):
            (own.parent / f"{name}.py").unlink()


@pytest.mark.parametrize("value", ["no json", "[]", '{"strict": false, "only": 3}'])
def test_a_variable_that_makes_no_sense(world, value: str) -> None:
    env = world.environment(AUTOSTART, PATCHKIT_RUN=value)
    done = world.plain(*world.probe, env=env)
    assert (done.returncode, done.stdout) == (0, "buggy\n")
    assert len(done.stderr.splitlines()) == 1
    assert "runs without patchkit" in done.stderr


def test_without_the_variable(world) -> None:
    """Of a launcher that passes on what begins with PYTHON."""
    done = world.plain(*world.probe, env=world.environment(AUTOSTART))
    assert (done.returncode, done.stdout) == (0, "buggy\n")
    assert done.stderr.endswith("PYTHONPATH came along, but PATCHKIT_RUN did not\n")


OLD = """
import sys
sys.version_info = (3, 8, 0)
exec(compile(open({file!r}).read(), {file!r}, "exec"), {{"__file__": {file!r}, "__name__": "sitecustomize"}})
"""


def test_an_old_python(world) -> None:
    """Stands in for one: the version that it tells is another."""
    file = os.path.join(AUTOSTART, "sitecustomize.py")
    world.write("peft.py", "")
    env = world.environment(PATCHKIT_RUN='{"strict": false, "verbose": false}')
    code = OLD.format(file=file)
    done = world.plain(
        sys.executable, "-c", f"try:\n  exec({code!r})\nexcept ImportError: pass", env=env
    )
    assert done.stderr.endswith("runs without patchkit: Python 3.8 is too old for it\n")


def test_a_run_within_a_run(world) -> None:
    code = "import os; print(os.environ['PYTHONPATH'].count('autostart')); import madeup; print(madeup.f())"
    inner = world.command("--only", "trl-*", "--", sys.executable, "-c", code)
    done = world.run("--", *inner)
    assert (done.stdout, done.stderr) == ("1\nbuggy\n", "")
    outer = f"import os, sys; os.execve(sys.executable, {inner!r}, {{'PYTHONPATH': {world.environment()['PYTHONPATH']!r}}})"
    assert world.run("--", sys.executable, "-c", outer).stdout == "1\nbuggy\n"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, [AUTOSTART]),
        ("", [AUTOSTART]),
        ("/a", [AUTOSTART, "/a"]),
        # An empty entry means the current folder.
        (os.pathsep.join(["", "/a"]), [AUTOSTART, "", "/a"]),
        (os.pathsep.join([AUTOSTART, "/a"]), [AUTOSTART, "/a"]),
        (os.pathsep.join(["/b", "/other/patchkit/cli/run/autostart"]), [AUTOSTART, "/b"]),
    ],
)
def test_pythonpath(given: str | None, expected: list[str]) -> None:
    before = {"A": "b", "PATCHKIT_RUN": "old"}
    if given is not None:
        before["PYTHONPATH"] = given
    after = command_environment(before, "new")
    assert after.pop("PYTHONPATH").split(os.pathsep) == expected
    assert after == {"A": "b", "PATCHKIT_RUN": "new"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"PATCHKIT_RUN": "ours", "PYTHONPATH": "/f"}),
        ({"PYTHONPATH": ""}, {"PATCHKIT_RUN": "ours", "PYTHONPATH": "/f"}),
        ({"PATCHKIT_RUN": "ours", "PYTHONPATH": os.pathsep.join(["/a", "/f"])}, {}),
        ({"PATCHKIT_RUN": "ours"}, {"PYTHONPATH": "/f"}),
        (
            {b"PYTHONPATH": b"/a"},
            {"PATCHKIT_RUN": "ours", b"PYTHONPATH": os.pathsep.join(["/f", "/a"])},
        ),
        # A run within this one, which another installation of patchkit may have begun.
        ({"PATCHKIT_RUN": "theirs", "PYTHONPATH": "/g"}, {}),
    ],
)
def test_what_an_environment_lacks(given: dict, expected: dict) -> None:
    assert missing_variables(given, "/f", "ours") == expected
