"""Read a script: follow its names through imports, assignments and its own functions."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

from ...legacy.call_sites import called
from ..errors import ScriptError
from . import kinship, neighbours
from .expressions import TRAINING, Expressions, literal
from .handing import initializer_of
from .results import instance_of, made_of
from .script import Given, OwnClass, Script, ScriptAttribute, ScriptCall, ScriptUse
from .values import Dictionary, Library, Made, Own, Scope, Several, Values, merged
from .versions_asked import catches, without_alternatives

_DEEPEST = 1
"""Modules that a module beside the script imports are read, and no others."""
_PASSES = 3
"""What goes into a function and comes out of it is known in the pass after."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_ENDING = frozenset({"exit", "quit"})
_LACKING = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


def read(text: str, folder: Path | None = None) -> Script:
    """Read a script, and the files of settings that it names.

    Args:
        text: its text.
        folder: where it lies; None if no file is to be read.

    Raises:
        ScriptError: it does not parse, or is nested too deeply.
    """
    script = _reader_of(text, folder).script
    if script.is_of_unsloth:
        script.calls = [call for call in script.calls if not _is_of_unsloth(call)]
    for found in (script.uses, script.calls, script.attributes, script.classes):
        found.sort(key=lambda place: (place.line, getattr(place.node, "col_offset", 0)))
    return script


def _reader_of(text: str, folder: Path | None, depth: int = 0) -> _ScriptReader:
    """Return a reader that has read a script, or a module that one imports."""
    tree = parsed(text)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    reader: _ScriptReader | None = None
    try:
        for _ in range(_PASSES):
            reader = _ScriptReader(Script(tree, parents=parents, folder=folder), reader, depth)
            reader.run()
    except RecursionError as error:
        raise ScriptError("an expression is nested too deeply to be read") from error
    assert reader is not None
    return reader


@lru_cache(maxsize=256)  # more than the modules of a package whose files import one another
def _neighbour(path: Path, changed: int, depth: int) -> _ScriptReader | None:
    """Return a reader of a module beside a script; None if it cannot be read."""
    try:
        return _reader_of(path.read_text(encoding="utf-8"), path.parent, depth + 1)
    except (OSError, UnicodeDecodeError, ScriptError):
        return None


