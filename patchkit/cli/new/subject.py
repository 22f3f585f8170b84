"""Find the function that a new patch is about, without importing its library."""

from __future__ import annotations

import ast
import difflib
import importlib.util
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ... import environment
from ...errors import UsageError
from ...matrix.scan.outline import bindings
from ...rewrite import FunctionSource, Target, functions_in_file
from ...text import short_list


@dataclass(frozen=True)
class Subject:
    """A function of an installed distribution; branches of its file may hold a definition each."""

    target: Target
    library: str
    version: str
    definitions: tuple[FunctionSource, ...]


def find(name: str) -> Subject:
    """Return the function of that name, `package.module:Class.method`.

    Raises:
        UsageError: there is none, or its source cannot be read; the message names similar ones.
    """
    try:
        target = Target.parse(name)
    except ValueError as error:
        raise UsageError(f"--target: {error}") from None
    if target.is_glob:
        raise UsageError("--target names one function; wildcards can be added to the patch later")
    if "<locals>" in target.qualname:
        outer = target.qualname.partition(".<locals>")[0]
        raise UsageError(f"--target names the outermost function, {target.module}:{outer}")
    file = _file(target)
    text = importlib.util.decode_source(file.read_bytes())
    short = environment.short_name(target.module, file)
    try:
        definitions = tuple(functions_in_file(text, short, lambda name: name == target.qualname))
    except SyntaxError as error:
        raise UsageError(f"this Python cannot parse {short}: {error}") from None
    if not definitions:
        raise UsageError(_missing_message(target, text))
    library, version = _distribution_of(target.package)
    return Subject(target, library, version, definitions)


def _file(target: Target) -> Path:
    file = environment.module_file(target.module)
    if file is not None:
        return file
    if environment.module_is_absent(target.package):
        from importlib.metadata import packages_distributions

        near = _near(target.package, packages_distributions())
        raise UsageError(f"--target: there is no package {target.package} installed here{near}")
    if not environment.module_is_absent(target.module):
        raise UsageError(f"--target: {target.module} has no Python source, so nothing to rewrite")
    modules = environment.modules_matching(f"{target.package}.*")
    raise UsageError(f"--target: there is no module {target.module}{_near(target.module, modules)}")


def _missing_message(target: Target, text: str) -> str:
    """Return the message for a module that does not define the function."""
    tree = ast.parse(text)
    names = _definitions(tree.body)
    outer = target.qualname.rpartition(".")[0]
    start = f"--target: {target.module} defines no {target.qualname}"
    if target.qualname in names:
        node = names[target.qualname]
        if isinstance(node, ast.ClassDef):
            methods = [method for method in names if method.startswith(f"{target.qualname}.")]
            return (
                f"--target: {target.qualname} is a class; name a method: {short_list(methods, 8)}"
            )
        return f"--target: {target} cannot be compiled by itself, so it cannot be rewritten"
    if isinstance(owner := names.get(outer), ast.ClassDef):
        methods = [method for method in names if method.rpartition(".")[0] == outer]
        bases = ", ".join(ast.unparse(base) for base in owner.bases)
        near = _near(target.qualname, methods, f"{outer}.")
        if not bases:
            return start + near
        end = "" if near else "."
        return f"{start}{near}{end} {outer} may inherit it from {bases}; name the class that does"
    elsewhere = _elsewhere(target)
    if elsewhere:
        return f"{start}, but {short_list(elsewhere)} does"
    return start + _near(target.qualname, names)


def _definitions(body: Iterable[ast.stmt], prefix: str = "") -> dict[str, ast.stmt]:
    nodes: dict[str, ast.stmt] = {}
    for name, node in bindings(body):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            nodes[prefix + name] = node
        if isinstance(node, ast.ClassDef):
            nodes.update(_definitions(node.body, f"{prefix}{name}."))
    return nodes


def _elsewhere(target: Target) -> list[str]:
    """List the same name in other modules of the package, of which this one may import it."""
    first = target.qualname.partition(".")[0]
    places = []
    for module in environment.modules_matching(f"{target.package}.*"):
        file = environment.module_file(module)
        text = file.read_text(encoding="utf-8", errors="replace") if file else ""
        if f"class {first}" not in text and f"def {first}" not in text:
            continue
        try:
            names = _definitions(ast.parse(text).body)
        except SyntaxError:
            continue
        if target.qualname in names:
            places.append(f"{module}:{target.qualname}")
    return places


def _near(name: str, names: Iterable[str], prefix: str = "") -> str:
    """Suggest similar names; a prefix that all share would make any two of them similar."""
    ends = [candidate.removeprefix(prefix) for candidate in names]
    near = difflib.get_close_matches(name.removeprefix(prefix), ends, n=3, cutoff=0.5)
    return f"; did you mean {' or '.join(prefix + end for end in near)}?" if near else ""


def _distribution_of(package: str) -> tuple[str, str]:
    """Return the distribution that a top-level package belongs to, and its version.

    Raises:
        UsageError: it belongs to none, so that a patch cannot name releases.
    """
    from importlib.metadata import packages_distributions

    # A package without a record of its distribution usually has its name.
    for name in [*packages_distributions().get(package, ()), package, package.replace("_", "-")]:
        version = environment.installed_version(name)
        if version is not None:
            return name, version
    raise UsageError(
        f"--target: the package {package} belongs to no installed distribution, and a patch says "
        "which releases of one it is for"
    )
