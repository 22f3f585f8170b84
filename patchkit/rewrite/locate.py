"""Find the source text and the syntax tree of a live function, or of those in a file."""

from __future__ import annotations
import __future__

import ast
import linecache
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import CodeType, FunctionType
from typing import NamedTuple

from .bytecode import module_code
from .codes import nested_codes
from .compile import Context
from .edit import split_lines
from .errors import Drift
from .match import Matcher, find

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef

_FUTURE_FLAGS = 0
for _feature in __future__.all_feature_names:
    _FUTURE_FLAGS |= getattr(__future__, _feature).compiler_flag

_IMPORT = re.compile(r"([ \t\f]*)(?:from[ \t]+\S+[ \t]+)?import[ \t]+(\([^)]*\)|(?:\\\n|[^\n;])*)")
_WORD_IMPORT = re.compile(r"import[ \t]")
_SCOPE = re.compile(r"[ \t\f]*(?:def|class|async[ \t]+def)[ \t]")
_COMMENT = re.compile(r"#[^\n]*")


class FunctionSource(NamedTuple):
    """One function as it stands in its file.

    Args:
        name: short name of the file, for people: `trl/trainer/sft_trainer.py`.
        lines: all lines of the file, each with its newline.
        last: number of the function's last line, from 1.
        context: what surrounds the function.
        node: the syntax tree of the function; positions are those of the file.
        code: the function compiled unchanged.
        tree: the syntax tree that `context` gives, with the function in it.
        known_sites: what `sites` has found.
    """

    name: str
    lines: tuple[str, ...]
    last: int
    context: Context
    node: FunctionNode
    code: CodeType
    tree: ast.Module
    known_sites: dict[Matcher, list[ast.AST]]

    @property
    def qualname(self) -> str:
        return self.context.qualname

    @property
    def first(self) -> int:
        """Number of the function's first line, its first decorator, from 1."""
        return self.context.first

    def sites(self, matcher: Matcher) -> list[ast.AST]:
        """Return the nodes of the function that match; looked for once."""
        if matcher not in self.known_sites:
            self.known_sites[matcher] = list(find(self.node, matcher))
        return self.known_sites[matcher]

    @classmethod
    def of_function(cls, function: FunctionType) -> FunctionSource:
        """Return the source of a live function, checked against the code that runs.

        Raises:
            Drift: there is no source, or the running code was not compiled from it.
        """
        code = function.__code__
        lines = linecache.getlines(code.co_filename, function.__globals__)
        if not lines:
            raise Drift(f"there is no source for {function.__qualname__} ({code.co_filename})")
        file = _file(code.co_filename, lines)
        context = Context(
            function.__qualname__,
            code.co_firstlineno,
            code.co_freevars,
            code.co_flags & _FUTURE_FLAGS,
            file.imports,
        )
        name = short_name(code.co_filename, function.__globals__.get("__name__"))
        source = None
        if code.co_firstlineno <= len(lines):
            source = _locate(name, file.lines, _last_line(lines, code), context, code)
            if source is None:
                last = _parse_last_line(file.lines, context)
                source = _locate(name, file.lines, last, context, code) if last else None
        if source is None or not file.compiles_to(source):
            raise Drift(
                f"the code of {function.__qualname__} that runs is not what its file holds: the "
                "file changed since it was imported, or another tool rewrote the function"
            )
        return source


class _SourceFile(NamedTuple):
    """A file as `linecache` holds it, and its module's code if a trusted bytecode file has it."""

    lines: tuple[str, ...]
    imports: tuple[str, ...]
    module: CodeType | None

    def compiles_to(self, located: FunctionSource) -> bool:
        """Tell whether the code of a function is what its text compiles to."""
        context, code = located.context, located.code
        return (
            (self.module is not None and context.find(self.module) == code)
            or _compile(located.tree, context) == code
            or _is_compiled_from(self.lines, context, code)
        )


_files: dict[str, tuple[list[str], _SourceFile]] = {}
_MOST_FILES = 64


def _file(filename: str, lines: list[str]) -> _SourceFile:
    """Describe a file, once for all of its functions until `forget_files`."""
    # A file that changed has another list of lines.
    known = _files.get(filename)
    if known is None or known[0] is not lines:
        if len(_files) >= _MOST_FILES:
            forget_files()
        copied = tuple(lines)
        file = _SourceFile(copied, _imported_names(copied), module_code(filename))
        known = _files[filename] = lines, file
    return known[1]


def forget_files() -> None:
    """Forget the files that functions were found in."""
    _files.clear()


def functions_in_file(
    text: str, name: str, wanted: Callable[[str], bool] | None = None
) -> Iterator[FunctionSource]:
    """Yield the functions and methods of a file, without importing it.

    A function inside a function that binds names of the outer one with `nonlocal` is left out.

    Args:
        text: the content of the file.
        name: short name of the file, for people.
        wanted: returns whether to yield a function, from its qualified name; None yields all.

    Raises:
        SyntaxError: this Python cannot parse the file.
    """
    lines = tuple(split_lines(text.removeprefix("\ufeff")))
    tree = ast.parse("".join(lines))
    flags = _future_flags(tree)
    imports = _imported_names(lines)
    for qualname, node in walk_functions(tree.body):
        if wanted is not None and not wanted(qualname):
            continue
        last = node.end_lineno or node.lineno
        context = Context(qualname, first_line(node), (), flags, imports)
        located = _locate(name, lines, last, context)
        if located is not None:
            yield located


