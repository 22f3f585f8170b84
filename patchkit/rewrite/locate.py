"""From a live function, or the text of a file, to source text and syntax tree."""

from __future__ import annotations
import __future__

import ast
import linecache
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import CodeType, FunctionType

from .compile import Context
from .edit import split_lines
from .errors import Drift

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef

_FUTURE_FLAGS = 0
for _feature in __future__.all_feature_names:
    _FUTURE_FLAGS |= getattr(__future__, _feature).compiler_flag

_IMPORT = re.compile(r"[ \t]*(?:from[ \t]|import[ \t])")
_IMPORT_NAMES = re.compile(r"[ \t]*(?:from[ \t]+\S+[ \t]+)?import[ \t]+(\([^)]*\)|(?:\\\n|[^\n])*)")
_LONGEST_IMPORT = 200
_SCOPE = re.compile(r"[ \t]*(?:def|class|async[ \t]+def)[ \t]")
_COMMENT = re.compile(r"#[^\n]*")


@dataclass(frozen=True)
class FunctionSource:
    """One function as it stands in its file.

    Args:
        name: short name of the file, for people: `trl/trainer/sft_trainer.py`.
        lines: all lines of the file, each with its newline.
        last: number of the function's last line, from 1.
        context: what surrounds the function.
        node: the syntax tree of the function; positions are those of the file.
        code: the function compiled unchanged.
    """

    name: str
    lines: tuple[str, ...]
    last: int
    context: Context
    node: FunctionNode
    code: CodeType

    @property
    def qualname(self) -> str:
        return self.context.qualname

    @property
    def first(self) -> int:
        """Number of the function's first line, its first decorator, from 1."""
        return self.context.first

    @classmethod
    def of_function(cls, function: FunctionType) -> FunctionSource:
        """The source of a live function, checked against the code that runs.

        Raises:
            Drift: there is no source, or the running code was not compiled from it.
        """
        code = function.__code__
        lines = tuple(linecache.getlines(code.co_filename, function.__globals__))
        if not lines:
            raise Drift(f"there is no source for {function.__qualname__} ({code.co_filename})")
        context = Context(
            function.__qualname__,
            code.co_firstlineno,
            code.co_freevars,
            code.co_flags & _FUTURE_FLAGS,
            _imported_names(lines),
        )
        name = _short_name(code.co_filename, function.__globals__.get("__name__"))
        located = None
        if code.co_firstlineno <= len(lines):
            located = _locate(name, lines, _last_line(lines, code), context)
        if located is None or not (located.code == code or _compiles_to(lines, context, code)):
            raise Drift(
                f"the code of {function.__qualname__} that runs is not what its file holds: the "
                "file changed since it was imported, or another tool rewrote the function"
            )
        return located


def functions_in_file(
    text: str, name: str, wanted: Callable[[str], bool] | None = None
) -> Iterator[FunctionSource]:
    """The functions and methods of a file, without importing it.

    A function inside a function that binds names of the outer one with `nonlocal` is left out.

    Args:
        text: the content of the file.
        name: short name of the file, for people.
        wanted: says by its qualified name whether a function is wanted; all are, if None.

    Raises:
        SyntaxError: this Python cannot parse the file.
    """
    tree = ast.parse(text)
    lines = tuple(split_lines(text))
    flags = _future_flags(tree)
    imports = _imported_names(lines)
    for qualname, node in _walk_functions(tree.body, ""):
        if wanted is not None and not wanted(qualname):
            continue
        last = node.end_lineno or node.lineno
        context = Context(qualname, first_line(node), (), flags, imports)
        located = _locate(name, lines, last, context)
        if located is not None:
            yield located


def _locate(
    name: str, lines: tuple[str, ...], last: int, context: Context
) -> FunctionSource | None:
    try:
        tree = context.parse("".join(lines[context.first - 1 : last]))
        code = context.compile(tree, f"<{name}>")
    except SyntaxError:
        return None
    node = _function_at(tree, context)
    if node is None or code is None:
        return None
    return FunctionSource(name, lines, last, context, node, code)


