"""A function's source is found, parsed in its context, and compiles to the very code that runs."""

from __future__ import annotations

import ast
import os
import py_compile
import sys
from pathlib import Path
from types import FunctionType

import pytest

from patchkit.rewrite import Drift, FunctionSource, bind, functions_in_file, replace
from patchkit.rewrite.edit import apply_edits
from patchkit.rewrite.edited import edited_code

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
    "form_feed_before_def": ("f", "X = 1\n\x0cdef f(x):\n    return x\n\x0cdef g():\n    pass\n"),
    "form_feed_before_method": (
        "C.f",
        "class C:\n\x0c    def f(self):\n\x0c        return 1\n\x0c    y = 1\n\x0cif 1:\n    1\n",
    ),
    "form_feed_within": ("f", "def f(x):\n    y = 1\n \t\x0c    return x\n\x0c\nY = 1\n"),
    "form_feed_before_decorator": (
        "f",
        "def d(f):\n    return f\n\x0c@d\ndef f(x):\n    return x\n",
    ),
    "form_feed_before_import": ("f", "\x0cimport os\ndef f():\n    return os.getcwd()\n"),
    "import_in_other_letters": (
        "f",
        "import os as \N{FULLWIDTH LATIN SMALL LETTER O}2\ndef f():\n    return o2.getcwd()\n",
    ),
    "import_with_semicolon": ("f", "import os; X = 1\ndef f():\n    return os.getcwd()\n"),
    "docstring_to_the_left": ("f", 'def f(x):\n    """One\n\ntwo.\n"""\n\nY = 1\n'),
    "string_returned_to_the_left": ("f", "def f(x):\n    return '''\nZ = 1\n'''\n\nY = 1\n"),
    "bracket_to_the_left": ("f", "def f(x):\n    return (1,\n2\n)\n\nY = 1\n"),
    "string_below": ("f", "def f(x):\n    return x\n'''not of f\nnor this'''\nY = 1\n"),
    "one_line": ("f", "def f(x): return x\nY = 1\n"),
    "one_line_with_semicolons": ("C.f", "class C:\n    def f(x): y = 1; return y\n    z = 1\n"),
    "continued_header": ("f", "def f(x, \\\n  y): \\\n  return x\nY = 1\n"),
    "decorators_over_several_lines": (
        "f",
        "def d(*a):\n    return lambda f: f\n\n@d(\n    1,\n)\n# c\n@d(\n    lambda: 1\n)\ndef f(x):\n    return x\n",
    ),
    "positional_only": ("f", "def f(a, /, b, *, c=1):\n    return a, b, c\n"),
    "conditional_in_class": (
        "C.f",
        "class C:\n    if 1:\n        def f(self):\n            return self.__x\n    else:\n        f = 1\n",
    ),
    "nonlocal": ("f", "def f(x):\n    def g():\n        nonlocal x\n        x = 1\n    return g\n"),
    "unreachable_at_the_end": (
        "f",
        "def f(x):\n    return x\n    if 0:\n        g()\n    '''end'''\nY = 1\n",
    ),
    "f_strings": ("f", "def f(x):\n    return f'{x!r:>{x}} {x + 1=}' f'''\n{x}\n'''\n"),
    "deep_tab": ("f", "if 1:\n\n\n\tdef f(x):\n\t\treturn x\n"),
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
    found = [
        function for function in functions_in_file(source, "x.py") if function.qualname == qualname
    ]
    assert [function.code for function in found] == [function.__code__]


ENCODED = {
    "byte_order_mark": (b"\xef\xbb\xbfdef f(x):\n    return '\xc3\xa9', x\n", "utf-8"),
    "latin_1": (b"# -*- coding: latin-1 -*-\ndef f(x):\n    return '\xe9', x\n", "latin-1"),
    "windows": (b"X = 1\r\ndef f(x):\r\n    return '''a\r\nb''', x\r\n", "utf-8"),
    "old_mac": (b"X = 1\rdef f(x):\r    return '''a\rb''', x\r", "utf-8"),
    "mixed": (b"X = 1\rdef f(x):\n    # c\r    y = 1\r\n    return '\xc3\xa9', x\n", "utf-8"),
}


@pytest.mark.parametrize("bytecode", [False, True])
@pytest.mark.parametrize("kind", ENCODED)
def test_encodings_and_line_ends(library, kind: str, bytecode: bool) -> None:
    content, encoding = ENCODED[kind]
    library.write("shape", "")
    file = library.package / "shape.py"
    file.write_bytes(content)
    if bytecode:
        os.utime(file, (1_700_000_000, 1_700_000_000))
        py_compile.compile(str(file), doraise=True)
    function = library.load("shape").f
    from_memory = FunctionSource.of_function(function)
    (from_text,) = functions_in_file(content.decode(encoding), "x.py")
    for found in (from_memory, from_text):
        assert found.code == function.__code__
        assert not any("\r" in line for line in found.lines)
        (name,) = (
            node
            for node in ast.walk(found.node)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        )
        assert ", fixed\n" in "".join(apply_edits(found.lines, [replace(name, "fixed")]))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="a syntax of Python 3.12")
@pytest.mark.parametrize(
    ("qualname", "source"),
    [
        ("f", "def f[T](x: T) -> T:\n    y: T = x\n    return T, y\n"),
        ("C.f", "class C[T]:\n    def f(self, x: T):\n        return T, x, self.__y\n"),
        ("C.f", "class C[T]:\n    def f[U](self, x: U):\n        return T, U, super()\n"),
        ("C.D.f", "class C[T]:\n    class D[U]:\n        def f(self):\n            return T, U\n"),
        ("f", "def f(x):\n    return f'{x + f\"{x}\"} {'é'}'\n"),
    ],
)
def test_type_parameters(library, qualname: str, source: str) -> None:
    function = live(library, source, qualname)
    found = FunctionSource.of_function(function)
    assert found.code == function.__code__
    assert edited_code(found, [], [], "x.py") == function.__code__


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


@pytest.mark.parametrize("value", ["len", "None"])
def test_target_that_is_no_function(library, value: str) -> None:
    library.write("shape", f"f = {value}\n")
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
