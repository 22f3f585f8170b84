"""A bytecode file spares compiling what it was compiled from, and is believed of nothing else."""

from __future__ import annotations

import importlib
import importlib.util
import linecache
import marshal
import os
import py_compile
import sys
import zipfile
from pathlib import Path
from types import FunctionType

import pytest

from patchkit.rewrite import Drift, FunctionSource, locate
from patchkit.rewrite import compile as compiling
from patchkit.rewrite.bytecode import module_code

from ..processes import run_python

SOURCE = "def f(x):\n    return x + 1\n\n\ndef g(x):\n    return x - 1\n"
LONG_AGO = 1_700_000_000


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    locate.forget_files()
    linecache.clearcache()


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the functions that were compiled."""
    names: list[str] = []
    original = compiling.Context.compile

    def record(context, tree, filename):
        names.append(context.qualname)
        return original(context, tree, filename)

    monkeypatch.setattr(compiling.Context, "compile", record)
    return names


def module(library, text: str = SOURCE, *, bytecode: bool = True) -> tuple[Path, FunctionType]:
    """A module as an earlier process left it: its file is old, and so is its bytecode."""
    library.write("shape", text)
    file = library.package / "shape.py"
    os.utime(file, (LONG_AGO, LONG_AGO))
    if bytecode:
        py_compile.compile(str(file), doraise=True)
    return file, library.load("shape").f


def test_nothing_is_compiled_where_bytecode_tells(library, compiled) -> None:
    _, function = module(library)
    found = FunctionSource.of_function(function)
    assert compiled == []
    assert found.code is function.__code__


def test_the_file_is_read_once_for_all_its_functions(library, monkeypatch) -> None:
    file, function = module(library)
    first = FunctionSource.of_function(function)
    Path(importlib.util.cache_from_source(str(file))).unlink()
    second = FunctionSource.of_function(library.load("shape").g)
    assert second.lines is first.lines


def test_without_bytecode_it_is_compiled(library, compiled) -> None:
    _, function = module(library, bytecode=False)
    assert FunctionSource.of_function(function).code == function.__code__
    assert compiled == ["f"]


def damaged(content: bytes) -> dict[str, bytes]:
    other = compile(SOURCE.replace("+", "*"), "x", "exec")
    return {
        "of_another_python": b"\0\0" + content[2:],
        "of_another_time": content[:8] + b"\0\0\0\0" + content[12:],
        "of_another_size": content[:12] + b"\1\0\0\0" + content[16:],
        "checked_by_hash": content[:4] + b"\3\0\0\0" + content[8:],
        "cut_off": content[:40],
        "empty": b"",
        "header_only": content[:16],
        "no_code": content[:16] + marshal.dumps("code"),
        "nonsense": content[:16] + b"\xff" * 40,
        "of_other_code": content[:16] + marshal.dumps(other),
    }


@pytest.mark.parametrize("damage", damaged(bytes(100)))
def test_bytecode_that_does_not_fit_is_not_believed(library, compiled, damage: str) -> None:
    file, function = module(library)
    cached = Path(importlib.util.cache_from_source(str(file)))
    cached.write_bytes(damaged(cached.read_bytes())[damage])
    assert FunctionSource.of_function(function).code == function.__code__
    assert compiled == ["f"]


def test_a_file_edited_after_the_import_is_drift(library) -> None:
    file, function = module(library)
    file.write_text(SOURCE.replace("+", "*"))
    with pytest.raises(Drift, match="the file changed since it was imported"):
        FunctionSource.of_function(function)


def test_a_file_edited_before_its_lines_are_read_again_is_drift(library) -> None:
    file, function = module(library)
    FunctionSource.of_function(function)
    file.write_text(SOURCE.replace("+", "*"))
    linecache.checkcache()
    with pytest.raises(Drift):
        FunctionSource.of_function(function)


def test_lines_read_before_an_edit_are_those_of_the_running_code(library) -> None:
    file, function = module(library)
    linecache.getlines(str(file))
    file.write_text(SOURCE.replace("+", "*"))
    assert "x + 1" in "".join(FunctionSource.of_function(function).lines)


def test_an_edit_within_the_same_second_is_drift(library) -> None:
    """Of the same size, and before the second was over: Python runs the old bytecode."""
    file, function = module(library)
    cached = Path(importlib.util.cache_from_source(str(file)))
    file.write_text(SOURCE.replace("+", "*"))
    os.utime(file, (LONG_AGO, LONG_AGO + 0.9))
    os.utime(cached, (LONG_AGO, LONG_AGO + 0.5))
    with pytest.raises(Drift):
        FunctionSource.of_function(function)


def test_a_file_edited_while_its_lines_are_read_is_drift(library) -> None:
    """`linecache` asks for size and time before it reads."""
    file, function = module(library)
    name, edited = str(file), SOURCE.replace("+", "*")
    entry = len(SOURCE), file.stat().st_mtime, edited.splitlines(keepends=True), name
    file.write_text(edited)
    linecache.cache[name] = entry
    with pytest.raises(Drift):
        FunctionSource.of_function(function)


def test_code_that_is_not_the_files_is_drift(library) -> None:
    _, function = module(library)
    function.__code__ = (
        compile("def f(x):\n    return x + 2\n", "x", "exec")
        .co_consts[0]
        .replace(co_filename=function.__code__.co_filename)
    )
    with pytest.raises(Drift):
        FunctionSource.of_function(function)


def test_lines_that_came_from_elsewhere_are_not_of_the_file(library) -> None:
    file, function = module(library)
    name = str(file)
    linecache.cache[name] = (len(SOURCE), None, SOURCE.splitlines(keepends=True), name)
    assert module_code(name) is None
    assert FunctionSource.of_function(function).code == function.__code__
    linecache.cache[name] = (lambda: SOURCE,)  # type: ignore[assignment]
    assert module_code(name) is None
    assert module_code("<nowhere>") is None


@pytest.mark.parametrize("option", ["-O", "-OO", "-B", "-Xno_debug_ranges"])
def test_options_of_the_interpreter(library, option: str) -> None:
    file, _ = module(library, 'def f(x):\n    """Text."""\n    assert x\n    return x + 1\n')
    code = (
        "from patchkit.rewrite import FunctionSource\nimport madeup.shape as shape\n"
        "assert FunctionSource.of_function(shape.f).code == shape.f.__code__"
    )
    path = os.pathsep.join([str(library.folder), *filter(None, sys.path)])
    for _ in range(2):  # the first writes bytecode, the second believes it
        variables = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": ""}
        done = run_python(option, "-c", code, **variables)
        assert done.returncode == 0, done.stderr
    assert file.exists()


def test_a_module_in_an_archive(library, tmp_path: Path, monkeypatch) -> None:
    with zipfile.ZipFile(tmp_path / "zipped.zip", "w") as archive:
        archive.writestr("zipped_shape.py", SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path / "zipped.zip"))
    function = importlib.import_module("zipped_shape").f
    assert FunctionSource.of_function(function).code == function.__code__
    del sys.modules["zipped_shape"]


def test_a_module_without_a_source_is_drift(library) -> None:
    file, function = module(library)
    file.unlink()
    linecache.clearcache()
    with pytest.raises(Drift, match="there is no source"):
        FunctionSource.of_function(function)
