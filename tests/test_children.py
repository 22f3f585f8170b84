"""Children run nothing of the working directory, and the very patchkit of their parent."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import patchkit
from patchkit.environment import installed_version

from .madeup_bug import patch_file
from .processes import Done, run_python

ROOT = Path(patchkit.__file__).parent.parent
NAMES = [
    "argparse",
    "click",
    "datasets",
    "json",
    "multiprocessing",
    "packaging",
    "patchkit_local",
    "pickle",
    "pip",
    "random",
    "rich",
    "selectors",
    "tempfile",
    "tokenize",
    "torch",
    "transformers",
    "trl",
    "wrapt",
]
IMPORTED = ("argparse", "datasets", "json", "multiprocessing", "pickle", "torch", "wrapt")
"""What the reproducer of a made-up patch imports."""
TRAP = """\
import os

with open(os.path.join({folder!r}, "sprung"), "a") as file:
    file.write(__name__ + "\\n")
raise RuntimeError("a module of the working directory was imported")
"""
MADEUP = """\
def bug():
    raise ValueError("bug")

def f():
    bug()
"""
REPRODUCE = """\
def reproduce():
    import contextlib
    import importlib

    for name in {names}:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    from madeup.trainer import f

    f()
"""
Run = Callable[..., Done]


@pytest.fixture
def trapped(tmp_path: Path) -> Path:
    """A working directory full of modules that must not be imported."""
    folder = tmp_path / "trapped"
    folder.mkdir()
    for name in NAMES:
        (folder / f"{name}.py").write_text(TRAP.format(folder=str(folder)))
    (folder / "datasets.py").unlink()
    (folder / "datasets").mkdir()
    (folder / "datasets" / "__init__.py").write_text(TRAP.format(folder=str(folder)))
    return folder


@pytest.fixture
def run(tmp_path: Path, trapped: Path, library) -> Run:
    """Runs Python among the traps; a made-up library, and patches of it, are elsewhere."""
    library.write("trainer", MADEUP)
    (tmp_path / "patches").mkdir()
    (tmp_path / "patches" / "bug.py").write_text(
        patch_file(
            "madeup-bug",
            fixed="None",
            more='symptom="bug",',
            reproduce=REPRODUCE.format(names=[*IMPORTED]),
        )
    )
    own = {
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)]),
        "PATCHKIT_PATCHES": str(tmp_path / "patches"),
        "HF_HUB_OFFLINE": "1",
    }

    def run(*arguments: str, **variables: str) -> Done:
        done = run_python(*arguments, folder=trapped, **{**own, **variables})
        sprung = trapped / "sprung"
        assert not sprung.exists(), (sprung.read_text().split(), done.stderr[-2000:])
        return done

    return run


def outcomes(done: Done) -> dict[str, str]:
    assert done.stdout, done.stderr
    return {verdict["id"]: verdict["outcome"] for verdict in json.loads(done.stdout)["verdicts"]}


@pytest.mark.parametrize("options", [[], ["--fork"]], ids=["processes", "forks"])
def test_verify(run: Run, options: list[str]) -> None:
    done = run("-m", "patchkit", "verify", "madeup-bug", "--json", *options)
    assert outcomes(done) == {"madeup-bug": "fixed"}


PARENT = """\
import os, sys
where = os.getcwd()
os.chdir(os.path.dirname(where))
import json, pickle, random, selectors, tempfile, tokenize, patchkit
import packaging.version, packaging.specifiers, wrapt, importlib.util
os.chdir(where)  # where '' on the path means the traps from now on
assert '' in sys.path
found = patchkit.verify("madeup-bug", fork={fork})
print(json.dumps({{"verdicts": [vars(verdict) for verdict in found]}}))
"""


@pytest.mark.parametrize("fork", [False, True], ids=["processes", "forks"])
def test_verify_from_an_interpreter_with_the_working_directory_on_its_path(
    run: Run, fork: bool
) -> None:
    assert outcomes(run("-c", PARENT.format(fork=fork))) == {"madeup-bug": "fixed"}


@pytest.mark.parametrize("options", [[], ["--quick"]], ids=["whole", "quick"])
def test_doctor(run: Run, options: list[str]) -> None:
    done = run("-m", "patchkit", "doctor", "--json", *options)
    said = json.loads(done.stdout)
    if not options and installed_version("torch"):
        assert "a module of the working directory" not in done.stdout
        assert installed_version("torch") in json.dumps(said)


@pytest.mark.parametrize("arguments", [["report"], ["list"], ["diff"], ["matrix", "show"]])
def test_commands_without_children(run: Run, arguments: list[str]) -> None:
    done = run("-m", "patchkit", *arguments)
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr


def test_demo(run: Run) -> None:
    from patchkit.cli.demo.command import NEEDED

    if not all(map(installed_version, NEEDED)):
        pytest.skip("needs the training libraries")
    options = ["--steps=1", "--precision=bf16", "--quantization=none"]
    done = run("-m", "patchkit", "demo", "--json", *options)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["with"]["ok"] is True


def test_matrix_scan(run: Run, tmp_path: Path) -> None:
    from .matrix.scan.conftest import write_wheel

    text = "def f():\n    bug()\n"
    for version in ("1.0", "1.1"):
        modules = {f"m{number}": f"a = {number}\n{version}\n" for number in range(40)}
        write_wheel(tmp_path / "wheels", {"trainer": text, **modules}, version)
    where = ["--cache", str(tmp_path / "cache"), "--file", str(tmp_path / "matrix.yaml")]
    asked = ["madeup-bug", "--from", str(tmp_path / "wheels"), "--jobs", "2", "--json", *where]
    done = run("-m", "patchkit", "matrix", "scan", *asked)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["scans"]
    assert [scan["states"] for scan in found] == [{"madeup-bug": "matches"}] * 2


@pytest.mark.skipif(importlib.util.find_spec("pip") is None, reason="there is no pip")
def test_matrix_scan_asks_pip(run: Run, tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    where = ["--cache", str(tmp_path / "cache"), "--file", str(tmp_path / "matrix.yaml")]
    index = {"PIP_INDEX_URL": (tmp_path / "index").as_uri(), "PIP_CONFIG_FILE": os.devnull}
    index |= {"PIP_FIND_LINKS": "", "PIP_EXTRA_INDEX_URL": ""}
    done = run("-m", "patchkit", "matrix", "scan", "madeup-bug", *where, **index)
    assert done.stderr == "Error: the package index has no madeup, or no release of it\n"


WHERE = "import json, sys, patchkit\nprint(json.dumps([patchkit.__file__, sys.path, sys.argv]))\n"
FOUND = """\
import subprocess, sys
sys.path.insert(0, {folder!r})
from patchkit.children import command
print(subprocess.run(command("patchkit.where", "--one"), capture_output=True, text=True).stdout)
"""


@pytest.fixture
def another(tmp_path: Path) -> Path:
    """A patchkit that lies beside another environment's packages, and is on no child's path."""
    folder = tmp_path / "site-packages"
    unneeded = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "patchkit", folder / "patchkit", ignore=unneeded)
    (folder / "patchkit" / "where.py").write_text(WHERE)
    (folder / "beside.py").touch()
    return folder


def test_the_patchkit_of_the_parent(another: Path, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(FOUND.format(folder=str(another)))
    done = run_python(tmp_path / "script.py", PYTHONPATH=str(tmp_path / "mine"))
    file, path, arguments = json.loads(done.stdout)
    assert file == str(another / "patchkit" / "__init__.py")
    assert not {str(another), str(another / "patchkit"), str(tmp_path), ""} & set(path)
    assert path[0] == str(tmp_path / "mine")
    assert arguments == [str(another / "patchkit" / "where.py"), "--one"]


def test_a_further_folder(another: Path, tmp_path: Path) -> None:
    """A package of it finds the parent's patchkit, and shadows nothing."""
    folder = tmp_path / "further"
    (folder / "bench").mkdir(parents=True)
    (folder / "bench" / "__init__.py").touch()
    (folder / "bench" / "where.py").write_text(WHERE)
    (folder / "json.py").write_text(TRAP.format(folder=str(folder)))
    code = FOUND.format(folder=str(another))
    code = code.replace(
        '"patchkit.where", "--one"', f'"bench.where", "--one", folder={str(folder)!r}'
    )
    done = run_python("-c", code, folder=tmp_path)
    file, path, arguments = json.loads(done.stdout)
    assert file == str(another / "patchkit" / "__init__.py")
    assert path[-1] == str(folder)
    assert not {str(another), str(another / "patchkit"), str(tmp_path), ""} & set(path)
    assert arguments == [str(folder / "bench" / "where.py"), "--one"]


def test_a_parent_that_follows_no_variables_has_no_child_that_does(
    another: Path, tmp_path: Path
) -> None:
    code = FOUND.format(folder=str(another))
    done = run_python("-E", "-s", "-c", code, PYTHONPATH=str(tmp_path / "mine"))
    file, path, _ = json.loads(done.stdout)
    assert file == str(another / "patchkit" / "__init__.py")
    assert str(tmp_path / "mine") not in path
