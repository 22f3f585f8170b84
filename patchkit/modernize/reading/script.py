"""What a script names of the libraries, as data."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Holder = ast.Dict | ast.Call | ast.Assign
"""What gives entries to a dictionary."""
_UNSLOTH = "unsloth"
_UNNAMED = frozenset({"", "__init__", "__call__"})
"""Methods that no script names."""


@dataclass(frozen=True)
class ScriptUse:
    """A library's name in a script.

    Args:
        name: with dots, as the library has it: `trl.SFTTrainer`, whatever the script calls it.
        line: where it stands, from 1.
        node: an import statement, a name or an attribute.
        alias: the part of an import statement that it comes from; None elsewhere.
        module: whether a statement imports a module of that name.
        optional: whether an `except ImportError` takes over if it is missing.
    """

    name: str
    line: int
    node: ast.AST
    alias: ast.alias | None = None
    module: bool = False
    optional: bool = False


@dataclass(frozen=True)
class Given:
    """An argument.

    Args:
        line: where it stands.
        node: its value.
        value: that value; `UNKNOWN` if it is not a literal.
        values: what it may be, as far as the script tells.
        holder: the dictionary, call of `dict` or of its `update`, or assignment to an item, that it
            comes from by `**`; None for an argument of the call itself.
        keyword: the argument in its call; None by position and in a dictionary in braces.
        file: the file of settings that it comes from by `**`; empty for others.
    """

    line: int
    node: ast.expr
    value: Any
    values: tuple[Any, ...] = ()
    holder: Holder | None = None
    keyword: ast.keyword | None = None
    file: str = ""


@dataclass(frozen=True)
class OwnClass:
    """A class of the script's own.

    Args:
        ancestors: the public names of the library's classes that it derives from; its own name if
            there are none.
        fields: its own fields with a type, and those of its own ancestors.
        constructors: its own constructor and those of its own ancestors, the nearest first.
        methods: the names of its own methods and of those of its own ancestors.
    """

    name: str
    line: int
    ancestors: tuple[str, ...]
    fields: Mapping[str, ast.AnnAssign]
    node: ast.ClassDef
    constructors: tuple[ast.FunctionDef, ...] = ()
    methods: frozenset[str] = frozenset()

    def takes(self, keyword: str) -> bool:
        """Tell whether a keyword of a call is for the script's own class, not the library's."""
        for constructor in self.constructors:
            args = constructor.args
            named = {each.arg for each in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
            if keyword in named or not _hands_on(constructor):
                return True
        return keyword in self.fields


def _hands_on(constructor: ast.FunctionDef) -> bool:
    """Tell whether a constructor gives another one what it gets by `**`."""
    name = constructor.args.kwarg.arg if constructor.args.kwarg is not None else ""
    return any(
        isinstance(call, ast.Call)
        and getattr(call.func, "attr", "") == "__init__"
        and any(
            part.arg is None and getattr(part.value, "id", None) == name for part in call.keywords
        )
        for call in ast.walk(constructor)
    )


@dataclass(frozen=True)
class ScriptCall:
    """A call of a library's class or function, or of a method.

    Args:
        name: what is called, with dots: `trl.SFTTrainer`, `transformers.AutoModel`. For a method
            of an object, the class.
        method: `__init__`, or the name of the method. Empty for a function.
        keywords: by name, those from dictionaries too.
        positional: the arguments by position.
        complete: False if there are `*` or `**` whose content is not known.
        own: the script's own class, if that is what is called.
    """

    name: str
    method: str
    line: int
    node: ast.Call
    keywords: Mapping[str, Given]
    positional: Sequence[Given]
    complete: bool = True
    own: OwnClass | None = None

    @property
    def title(self) -> str:
        """What is called, in short: `SFTTrainer`, `PreTrainedModel.generate`."""
        last = self.name.rpartition(".")[2]
        return last if self.method in _UNNAMED else f"{last}.{self.method}"


@dataclass(frozen=True)
class ScriptAttribute:
    """An attribute of an object whose class is known.

    Args:
        owner: the class, with dots.
        is_set: whether the script gives it a value.
        given: that value, if it stands alone.
        made_by: the call that made the object, if the script shows it.
        of_class: whether it is an attribute of the class itself.
    """

    owner: str
    name: str
    line: int
    node: ast.Attribute
    is_set: bool = False
    given: Given | None = None
    made_by: ScriptCall | None = None
    of_class: bool = False


@dataclass
class Script:
    """What a script names of the libraries.

    Args:
        attributes: attributes of objects, in the same order.
        own_fields: those that are fields of the script's own classes.
        classes: the script's own.
        parents: each node to the one that it is a part of.
        own_calls: calls of functions of its own or of modules beside it, and these.
        bound: all names that the script gives a meaning to.
        folder: where the script lies, with the files that it reads; None if that is not known.
    """

    tree: ast.Module
    uses: list[ScriptUse] = field(default_factory=list)
    calls: list[ScriptCall] = field(default_factory=list)
    attributes: list[ScriptAttribute] = field(default_factory=list)
    own_fields: list[ScriptAttribute] = field(default_factory=list)
    classes: list[OwnClass] = field(default_factory=list)
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)
    own_calls: dict[ast.AST, ast.AST] = field(default_factory=dict)
    bound: set[str] = field(default_factory=set)
    folder: Path | None = None

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the nodes that a node is part of, the innermost first."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def has_meaning(self, name: str) -> bool:
        """Tell whether Python or the script itself gives a name a meaning."""
        return name in self.bound or hasattr(builtins, name)

    @property
    def is_of_unsloth(self) -> bool:
        """Whether it imports Unsloth, which puts trainers of its own in the place of TRL's."""
        return any(
            use.node in self.tree.body and not use.optional
            for use in self.uses
            if use.name.partition(".")[0] == _UNSLOTH
        )

    def asks_first(self, node: ast.Attribute) -> bool:
        """Tell whether `hasattr` has been asked for an attribute before it is read."""
        inner: ast.AST = node
        while (outer := self.parents.get(inner)) is not None:
            asked: Sequence[ast.expr] = ()
            if isinstance(outer, ast.If | ast.IfExp):
                body = outer.body if isinstance(outer.body, list) else [outer.body]
                asked = (outer.test,) if inner in body else ()
                if not asked and inner is not outer.test and _asks_for_another(outer.test, node):
                    return True
            elif isinstance(outer, ast.BoolOp) and isinstance(outer.op, ast.And):
                asked = outer.values[: outer.values.index(inner)]  # type: ignore[arg-type]
            if any(_asks_for(test, node) for test in asked):
                return True
            inner = outer
        return False


def _asks_for_another(test: ast.expr, node: ast.Attribute) -> bool:
    """Tell whether a condition asks whether the same object has an attribute of another release."""
    return (
        isinstance(test, ast.Call)
        and isinstance(test.func, ast.Name)
        and test.func.id == "hasattr"
        and ast.dump(test.args[0]) == ast.dump(node.value)
        and getattr(test.args[1], "value", node.attr) != node.attr
    )


def _asks_for(test: ast.expr, node: ast.Attribute) -> bool:
    """Tell whether a condition that holds has asked for an attribute."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(_asks_for(value, node) for value in test.values)
    return ast.dump(test) == ast.dump(
        ast.Call(ast.Name("hasattr", ast.Load()), [node.value, ast.Constant(node.attr)], [])
    )