def _compiles_to(lines: tuple[str, ...], context: Context, code: CodeType) -> bool:
    """The slow, certain answer: compile the whole file, and look for the very same code."""
    try:
        module = compile("".join(lines), code.co_filename, "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return context.find(module) == code


def _last_line(lines: tuple[str, ...], code: CodeType) -> int:
    """The last line of a function whose code is known.

    Much quicker than tokenizing the block: the code object tells the last line that compiles to
    something; what may follow are closing brackets, comments and blank lines.
    """
    indent = _indentation(lines[code.co_firstlineno - 1])
    for number in range(_last_line_with_code(code) + 1, len(lines) + 1):
        line = lines[number - 1]
        content = line.strip()
        if not content or content[0] in "#)]}\"'":
            continue
        if _indentation(line) <= indent:
            return number - 1
    return len(lines)


def _last_line_with_code(code: CodeType) -> int:
    last = max((line for _, _, line in code.co_lines() if line), default=code.co_firstlineno)
    inner = [const for const in code.co_consts if isinstance(const, CodeType)]
    return max([last, *map(_last_line_with_code, inner)])


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _imported_names(lines: Sequence[str]) -> tuple[str, ...]:
    """Names that the module itself imports, found without parsing the whole file."""
    names: dict[str, None] = {}
    for number, line in enumerate(lines):
        # Two searches for a word first, since few lines have one.
        if (
            ("import" in line or "from" in line)
            and _IMPORT.match(line)
            and _at_module_level(lines, number)
        ):
            statement = _IMPORT_NAMES.match("".join(lines[number : number + _LONGEST_IMPORT]))
            imported = statement.group(1) if statement else ""
            for alias in _COMMENT.sub("", imported).strip("()").replace("\\\n", " ").split(","):
                name = alias.split(" as ")[-1].strip().partition(".")[0]
                if name.isidentifier():
                    names[name] = None
    return tuple(names)


def _at_module_level(lines: Sequence[str], number: int) -> bool:
    """Whether a line stands in no function or class, though perhaps under an `if` or `try`."""
    indent = _indentation(lines[number])
    while indent and number:
        number -= 1
        line = lines[number]
        if line.strip() and _indentation(line) < indent:
            if _SCOPE.match(line):
                return False
            indent = _indentation(line)
    return True


def first_line(node: FunctionNode) -> int:
    """The number of a function's first decorator's line, or of its own, from 1."""
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _function_at(tree: ast.AST, context: Context) -> FunctionNode | None:
    for node in ast.walk(tree):
        if (
            isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            and node.name == context.name
            and first_line(node) == context.first
        ):
            return node
    return None


def _walk_functions(body: Iterable[ast.stmt], prefix: str) -> Iterator[tuple[str, FunctionNode]]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield f"{prefix}{node.name}", node
            yield from _walk_functions(node.body, f"{prefix}{node.name}.<locals>.")
        elif isinstance(node, ast.ClassDef):
            yield from _walk_functions(node.body, f"{prefix}{node.name}.")
        else:
            for field in ("body", "orelse", "finalbody"):
                yield from _walk_functions(getattr(node, field, []), prefix)
            for handler in getattr(node, "handlers", []):
                yield from _walk_functions(handler.body, prefix)


def _future_flags(tree: ast.Module) -> int:
    flags = 0
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            for alias in node.names:
                flags |= getattr(__future__, alias.name).compiler_flag
    return flags


def _short_name(filename: str, module: object) -> str:
    """`trl/trainer/sft_trainer.py` for module `trl.trainer.sft_trainer`, wherever it lies."""
    parts = filename.replace("\\", "/").split("/")
    if not isinstance(module, str):
        return parts[-1]
    depth = module.count(".") + (2 if parts[-1] == "__init__.py" else 1)
    return "/".join(parts[-depth:])
