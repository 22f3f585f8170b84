"""Gather the facts in the text of one module, for any release and any patch."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ...patch import Wrap
from ...rewrite import Drift, FunctionSource, Rule, edited_code, find
from ...rewrite.misfit import missing_parameters
from . import outline
from .parsed import ParsedModule, has_words
from .questions import Question, Questions, Search


@dataclass(frozen=True)
class BuggyFunction:
    """A function with sites of one rule; a function inside another is part of that one.

    Args:
        rule: key of the rule.
        qualname: its qualified name.
        sites: number of sites.
        problem: why they cannot be edited; empty where they can.
        missing: names that the edited code needs of its module and that it does not have.
    """

    rule: str
    qualname: str
    sites: int
    problem: str = ""
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Facts:
    """The facts of one module.

    Args:
        functions: those with sites.
        targets: key of each change that names a callable in this module, to the reason why it is
            not there as expected; empty where it is.
        unread: why the file cannot be parsed.
        unknown: if it cannot be parsed, the keys of the rules that may have sites in it.
    """

    functions: tuple[BuggyFunction, ...] = ()
    targets: dict[str, str] = field(default_factory=dict)
    unread: str = ""
    unknown: tuple[str, ...] = ()


def facts(module: str, content: bytes, questions: Questions) -> Facts:
    return facts_of(ParsedModule(module, content), questions)


def facts_of(module: ParsedModule, questions: Questions) -> Facts:
    """Return the facts of a module that was parsed already, and is shared."""
    searches = questions.searches_in(module.name)
    targets = list(questions.targets_in(module.name))
    if not searches and not targets:
        return Facts()
    try:
        text = module.text
    except (SyntaxError, UnicodeDecodeError) as error:
        return _unread_facts(error, searches, targets)
    searches = {key: search for key, search in searches.items() if has_words(text, search.words)}
    if not searches and not targets:
        return Facts()
    try:
        tree = module.tree
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return _unread_facts(error, searches, targets)
    return Facts(
        tuple(_buggy_functions(module, searches)),
        {question.key: _problem(tree, question) for question in targets},
    )


def _unread_facts(error: Exception, searches: Iterable[str], targets: Iterable[Question]) -> Facts:
    problem = (
        f"Python {sys.version_info[0]}.{sys.version_info[1]} cannot parse it: "
        f"{' '.join(str(error).split()) or type(error).__name__}"
    )
    return Facts(
        targets={question.key: f"the module was not read: {problem}" for question in targets},
        unread=problem,
        unknown=tuple(searches),
    )


def _buggy_functions(module: ParsedModule, searches: dict[str, Search]) -> Iterator[BuggyFunction]:
    with_sites = _functions_with_sites(module, searches)
    if not with_sites:
        return
    names = {name for name, _ in outline.bindings(module.tree.body)}
    compiled = set()
    for source in module.sources(with_sites):
        compiled.add(source.qualname)
        for key, number in with_sites[source.qualname].items():
            rule = searches[key].rule
            unique = module.is_defined_once(source.qualname)
            if sites := number if unique else _count(source, rule):
                missing = () if "*" in names else (name for name in rule.needs if name not in names)
                problem = _trouble(module, source, rule)
                yield BuggyFunction(key, source.qualname, sites, problem, tuple(missing))
    for qualname in with_sites.keys() - compiled:
        for key, sites in with_sites[qualname].items():
            problem = "the function cannot be compiled on its own"
            yield BuggyFunction(key, qualname, sites, problem)


def _functions_with_sites(
    module: ParsedModule, searches: dict[str, Search]
) -> dict[str, dict[str, int]]:
    """Map qualified names to the number of sites by rule; quick, since nothing is compiled."""
    with_sites: dict[str, dict[str, int]] = {}
    for qualname, node, text in module.functions:
        for key, search in searches.items():
            if not has_words(text, search.words):
                continue
            try:
                sites = len(module.sites(node, search.rule))
            except Exception:  # the patch's own matcher; the edit reports it
                sites = 1
            if sites:
                in_function = with_sites.setdefault(qualname, {})
                in_function[key] = max(sites, in_function.get(key, 0))
    return with_sites


def _count(source: FunctionSource, rule: Rule) -> int:
    try:
        return sum(1 for _ in find(source.node, rule.site))
    except Exception:
        return 1


def _trouble(module: ParsedModule, source: FunctionSource, rule: Rule) -> str:
    """Return why a rule cannot edit a function; empty if it can."""
    try:
        edits = [edit for site in module.plan(source, rule) for edit in site]
        edited_code(source, edits, [rule], source.name)
    except Drift as drift:
        return str(drift)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if not rule.may_concern(source.code):
        return f"its code does not mention {', '.join(rule.names)}, so no site is looked for"
    return ""


def _problem(tree: ast.Module, question: Question) -> str:
    """Return why a named callable is not there as expected; empty if it is."""
    statements = outline.definitions(tree, question.target.qualname)
    if isinstance(statements, str):
        return statements
    if not isinstance(question.change, Wrap):
        return ""
    qualname, expected = question.target.qualname, question.change.parameters
    functions = [
        statement
        for statement in statements
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    if not functions:
        return f"{qualname} is not defined by `def`: its signature is unknown" if expected else ""
    last = functions[-1]
    names = {ast.unparse(decorator).rpartition(".")[2] for decorator in last.decorator_list}
    if names & {"property", "cached_property"}:
        return f"{qualname} is a property, not callable"
    return missing_parameters(qualname, expected, outline.parameters(last))
