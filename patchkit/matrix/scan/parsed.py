"""Decode, parse and search a module's text, each once."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections import Counter
from collections.abc import Iterable
from functools import cached_property

from ...rewrite import Edit, FunctionSource, Rule, find, functions_in_file
from ...rewrite.edit import split_lines
from ...rewrite.locate import FunctionNode, first_line, walk_functions


class ParsedModule:
    """A module; nothing is parsed before it is needed."""

    def __init__(self, name: str, content: bytes, short_name: str = "") -> None:
        self.name = name
        self.short_name = short_name or name.replace(".", "/")
        self._content = content
        self._sites: dict[tuple[int, Rule], list[ast.AST]] = {}
        self._sources: dict[str, list[FunctionSource]] = {}
        self._plans: dict[tuple[int, Rule], list[list[Edit]]] = {}

    @cached_property
    def text(self) -> str:
        return importlib.util.decode_source(self._content)

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def lines(self) -> tuple[str, ...]:
        return tuple(split_lines(self.text))

    @cached_property
    def functions(self) -> list[tuple[str, FunctionNode, str]]:
        """Qualified names, syntax trees and texts."""
        return [
            (name, node, "".join(self.lines[first_line(node) - 1 : node.end_lineno]))
            for name, node in walk_functions(self.tree.body)
            if "<locals>" not in name  # a function inside another is part of that one
        ]

    def sites(self, node: FunctionNode, rule: Rule) -> list[ast.AST]:
        """Find the sites of a rule in one of `functions`."""
        key = node.lineno, rule
        if key not in self._sites:
            self._sites[key] = list(find(node, rule.site))
        return self._sites[key]

    def is_defined_once(self, qualname: str) -> bool:
        return self._definitions[qualname] == 1

    @cached_property
    def _definitions(self) -> Counter[str]:
        return Counter(name for name, _, _ in self.functions)

    def sources(self, qualnames: Iterable[str]) -> list[FunctionSource]:
        """Return the functions that can be compiled on their own, in the order of the file."""
        names = set(qualnames)
        if new := names - self._sources.keys():
            self._sources.update((name, []) for name in new)
            text = self._without_functions_but(new)
            for source in functions_in_file(text, self.short_name, new.__contains__):
                whole = source._replace(lines=self.lines)
                self._sources[source.qualname].append(whole)
        sources = [source for name in names for source in self._sources[name]]
        return sorted(sources, key=lambda source: source.first)

    def plan(self, source: FunctionSource, rule: Rule) -> list[list[Edit]]:
        """Plan what a rule does to one of `sources`, an edit list per site.

        Raises:
            Drift: the rule cannot edit one.
        """
        key = source.first, rule
        if key not in self._plans:
            sites = self._sites.get((source.node.lineno, rule))
            # What was found in the tree of the file stands at the same places in the function's.
            self._plans[key] = (
                rule.plan(source)
                if sites is None
                else [rule.plan_site(source, site) for site in sites]
            )
        return self._plans[key]

    def _without_functions_but(self, qualnames: set[str]) -> str:
        """Return the text with `pass` for other functions: most need not be parsed again."""
        lines = list(self.lines)
        for name, node, _ in self.functions:
            if name not in qualnames:
                first, last = first_line(node), node.end_lineno or node.lineno
                line = lines[first - 1]
                indentation = line[: len(line) - len(line.lstrip())]
                lines[first - 1 : last] = [f"{indentation}pass\n", *["\n"] * (last - first)]
        return "".join(lines)


def has_words(text: str, words: Iterable[str]) -> bool:
    """Tell whether a text has all these words, and not only as parts of others."""
    # A pattern that begins with letters is looked for many times faster than one with `\b`.
    return all(word in text and re.search(rf"{word}\b(?<!\w{word})", text) for word in words)
