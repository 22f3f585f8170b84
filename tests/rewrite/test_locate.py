"""A function's source is found, parsed in its context, and compiles to the very code that runs."""

from __future__ import annotations

from pathlib import Path
from types import FunctionType

import pytest

from patchkit.rewrite import Drift, FunctionSource, bind, functions_in_file

SHAPES = {
    "function": ("f", "def f(x):\n    return x\n"),
    "last_in_file_without_newline": ("f", "def f(x):\n    return x"),
    "comment_below": ("f", "def f(x):\n    return x\n# not of f\n\nY = 1\n"),
    "closing_bracket_below": ("f", "def f(x):\n    return g(\n        x,\n    )\n\n\ng = 1\n"),
    "string_at_column_zero": ("f", 'def f(x):\n    return """\nZ = 1\n""" + x\n\nY = 1\n'),
    "only_a_docstring": ("f", 'def f(x):\n    """One\n\n    two."""\n\nY = 1\n'),
    "method": ("C.f", "class C:\n    def f(self):\n        return self\n\n    y = 1\n"),
    "mangled": ("C.f", "class C:\n    def f(self):\n        return self.__secret\n"),
    "super": ("C.f", "class C:\n    def f(self):\n        return super().f()\n"),
    "nested_class": ("C.D.f", "class C:\n    class D:\n        def f(self):\n            pass\n"),
    "under_if": ("f", "if True:\n    def f(x):\n        return x\n"),
    "class_under_try": (
        "C.f",
        "try:\n    class C:\n        def f(self):\n            return super()\nfinally:\n    pass\n",
    ),
    "async": ("f", "async def f(x):\n    return await x\n"),
    "generator": ("f", "def f(x):\n    yield from (y for y in x)\n"),
    "inner_function": ("f", "def f(x):\n    def g():\n        return x\n    return g\n"),
    "imported_call": ("f", "import os, json as j\n\ndef f(x):\n    return j.dumps(os.getcwd())\n"),
    "imported_in_brackets": (
        "f",
        "from os import (  # a comment, with a comma\n    path,\n    sep as s,\n)\n\n"
        "def f(x):\n    return path.join(s.join(x))\n",
    ),
    "future_annotations": (
        "f",
        "from __future__ import annotations\n\ndef f(x):\n    def g(y: int) -> Z: ...\n    return g\n",
    ),
    "decorated": (
        "f",
        "import functools\n\ndef d(f):\n    @functools.wraps(f)\n    def w(*a):\n"
        "        return f(*a)\n    return w\n\n@d\n@d\ndef f(x):\n    return x\n",
    ),
    "decorated_without_wraps": (
        "f",
        "def d(f):\n    def w(*a):\n        return f(*a)\n    return w\n\n@d\ndef f(x):\n    return x\n",
    ),
    "staticmethod": ("C.f", "class C:\n    @staticmethod\n    def f(x):\n        return x\n"),
    "classmethod": ("C.f", "class C:\n    @classmethod\n    def f(cls):\n        return cls\n"),
    "property": ("C.f", "class C:\n    @property\n    def f(self):\n        return 1\n"),
    "tabs": ("C.f", "class C:\n\tdef f(self):\n\t\treturn 1\n"),
    "form_feed": ("f", "X = 1\n\x0c\ndef f(x):\n    return x\n"),
    "not_ascii": ("f", "def f(x):\n    return 'é…' + x  # …\n"),
    "conditional_import": (
        "f",
        "try:\n    import json as j\nexcept ImportError:\n    j = None\n\ndef f(x):\n    return j.dumps(x)\n",
    ),
}


def live(library, source: str, qualname: str) -> FunctionType:
    library.write("shape", source)
    return bind(library.load("shape"), qualname).function()


@pytest.mark.parametrize("shape", SHAPES)
def test_live_function(library, shape: str) -> None:
    qualname, source = SHAPES[shape]
    function = live(library, source, qualname)
    found = FunctionSource.of_function(function)
    assert found.code == function.__code__
    assert found.node.name == "f"
    assert found.name == "madeup/shape.py"


@pytest.mark.parametrize("shape", SHAPES)
def test_the_same_function_in_the_file(library, shape: str) -> None:
    qualname, source = SHAPES[shape]
    function = live(library, source, qualname)
    found = [one for one in functions_in_file(source, "x.py") if one.qualname == qualname]
    assert [one.code for one in found] == [function.__code__]


def test_closure(library) -> None:
    library.write(
        "closure",
        "def outer(a, b):\n    def inner(x):\n        return a + x + b\n    return inner\n"
        "inner = outer(1, 2)\n",
    )
    function = library.load("closure").inner
    assert FunctionSource.of_function(function).code.co_freevars == ("a", "b")


def test_file_changed_since_the_import(library) -> None:
    function = live(library, "def f(x):\n    return x + 1\n", "f")
    library.write("shape", "def f(x):\n    return x + 2\n")
    with pytest.raises(Drift, match="the file changed since it was imported"):
        FunctionSource.of_function(function)


def test_file_grew_above_the_function(library) -> None:
    function = live(library, "def f(x):\n    return x + 1\n", "f")
    library.write("shape", "import os\n\n\ndef f(x):\n    return x + 1\n")
    with pytest.raises(Drift):
        FunctionSource.of_function(function)


def test_code_rewritten_by_someone_else(library) -> None:
    function = live(library, "def f(x):\n    return x + 1\n", "f")
    function.__code__ = (lambda x: x).__code__
    with pytest.raises(Drift):
        FunctionSource.of_function(function)


def test_no_source() -> None:
    namespace: dict[str, FunctionType] = {}
    # Python 3.13 knows the source of a `<string>` that was given to `python -c`.
    exec(compile("def f(x): return x", "<nowhere>", "exec"), namespace)
    with pytest.raises(Drift, match="there is no source for f"):
        FunctionSource.of_function(namespace["f"])


@pytest.mark.parametrize(
    ("source", "qualname", "message"),
    [
        ("x = 1\n", "C.f", "C is missing"),
        ("class C:\n    pass\n", "C.f", "f is missing"),
        ("class B:\n    def f(self): ...\nclass C(B):\n    pass\n", "C.f", "C inherits f"),
        ("C = 1\n", "C.f", "C is not a class"),
    ],
)
def test_missing_target(library, source: str, qualname: str, message: str) -> None:
    library.write("shape", source)
    with pytest.raises(Drift, match=message):
        bind(library.load("shape"), qualname)


def test_target_that_is_no_function(library) -> None:
    library.write("shape", "f = len\n")
    with pytest.raises(Drift, match="not a Python function"):
        bind(library.load("shape"), "f").function()


def test_every_function_of_the_standard_library_compiles_alike() -> None:
    """Real code, some of it old and odd: the code found in a file is the code that would run."""
    import argparse
    import asyncio.tasks
    import dataclasses
    import typing

    for module in (argparse, asyncio.tasks, dataclasses, typing):
        assert module.__file__ is not None
        text = Path(module.__file__).read_text(encoding="utf-8")
        for found in functions_in_file(text, module.__name__):
            name = found.qualname
            if "<locals>" in name or found.node.decorator_list:
                continue
            try:
                function = bind(module, name).function()
            except Drift:
                continue
            if function.__code__.co_firstlineno == found.first:
                assert found.code == function.__code__, name
