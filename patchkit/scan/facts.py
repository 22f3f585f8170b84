"""What the text of one module says, whatever release it is in and whichever patch is due there."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..patch import Wrap
from ..rewrite import Drift, FunctionSource, Rule, edited_code, find
from ..rewrite.locate import FunctionNode
from . import outline
from .parsed import ParsedModule, has_words
from .questions import Question, Questions, Sought


@dataclass(frozen=True)
class Found:
    """The sites of one rule in one function; a function inside another is part of that one.

    Args:
        rule: key of the rule.
        qualname: of the function.
        sites: how many there are.
        problem: why they cannot be edited; empty where they can.
        lacks: names that the edited code needs of its module and that are missing there.
    """

    rule: str
    qualname: str
    sites: int
    problem: str = ""
    lacks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Facts:
    """What one module says.

    Args:
        found: functions with sites.
        targets: key of each change that names a callable in this module, to why it is not there
            as expected; empty where it is.
        unread: why the file cannot be parsed.
        unknown: where it cannot, the keys of the rules that may have sites in it.
    """

    found: tuple[Found, ...] = ()
    targets: dict[str, str] = field(default_factory=dict)
    unread: str = ""
    unknown: tuple[str, ...] = ()


def facts(module: str, content: bytes, questions: Questions) -> Facts:
    """Look at one module.

    Args:
        module: its dotted name.
        content: its file.
        questions: what to look for.
    """
    return facts_of(ParsedModule(module, content), questions)


def facts_of(module: ParsedModule, questions: Questions) -> Facts:
    """Look at one module that others look at, too."""
    sought = questions.sought_in(module.name)
    targets = list(questions.targets_in(module.name))
    if not sought and not targets:
        return Facts()
    try:
        text = module.text
    except (SyntaxError, UnicodeDecodeError) as error:
        return _unread(error, sought, targets)
    sought = {key: one for key, one in sought.items() if has_words(text, one.words)}
    if not sought and not targets:
        return Facts()
    try:
        tree = module.tree
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return _unread(error, sought, targets)
    return Facts(
        tuple(_found(module, sought)),
        {one.key: _problem(tree, one) for one in targets},
    )


def _unread(error: Exception, sought: Iterable[str], targets: Iterable[Question]) -> Facts:
    problem = (
        f"Python {sys.version_info[0]}.{sys.version_info[1]} cannot parse it: "
        f"{' '.join(str(error).split()) or type(error).__name__}"
    )
    return Facts(
        targets={one.key: f"the module was not read: {problem}" for one in targets},
        unread=problem,
        unknown=tuple(sought),
    )


def _found(module: ParsedModule, sought: dict[str, Sought]) -> Iterator[Found]:
    with_sites = _functions_with_sites(module, sought)
    if not with_sites:
        return
    names = {name for name, _ in outline.bindings(module.tree.body)}
    compiled = set()
    for source in module.sources(with_sites):
        compiled.add(source.qualname)
        for key, known in with_sites[source.qualname].items():
            rule = sought[key].rule
            once = module.is_defined_once(source.qualname)
            if sites := known if once else _count(source, rule):
                lacks = () if "*" in names else (name for name in rule.needs if name not in names)
                problem = _trouble(module, source, rule)
                yield Found(key, source.qualname, sites, problem, tuple(lacks))
    for qualname in with_sites.keys() - compiled:
        for key, sites in with_sites[qualname].items():
            yield Found(key, qualname, sites, "the function cannot be compiled by itself")


def _functions_with_sites(
    module: ParsedModule, sought: dict[str, Sought]
) -> dict[str, dict[str, int]]:
    """Qualified names, to the number of sites by rule; quick, since nothing is compiled."""
    with_sites: dict[str, dict[str, int]] = {}
    for qualname, node, text in module.functions:
        for key, one in sought.items():
            if not has_words(text, one.words):
                continue
            try:
                sites = len(module.sites(node, one.rule))
            except Exception:  # a matcher of whoever wrote the patch; editing will say what
                sites = 1
            if sites:
                here = with_sites.setdefault(qualname, {})
                here[key] = max(sites, here.get(key, 0))
    return with_sites


def _count(source: FunctionSource, rule: Rule) -> int:
    try:
        return sum(1 for _ in find(source.node, rule.site))
    except Exception:
        return 1


def _trouble(module: ParsedModule, source: FunctionSource, rule: Rule) -> str:
    """Why a function cannot be edited by a rule; empty where it can."""
    try:
        edits = [edit for site in module.plan(source, rule) for edit in site]
        edited_code(source, edits, [rule], source.name)
    except Drift as drift:
        return str(drift)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if not rule.may_concern(source.code):
        return f"its code does not mention {', '.join(rule.names)}, so nobody looks for a site"
    return ""


def _problem(tree: ast.Module, question: Question) -> str:
    """Why a named callable is not there as expected; empty where it is."""
    found = outline.definitions(tree, question.target.qualname)
    if isinstance(found, str):
        return found
    if not isinstance(question.change, Wrap):
        return ""
    qualname, expected = question.target.qualname, question.change.parameters
    defined = [one for one in found if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]
    if not defined:
        return f"{qualname} is not defined by `def`: its signature is unknown" if expected else ""
    last = defined[-1]
    if any(mentioned in ("property", "cached_property") for mentioned in _decorators(last)):
        return f"{qualname} is a property, not callable"
    missing = [name for name in expected if name not in outline.parameters(last)]
    return f"{qualname} has no parameter {', '.join(missing)} any more" if missing else ""


def _decorators(function: FunctionNode) -> Iterator[str]:
    for decorator in function.decorator_list:
        yield ast.unparse(decorator).rpartition(".")[2]
