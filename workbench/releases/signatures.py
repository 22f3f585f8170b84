"""Read the keywords of a class or function, with their defaults as they are written."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from patchkit.rewrite.locate import FunctionNode

from .sources import FoundDefinition, Sources

Keywords = dict[str, str]
"""Keyword to its default as written; `REQUIRED` if there is none, `HIDDEN` if it is accepted
without being in the signature."""

REQUIRED = "<none>"
HIDDEN = "<accepted>"
ANY = "*"
"""Stands among the classes whose keywords are taken, if any other keyword is taken, too."""
_TAKES = frozenset({"pop", "get"})


def keywords(sources: Sources, found: FoundDefinition) -> Keywords:
    """Return the keywords that calling a class or function takes.

    Args:
        sources: a release.
        found: the class or function. Base classes in other libraries are left out.
    """
    if not isinstance(found.node, ast.ClassDef):
        return _of_function(found.node)
    return _of_class(sources, found, frozenset())


def method_keywords(sources: Sources, found: FoundDefinition, name: str) -> Keywords | None:
    """Return the keywords of a method that a class or its bases define; None if none does."""
    if not isinstance(found.node, ast.ClassDef):
        return None
    method = _method(found.node, name)
    if method is not None:
        return _of_method(method)
    for base in _bases(sources, found):
        inherited = method_keywords(sources, base, name)
        if inherited is not None:
            return inherited
    return None


def taken_from(sources: Sources, found: FoundDefinition) -> list[str]:
    """Return the classes whose keywords a class or function takes beside those of `keywords`.

    Args:
        sources: a release.
        found: the class or function.

    Returns:
        classes of other libraries, as `transformers.TrainingArguments`; `ANY` where the rest is
        not known.
    """
    if not isinstance(found.node, ast.ClassDef):
        return [ANY] if found.node.args.kwarg is not None else []
    return list(dict.fromkeys(_taken_by_class(sources, found, frozenset())))


def _taken_by_class(
    sources: Sources, found: FoundDefinition, seen: frozenset[tuple[str, str]]
) -> Iterator[str]:
    assert isinstance(found.node, ast.ClassDef)
    identity = found.module, found.node.name
    constructor = _method(found.node, "__init__")
    if identity in seen or (constructor is not None and constructor.args.kwarg is None):
        return
    is_dataclass = constructor is None and any(
        _last_name(decorator) == "dataclass" for decorator in found.node.decorator_list
    )
    if constructor is not None:
        yield ANY
    for base in found.node.bases:
        name = _last_name(base)
        known = sources.find(found.module, name) if isinstance(base, ast.Name) else None
        if known is not None and isinstance(known.node, ast.ClassDef):
            yield from _taken_by_class(sources, known, seen | {identity})
            continue
        imported = sources.imported_from(found.module, name)
        if imported:
            yield f"{imported.partition('.')[0]}.{imported.rpartition('.')[2]}"
        elif not is_dataclass:
            yield ANY


def _of_class(
    sources: Sources, found: FoundDefinition, seen: frozenset[tuple[str, str]]
) -> Keywords:
    assert isinstance(found.node, ast.ClassDef)
    identity = found.module, found.node.name
    if identity in seen:
        return {}
    inherited: Keywords = {}
    for base in reversed(_bases(sources, found)):
        inherited.update(_of_class(sources, base, seen | {identity}))
    constructor = _method(found.node, "__init__")
    if constructor is not None:
        own = _of_method(constructor)
        return {**inherited, **own} if constructor.args.kwarg is not None else own
    if any(_last_name(decorator) == "dataclass" for decorator in found.node.decorator_list):
        return {**inherited, **dict(_fields(found.node))}
    return inherited


def _bases(sources: Sources, found: FoundDefinition) -> list[FoundDefinition]:
    assert isinstance(found.node, ast.ClassDef)
    names = [base.id for base in found.node.bases if isinstance(base, ast.Name)]
    bases = [sources.find(found.module, name) for name in names]
    return [base for base in bases if base is not None and isinstance(base.node, ast.ClassDef)]


def _method(node: ast.ClassDef, name: str) -> FunctionNode | None:
    methods = [
        part
        for part in ast.walk(node)
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) and part.name == name
    ]
    direct = [method for method in methods if method in node.body]
    return next(reversed(direct or methods), None)


def _of_method(node: FunctionNode) -> Keywords:
    first = next(iter([*node.args.posonlyargs, *node.args.args]), None)
    known = _of_function(node)
    if first is not None and not _is_static(node):
        known.pop(first.arg, None)
    return known


def _is_static(node: FunctionNode) -> bool:
    return any(_last_name(decorator) == "staticmethod" for decorator in node.decorator_list)


def _of_function(node: FunctionNode) -> Keywords:
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    missing = len(positional) - len(arguments.defaults)
    defaults: list[ast.expr | None] = [None] * missing + [*arguments.defaults]
    known = {
        parameter.arg: _text(default)
        for parameter, default in [
            *zip(positional, defaults, strict=True),
            *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
        ]
    }
    for name in [*_kept_by_decorators(node), *_taken_from_rest(node)]:
        known.setdefault(name, HIDDEN)
    return known


def _kept_by_decorators(node: FunctionNode) -> Iterator[str]:
    """Yield the old keywords that `deprecate_kwarg` still takes."""
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and _last_name(decorator.func) == "deprecate_kwarg":
            old = decorator.args[:1] or [
                keyword.value for keyword in decorator.keywords if keyword.arg == "old_name"
            ]
            yield from (str(literal.value) for literal in old if isinstance(literal, ast.Constant))


def _taken_from_rest(node: FunctionNode) -> Iterator[str]:
    """Yield the keywords that a function takes out of its `**kwargs`."""
    rest = node.args.kwarg
    if rest is None:
        return
    for part in ast.walk(node):
        if (
            isinstance(part, ast.Call)
            and isinstance(part.func, ast.Attribute)
            and part.func.attr in _TAKES
            and isinstance(part.func.value, ast.Name)
            and part.func.value.id == rest.arg
            and part.args
            and isinstance(part.args[0], ast.Constant)
        ):
            yield str(part.args[0].value)


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """Yield the fields of a dataclass."""
    for statement in node.body:
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        if "ClassVar" in ast.unparse(statement.annotation):
            continue
        if (default := _field_default(statement.value)) is not None:
            yield statement.target.id, default


def _field_default(value: ast.expr | None) -> str | None:
    """Return the default of a field; None if the constructor does not take it."""
    if not (isinstance(value, ast.Call) and _last_name(value.func) == "field"):
        return _text(value)
    given = {keyword.arg: keyword.value for keyword in value.keywords}
    init = given.get("init")
    if isinstance(init, ast.Constant) and init.value is False:
        return None
    factory = given.get("default_factory")
    if isinstance(factory, ast.Lambda):
        return _text(factory.body)
    return f"{ast.unparse(factory)}()" if factory is not None else _text(given.get("default"))


def _text(default: ast.expr | None) -> str:
    return REQUIRED if default is None else ast.unparse(default)


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
