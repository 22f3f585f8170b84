"""Gather the facts for a new patch: its function, its site and the installed version."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from ...errors import UsageError
from ...rewrite import FunctionSource, Target
from ...rewrite.codes import nested_codes
from ...rewrite.names import local_names
from . import choosing
from .subject import Subject

_MOST_NAMES = 4


class NoSiteChosen(UsageError):
    """Neither line nor code says which statement the patch is about.

    `statements` has lines and code of those that it may be: all, or some of a long function.
    """

    def __init__(self, source: FunctionSource) -> None:
        everything = choosing.statements(source)
        some = choosing.candidates(everything)
        self.statements = [(node.lineno, source.lines[node.lineno - 1].strip()) for node in some]
        all_of_them = len(some) == len(everything)
        which = "its statements are" if all_of_them else "those that mention precision are"
        super().__init__(
            f"choose a statement of {source.qualname} with --line or --find; {which} listed above"
        )


@dataclass(frozen=True)
class Draft:
    """A new patch.

    Args:
        id: its id.
        target: the function that it fixes.
        library: the distribution of that function.
        since: the installed version, the only one known to be affected.
        where: the place of the function, or of the site in it, for people.
        site: the site to rewrite; None if the function is wrapped.
        parameters: the parameters of the function, less `self`.
    """

    id: str
    target: Target
    library: str
    since: str
    where: str
    site: choosing.Site | None
    parameters: tuple[str, ...]


def draft(
    patch_id: str,
    subject: Subject,
    *,
    line: int | None = None,
    find: str | None = None,
    wrap: bool = False,
) -> Draft:
    """Draft a new patch.

    Raises:
        NoSiteChosen: neither line nor code is given.
        UsageError: the arguments do not name one site.
    """
    from packaging.version import Version

    source = _definition(subject, line, find)
    if sum((line is not None, find is not None, wrap)) > 1:
        raise UsageError("--line, --find and --wrap exclude each other")
    site = None if wrap else _with_names(source, _site(source, line, find))
    return Draft(
        patch_id,
        subject.target,
        subject.library,
        Version(subject.version).public,
        f"{source.name}, line {site.line if site else source.node.lineno}",
        site,
        _parameters(source.node),
    )


def _definition(subject: Subject, line: int | None, find: str | None) -> FunctionSource:
    """Choose a definition, if several branches of the module define the function."""
    matching = [
        definition
        for definition in subject.definitions
        if (line is None or definition.first <= line <= definition.last)
        and (find is None or choosing.contains(definition, find))
    ]
    if len(matching) == 1 or len(subject.definitions) == 1:
        return (matching or subject.definitions)[0]
    lines = ", ".join(str(definition.node.lineno) for definition in subject.definitions)
    raise UsageError(f"{subject.target} is defined at lines {lines}; choose one with --line")


def _site(source: FunctionSource, line: int | None, find: str | None) -> choosing.Site:
    if line is not None:
        return choosing.at_line(source, line)
    if find is not None:
        return choosing.with_code(source, find)
    raise NoSiteChosen(source)


def _with_names(source: FunctionSource, site: choosing.Site) -> choosing.Site:
    """Return a site with the identifiers in its pattern by which the function is recognized."""
    known = {name for code in nested_codes(source.code) for name in code.co_names}
    local = local_names(source.code)
    mentioned = [
        node.attr if isinstance(node, ast.Attribute) else node.id
        for node in ast.walk(ast.parse(site.pattern))
        if isinstance(node, ast.Attribute) or (isinstance(node, ast.Name) and node.id not in local)
    ]
    names = [name for name in dict.fromkeys(mentioned) if name in known]
    return replace(site, names=tuple(names[:_MOST_NAMES]))


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...]:
    arguments = node.args
    names = [
        parameter.arg
        for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    ]
    return tuple(name for name in names if name not in ("self", "cls"))