def _locate(
    name: str, lines: tuple[str, ...], last: int, context: Context, code: CodeType | None = None
) -> FunctionSource | None:
    """Return a function in the lines of its file; it is compiled if its code is not given."""
    try:
        tree = context.parse("".join(lines[context.first - 1 : last]))
    except SyntaxError:
        return None
    node = function_at(tree, context)
    code = code or _compile(tree, context)
    if node is None or code is None:
        return None
    return FunctionSource(name, lines, node.end_lineno or last, context, node, code, tree, {})


def _compile(tree: ast.Module, context: Context) -> CodeType | None:
    try:
        return context.compile(tree, f"<{context.qualname}>")
    except SyntaxError:
        return None


def _is_compiled_from(lines: Sequence[str], context: Context, code: CodeType) -> bool:
    """Compile the whole file and look for exactly this code: slow, but certain."""
    try:
        module = compile("".join(lines), code.co_filename, "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return context.find(module) == code


def _last_line(lines: Sequence[str], code: CodeType) -> int:
    """Return the last line of a function whose code is known.

    Much quicker than tokenizing the block: the code object tells the last line that compiles to
    something; what may follow are closing brackets, comments and blank lines. Too few lines do not
    parse, since only a string or a bracket goes on so far to the left.
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
    lines = (line for inner in nested_codes(code) for _, _, line in inner.co_lines() if line)
    return max(lines, default=code.co_firstlineno)


def _parse_last_line(lines: Sequence[str], context: Context) -> int | None:
    """Return the last line of a function, by parsing the whole file."""
    try:
        node = function_at(ast.parse("".join(lines)), context)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return node.end_lineno if node else None


def _indentation(line: str) -> int:
    """Return the column at which a line begins, as the tokenizer counts them."""
    space = line[: len(line) - len(line.lstrip(" \t\f"))]
    return len(space.rpartition("\f")[2].expandtabs())


def _imported_names(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the names that the module itself imports, without parsing the whole file."""
    names: dict[str, None] = {}
    text = "".join(lines)
    end = number = counted = 0
    # The word first: a search for it takes a tenth of the time.
    for word in _WORD_IMPORT.finditer(text):
        begin = text.rfind("\n", 0, word.start()) + 1
        statement = _IMPORT.match(text, begin)
        if begin < end or statement is None:
            continue
        end = statement.end()
        indent, imported = statement.groups()
        number += text.count("\n", counted, begin)
        counted = begin
        if indent and not _is_at_module_level(lines, number):
            continue
        for alias in _COMMENT.sub("", imported).strip("()").replace("\\\n", " ").split(","):
            name = alias.split(" as ")[-1].strip().partition(".")[0]
            if name.isidentifier():
                # Python normalizes identifiers in the same way.
                names[name if name.isascii() else unicodedata.normalize("NFKC", name)] = None
    return tuple(names)


def _is_at_module_level(lines: Sequence[str], number: int) -> bool:
    """Tell whether a line lies outside functions and classes, perhaps under `if` or `try`."""
    above = map(lines.__getitem__, range(number - 1, -1, -1))
    outermost = next((line for line in above if line[0] not in " \t\n"), "")
    if _SCOPE.match(outermost):
        return False  # where most are that are indented
    indent = _indentation(lines[number])
    while indent and number:
        number -= 1
        line = lines[number]
        if line.strip() and _indentation(line) < indent:
            if _SCOPE.match(line):
                return False
            indent = _indentation(line)
    return True


def first_line(node: ast.stmt) -> int:
    """Return the number of a statement's first decorator's line, or of its own, from 1."""
    decorators: Sequence[ast.expr] = getattr(node, "decorator_list", ())
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def function_at(tree: ast.AST, context: Context) -> FunctionNode | None:
    """Return the function that a context is about, in a tree."""
    for node in ast.walk(tree):
        if (
            isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            and node.name == context.name
            and first_line(node) == context.first
        ):
            return node
    return None


def walk_functions(
    body: Iterable[ast.stmt], prefix: str = ""
) -> Iterator[tuple[str, FunctionNode]]:
    """Yield all functions, those inside others included, each with its qualified name.

    Code under `if`, `try`, `with`, `match` or in a loop counts, whether or not it would run.
    """
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield f"{prefix}{node.name}", node
            yield from walk_functions(node.body, f"{prefix}{node.name}.<locals>.")
        elif isinstance(node, ast.ClassDef):
            yield from walk_functions(node.body, f"{prefix}{node.name}.")
        else:
            for field in ("body", "orelse", "finalbody"):
                yield from walk_functions(getattr(node, field, []), prefix)
            for branch in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                yield from walk_functions(branch.body, prefix)


def _future_flags(tree: ast.Module) -> int:
    flags = 0
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            for alias in node.names:
                flags |= getattr(__future__, alias.name).compiler_flag
    return flags


def short_name(filename: str, module: object) -> str:
    """Return `trl/trainer/sft_trainer.py` for `trl.trainer.sft_trainer`, wherever that lies."""
    parts = filename.replace("\\", "/").split("/")
    if not isinstance(module, str):
        return parts[-1]
    depth = module.count(".") + (2 if parts[-1] == "__init__.py" else 1)
    return "/".join(parts[-depth:])
