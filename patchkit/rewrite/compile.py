"""Parse and compile one function on its own, as if its module and class stood around it."""

from __future__ import annotations

import ast
import itertools
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

_LOCALS = "<locals>"
_IMPLICIT = ("__class__", "__classdict__")
"""Names that a class binds for the functions in it."""
_SOMEWHERE: dict[str, Any] = {"lineno": 1, "col_offset": 0, "end_lineno": 1, "end_col_offset": 0}


@lru_cache(maxsize=8)
def _import_of(names: tuple[str, ...]) -> list[ast.stmt]:
    """Return the statement that imports these names, made once for the functions of a file."""
    aliases = [ast.alias(name, **_SOMEWHERE) for name in names]
    return [ast.Import(aliases, **_SOMEWHERE)] if aliases else []


class Context(NamedTuple):
    """The surroundings of a function that decide what it compiles to.

    Args:
        qualname: the qualified name; tells which classes and functions enclose it (name mangling,
            zero-argument `super()`, closures).
        first: the number of the function's first line (its first decorator) in the file, from 1.
        freevars: the free variables of its code, which an enclosing function must bind.
        flags: the compiler flags of the module's `from __future__` imports.
        imports: names that the module imports: CPython compiles a call on an imported name
            differently from a method call.
    """

    qualname: str
    first: int
    freevars: tuple[str, ...] = ()
    flags: int = 0
    imports: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.qualname.rpartition(".")[2]

    def parse(self, text: str) -> ast.Module:
        """Parse the function so that line and column numbers are those of its file.

        Raises:
            SyntaxError: the text is not a whole function.
        """
        return self._parse(self._headers(text), text, self.first)

    def parse_block(self, text: str, first: int) -> list[ast.stmt]:
        """Parse whole statements out of the body of a function, as `parse` does.

        `first` is the number of their first line in the function, from 2.

        Raises:
            SyntaxError: these are not whole statements of one block.
        """
        tree = self._parse(["if True:\n"], text, first)
        match tree.body:
            case [ast.If(body=body, orelse=[])]:
                return body
        raise SyntaxError("not the statements of one block")

    def _parse(self, headers: list[str], text: str, first: int) -> ast.Module:
        blank = "\n" * (first - 1 - len(headers))
        tree = compile(
            blank + "".join(headers) + text,
            f"<{self.qualname}>",
            "exec",
            flags=ast.PyCF_ONLY_AST | self.flags,
            dont_inherit=True,
        )
        assert isinstance(tree, ast.Module)
        return tree

    def compile(self, tree: ast.Module, filename: str) -> CodeType | None:
        """Compile the tree that `parse` returned, and return the function's own code."""
        module = ast.Module([*_import_of(self.imports), *tree.body], [])
        code = compile(module, filename, "exec", flags=self.flags, dont_inherit=True)
        return self.find(code)

    def find(self, code: CodeType) -> CodeType | None:
        """Return the function's code among the constants of code that encloses it."""
        name, first = self.name, self.first
        waiting = [code]
        for outer in waiting:
            for inner in outer.co_consts:
                if type(inner) is CodeType:
                    if inner.co_firstlineno == first and inner.co_name == name:
                        return inner
                    waiting.append(inner)
        return None

    def _headers(self, text: str) -> list[str]:
        """Return lines that open the enclosing scopes.

        Each is indented by one column more than the one before; the function's own indentation,
        which is kept, is at least that deep.
        """
        *parts, _ = self.qualname.split(".")
        headers: list[str] = []
        parameters = ", ".join(name for name in self.freevars if name not in _IMPLICIT)
        for part, following in itertools.zip_longest(parts, parts[1:]):
            if part == _LOCALS:
                continue
            indent = " " * len(headers)
            if following == _LOCALS:
                headers.append(f"{indent}def {part}({parameters}):\n")
                parameters = ""
            elif parameters and _LOCALS not in parts:
                # No function around it binds them: they are type parameters of a class.
                headers.append(f"{indent}class {part}[{parameters}]:\n")
                parameters = ""
            else:
                headers.append(f"{indent}class {part}:\n")
        if not headers and text[:1] in (" ", "\t"):
            headers.append("if True:\n")
        return headers