def parsed(text: str) -> ast.Module:
    """Return the syntax tree of Python source.

    Raises:
        ScriptError: it does not parse.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in the script's texts
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        place = f"line {line}: " if line else ""
        reason = getattr(error, "msg", None) or str(error) or type(error).__name__
        advice = ""
        if "Missing parentheses in call to" in reason or "multiple exception types" in reason:
            reason, advice = "this is Python 2", "; run 2to3 over it first"
        raise ScriptError(f"{place}no Python source: {reason}{advice}") from error


def _is_of_unsloth(call: ScriptCall) -> bool:
    """Tell whether a call makes a trainer or configuration that Unsloth puts in TRL's place.

    They take what TRL's take or have taken, and more.
    """
    is_of_trl = call.name.startswith("trl.") and call.method == "__init__"
    return is_of_trl and not TRAINING.isdisjoint(kinship.ancestors(call.name))


@cache
def known_names() -> Mapping[str, frozenset[str]]:
    """Return the last parts of all names that the table speaks of, and the packages of each."""
    from ...legacy.changes import Gone, Moved, Owned
    from ...legacy.rows import all_rows

    names: dict[str, set[str]] = {}
    for row in all_rows():
        places = [row.name] if isinstance(row, Moved | Gone) else []
        places += row.owners if isinstance(row, Owned) else []
        for place in places:
            package, *parts = place.split(".")
            for part in parts:
                names.setdefault(part, set()).add(package)
    return {name: frozenset(packages) for name, packages in names.items()}


class _ScriptReader(Expressions):
    """One pass over the statements of a script, in the order in which they run.

    Args:
        script: what is found goes there.
        before: the pass before, which knows what functions get and return.
        depth: how many modules import one another until this one is imported.
    """

    def __init__(self, script: Script, before: _ScriptReader | None, depth: int = 0) -> None:
        super().__init__(script, known_names())
        self._before = before
        self._depth = depth
        self._waiting: list[tuple[ast.FunctionDef | ast.AsyncFunctionDef, Scope, OwnClass | None]]
        self._waiting = []
        self._optional = False
        if before is not None:
            self.returned = before.returned_now
            self.held = before.held
            self.handed.collected = before.handed.collected
            self.changed = before.changed
        self.returned_now: dict[ast.AST, Values] = {}

    def run(self) -> None:
        """Read the module, then the bodies of its functions."""
        self._block(self.script.tree.body)
        while self._waiting:
            waiting, self._waiting = self._waiting, []
            for node, outer, cls in waiting:
                self._body_of(node, outer, cls)

    def _block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            method = getattr(self, f"_on_{type(statement).__name__.lower()}", None)
            if method is not None:
                method(statement)
            else:
                self.evaluate(statement)
            if isinstance(statement, ast.If) and self._is_left_by(statement):
                return  # what follows is for older releases

    def _bind(self, name: str, values: Values) -> None:
        self.scope.names[name] = values
        self.script.bound.add(name)

    def _on_import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._use_import(alias.name, node, alias, module=True)
            for name, values in self._beside(alias.name).items():
                self.beside[f"{alias.name}.{name}"] = values
            if alias.asname:
                self._bind(alias.asname, (Library(alias.name),))
            else:
                top = alias.name.partition(".")[0]
                self._bind(top, (Library(top),))

    def _on_importfrom(self, node: ast.ImportFrom) -> None:
        beside = self._beside(node.module or "", node.level)
        for alias in node.names:
            if node.level or not node.module or node.module == "__future__":
                self._bind(alias.asname or alias.name, beside.get(alias.name, ()))
            elif alias.name == "*":
                self.stars.append(node.module)
                self._use_import(node.module, node, alias, module=True)
            else:
                name = f"{node.module}.{alias.name}"
                self._use_import(name, node, alias)
                bound = alias.asname or alias.name
                # The first import of a try is meant; others take over where it fails.
                present = self.scope.names.get(bound, ()) if self._optional else ()
                here = beside.get(alias.name, ())
                self._bind(bound, merged(present, (Library(name), *here)))

    def _beside(self, module: str, level: int = 0) -> Mapping[str, Values]:
        """Return what a module beside the script has; nothing if there is none."""
        folder = self.script.folder
        is_ours = module.partition(".")[0] in kinship.packages()
        if folder is None or not module or is_ours or self._depth > _DEEPEST:
            return {}
        path = neighbours.file_of(module, level, folder)
        reader = path and _neighbour(path, path.stat().st_mtime_ns, self._depth)
        if not path or not reader:
            return {}

        def of_script(values: Values) -> Values:
            return neighbours.handed(values, path.name, reader._entries)

        for node, values in reader.returned_now.items():
            self.returned[node] = of_script(values)
        return {name: of_script(values) for name, values in reader.scope.names.items()}

    def _use_import(self, name: str, node: ast.AST, alias: ast.alias, module: bool = False) -> None:
        line = getattr(alias, "lineno", 0)
        self.script.uses.append(ScriptUse(name, line, node, alias, module, self._optional))

    def _on_assign(self, node: ast.Assign) -> None:
        values = self.evaluate(node.value)
        for target in node.targets:
            self._assign(target, values, node.value)

    def _on_annassign(self, node: ast.AnnAssign) -> None:
        classes = self.evaluate(node.annotation)
        values = self.evaluate(node.value)
        if node.value is None:
            values = tuple(made for cls in classes for made in instance_of(cls))
        self._assign(node.target, values, node.value)

    def _on_augassign(self, node: ast.AugAssign) -> None:
        self.evaluate(node.value)
        self._assign(node.target, (), None)

    def _assign(self, target: ast.expr, values: Values, node: ast.expr | None) -> None:
        if isinstance(target, ast.Name):
            self._bind(target.id, values)
        elif isinstance(target, ast.Starred):
            self._assign(target.value, (), None)
        elif isinstance(target, ast.Tuple | ast.List):
            found = next((value for value in values if isinstance(value, Several)), None)
            starred = any(isinstance(element, ast.Starred) for element in target.elts)
            for position, element in enumerate(target.elts):
                known: Values = ()
                if found is not None and not starred and position < len(found.elements):
                    known = found.elements[position]
                self._assign(element, known, None)
        elif isinstance(target, ast.Attribute):
            for value in self.evaluate(target.value):
                of_class = isinstance(value, Library)
                if isinstance(value, Made):
                    self.hold(value, target.attr, values)
                if isinstance(value, Made) or (of_class and kinship.is_class(value.name)):
                    given = None
                    if node is not None:
                        given = Given(node.lineno, node, literal(node), values)
                    owner = value.name if of_class else value.class_name
                    place = ScriptAttribute(
                        owner, target.attr, target.lineno, target, True, given, of_class=of_class
                    )
                    self.script.attributes.append(place)
        elif isinstance(target, ast.Subscript):
            for value in self.evaluate(target.value):
                if isinstance(value, Dictionary):
                    self.changed.add(id(value.node))
            parent = self.script.parents.get(target)
            if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
                self.add_part(target.value, parent)
            self.evaluate(target.slice)

    def _is_left_by(self, node: ast.If) -> bool:
        """Tell whether nothing after a condition runs today: it holds, and its block ends so."""
        last = node.body[-1]
        return isinstance(last, ast.Return | ast.Raise) and not self.branches_read(node.test)[1]

    def _on_if(self, node: ast.If) -> None:
        self.evaluate(node.test)
        before = dict(self.scope.names)
        holds, fails = self.branches_read(node.test)
        self._block(node.body if holds else [])
        after, self.scope.names = self.scope.names, before
        self._block(node.orelse if fails else [])
        self.scope.after(after, self.scope.names)

    def _on_for(self, node: ast.For | ast.AsyncFor) -> None:
        self.evaluate(node.iter)
        self._assign(node.target, (), None)
        self._loop(node)

    _on_asyncfor = _on_for

    def _on_while(self, node: ast.While) -> None:
        self.evaluate(node.test)
        self._loop(node)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While) -> None:
        before = dict(self.scope.names)
        self._block([*node.body, *node.orelse])
        self.scope.after(before, self.scope.names)

    def _on_with(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            values = self.evaluate(item.context_expr)
            if item.optional_vars is not None:
                self._assign(item.optional_vars, values, None)
        self._block(node.body)

    _on_asyncwith = _on_with

    def _on_try(self, node: ast.Try) -> None:
        before = dict(self.scope.names)
        outer = self._optional
        self._optional = outer or any(_catches_lacking(handler) for handler in node.handlers)
        self._block(node.body)
        self._optional = outer
        self._block(node.orelse)
        branches = [self.scope.names]
        for handler in node.handlers:
            self.scope.names = dict(before)
            self.evaluate(handler.type)
            if handler.name:
                self._bind(handler.name, ())
            self._block(handler.body)
            branches.append(self.scope.names)
        self.scope.after(*branches)
        self._block(node.finalbody)
        self.script.calls[:] = without_alternatives(self.script.calls, node)

    _on_trystar = _on_try

    def _on_match(self, node: ast.Match) -> None:
        self.evaluate(node.subject)
        before, branches = self.scope.names, [dict(self.scope.names)]
        for case in node.cases:
            self.scope.names = dict(before)
            self._block(case.body)
            branches.append(self.scope.names)
        self.scope.after(*branches)

    def _on_functiondef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for part in (*node.decorator_list, *node.args.defaults, *node.args.kw_defaults):
            self.evaluate(part)
        self._bind(node.name, (Own(node),))
        self._waiting.append((node, self.scope, None))

    _on_asyncfunctiondef = _on_functiondef

    def _on_return(self, node: ast.Return) -> None:
        self.scope.returned = merged(self.scope.returned, self.evaluate(node.value))

    def _body_of(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, outer: Scope, cls: OwnClass | None
    ) -> None:
        around, self.scope = self.scope, Scope(outer)
        outer_class, self.method_of = self.method_of, cls or self.method_of
        passed = {} if self._before is None else dict(self._before.handed.passed.get(node, {}))
        if cls is not None and node.args.args:
            passed[node.args.args[0].arg] = (made_of(cls),)
        self._parameters(node.args, passed)
        self.evaluate(node.returns)
        self._block(node.body)
        self.returned_now[node] = self.scope.returned
        self.scope, self.method_of = around, outer_class

    def _on_classdef(self, node: ast.ClassDef) -> None:
        for part in (*node.decorator_list, *(keyword.value for keyword in node.keywords)):
            self.evaluate(part)
        bases = [value for base in node.bases for value in self.evaluate(base)]
        ancestors: list[str] = []
        fields: dict[str, ast.AnnAssign] = {}
        own = initializer_of(node)
        constructors = [] if own is None else [own]
        methods = {each.name for each in node.body if isinstance(each, _FUNCTIONS)}
        for base in bases:
            if isinstance(base, Library) and kinship.is_class(base.name):
                ancestors += [base.name, *kinship.ancestors(base.name)]
            elif isinstance(base, Own) and base.cls is not None:
                ancestors += base.cls.ancestors
                fields |= base.cls.fields
                constructors += base.cls.constructors
                methods |= base.cls.methods
        fields |= fields_of(node)
        unique = tuple(dict.fromkeys(ancestors)) or (node.name,)
        cls = OwnClass(
            node.name, node.lineno, unique, fields, node, tuple(constructors), frozenset(methods)
        )
        self.script.classes.append(cls)
        self._bind(node.name, (Own(node, cls),))
        outer, self.scope = self.scope, Scope(self.scope)
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                for part in (*statement.decorator_list, *statement.args.defaults):
                    self.evaluate(part)
                self._waiting.append((statement, outer, cls))
            else:
                self._block([statement])
        self.scope = outer


def fields_of(node: ast.AST) -> dict[str, ast.AnnAssign]:
    """Return the fields with a type that the body of a class has, by name."""
    return {
        statement.target.id: statement
        for statement in getattr(node, "body", ())
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
    }


def _catches_lacking(handler: ast.ExceptHandler) -> bool:
    """Tell whether a script goes on if a name is missing, and does not only say so."""
    last = handler.body[-1]
    ending = last.value if isinstance(last, ast.Expr) else None
    if isinstance(last, ast.Raise) or (isinstance(ending, ast.Call) and called(ending) in _ENDING):
        return False
    return catches(handler, _LACKING)
