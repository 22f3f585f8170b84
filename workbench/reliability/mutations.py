"""Give mutants of upstream functions to all rules of the catalogue, and look for a wrong edit.

A mutant may be edited or refused; what is edited is held against `edit_oracle.py`, which shares no
code with the rewriter. The exit status is 1 where an edit is wrong.
"""

from __future__ import annotations

import argparse
import ast
import linecache
import random
import re
import sys
import textwrap
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType, FunctionType

from patchkit.catalogue import entries as catalogue
from patchkit.environment import module_file, modules_matching
from patchkit.patch import Rewrite
from patchkit.rewrite import Drift, Edit, FunctionSource, Rule, Target, edited_code, find
from patchkit.rewrite.edit import apply_edits

from .edit_oracle import code_at, wrongs
from .mutants import mutated

REBINDING = ("nemo-automodel-lora-input-dtype", "bitsandbytes-cpu-inference-packing")
"""Patches that rebind a parameter on purpose."""
_CHUNK = 250


@dataclass(frozen=True)
class Upstream:
    """A function of an installed library, as a file of its own."""

    text: str
    rules: tuple[tuple[str, Rule], ...]
    near: bool


@dataclass
class Tally:
    """The fate of some mutants."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.counts += other.counts
        self.wrong += other.wrong


@lru_cache(maxsize=1)
def upstream() -> tuple[Upstream, ...]:
    """Return the functions with a site of a rule, and those that mention all that it does."""
    rules: dict[str, dict[Rule, str]] = {}
    for entry in catalogue.load().entries.values():
        for change in entry.patch.changes if entry.patch else ():
            if isinstance(change, Rewrite):
                module = Target.parse(change.target).module
                rules.setdefault(module, {})[change.rule] = entry.patch.id
    by_module: dict[str, dict[Rule, str]] = {}
    for pattern, ids in rules.items():
        for name in modules_matching(pattern):
            by_module.setdefault(name, {}).update(ids)
    functions: dict[str, Upstream] = {}
    for name in sorted(by_module):
        file = module_file(name)
        if file is None:
            continue
        text = file.read_text(encoding="utf-8")
        known = {r: i for r, i in by_module[name].items() if all(word in text for word in r.names)}
        if not known:
            continue
        for header, node in _functions(ast.parse(text).body, ""):
            function = _upstream(text, header, node, known)
            if function is not None:
                functions.setdefault(function.text, function)
    return tuple(functions.values())


def _upstream(
    text: str, header: str, node: ast.FunctionDef, rules: dict[Rule, str]
) -> Upstream | None:
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    own = "".join(text.splitlines(keepends=True)[first - 1 : node.end_lineno])
    words = set(re.findall(r"\w+", own))
    chosen = tuple((i, r) for r, i in rules.items() if set(r.names) <= words)
    if not chosen or own.count("\n") > 700:
        return None
    with_site = any(next(find(node, rule.site), None) is not None for _, rule in chosen)
    body = textwrap.indent(textwrap.dedent(own), "    ") if header else textwrap.dedent(own)
    return Upstream(f"import torch\n\n{header}{body}", chosen, near=not with_site)


def _functions(body: list[ast.stmt], header: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in body:
        if isinstance(node, ast.FunctionDef):
            yield header, node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"class {node.name}:\n")


def examine(seed: int, first: int, count: int) -> Tally:
    """Make some mutants, and check what happens to them."""
    warnings.simplefilter("ignore")
    functions = upstream()
    # Short functions more often: they take less time, and more of them is near the site.
    weights = [
        (0.15 if function.near else 1) / (10 + function.text.count("\n")) for function in functions
    ]
    tally = Tally()
    for number in range(first, first + count):
        chance = random.Random(f"{seed}:{number}")
        while True:
            (original,) = chance.choices(functions, weights)
            text = mutated(original.text, chance)
            if text is not None:
                break
        tally.counts["mutants"] += 1
        try:
            _try(original, text, number, tally)
        except Exception:
            tally.wrong.append(f"mutant {number}: {traceback.format_exc()}\n{text}")
    return tally


def _try(original: Upstream, text: str, number: int, tally: Tally) -> None:
    filename = f"<mutant {number}>"
    text = re.sub(r"\r\n?", "\n", text.removeprefix("\ufeff"))
    module = compile(text, filename, "exec", dont_inherit=True)
    linecache.cache[filename] = (
        len(text),
        None,
        [line + "\n" for line in text.removesuffix("\n").split("\n")],
        filename,
    )
    edited = refused = 0
    try:
        for qualname, node in _all_functions(ast.parse(text).body, ""):
            line = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            code = code_at(module, node.name, line)
            if code is None:
                continue
            cells = tuple(
                (lambda: (lambda value: lambda: value)(None).__closure__[0])()
                for _ in code.co_freevars
            )
            function = FunctionType(code, {"__name__": "mutant"}, closure=cells or None)
            function.__qualname__ = qualname
            for outcome in _apply_rules(original, function, text, node.name, line, number, tally):
                edited, refused = edited + outcome, refused + (not outcome)
    finally:
        del linecache.cache[filename]
    kind = "edited" if edited else "refused" if refused else "without a site"
    tally.counts[kind] += 1


def _apply_rules(
    original: Upstream,
    function: FunctionType,
    text: str,
    name: str,
    line: int,
    number: int,
    tally: Tally,
) -> Iterator[bool]:
    source: FunctionSource | None = None
    done: list[tuple[str, Rule, list[Edit]]] = []
    for patch, rule in original.rules:
        if not rule.may_concern(function.__code__):
            continue
        try:
            source = source or FunctionSource.of_function(function)
            edits = [edit for site in rule.plan(source) for edit in site]
            if not edits:
                continue
            edited = edited_code(source, edits, [rule], "<edited>")
        except Drift as drift:
            tally.counts[f"  because {_reason(str(drift))}"] += 1
            yield False
            continue
        tally.wrong += _judge(source, text, edits, edited, patch, name, line, number)
        done.append((patch, rule, edits))
        yield True
    if source is not None and len(done) > 1:
        edits = list(dict.fromkeys(edit for _, _, edits in done for edit in edits))
        try:
            edited = edited_code(source, edits, [rule for _, rule, _ in done], "<edited>")
        except Drift:
            tally.counts["rules that do not go together"] += 1
            return
        together = "+".join(patch for patch, _, _ in done)
        tally.counts["rules together"] += 1
        tally.wrong += _judge(source, text, edits, edited, together, name, line, number)


def _judge(
    source: FunctionSource,
    text: str,
    edits: list[Edit],
    edited: CodeType,
    patch: str,
    name: str,
    line: int,
    number: int,
) -> Iterator[str]:
    after = "".join(apply_edits(source.lines, edits))
    if not text.endswith("\n"):
        after = after.removesuffix("\n")
    places = [(edit.start, edit.end, edit.text) for edit in edits]
    rebinds = any(known in patch for known in REBINDING)
    problems = list(wrongs(text, after, places, line, rebinds=rebinds))
    if not problems:
        whole = code_at(compile(after, "<edited>", "exec", dont_inherit=True), name, line)
        # A function around it may have a `torch` of its own; the edit means the module's.
        shadowed = set(whole.co_freevars) - set(edited.co_freevars) if whole else set()
        if whole != edited and not shadowed & set(edited.co_names):
            problems.append("the code is not what the edited file compiles to")
    for problem in problems:
        yield f"mutant {number}, {patch}: {problem}\n{text}\n--- edited\n{after}"


def _all_functions(
    body: list[ast.stmt], prefix: str
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield f"{prefix}{node.name}", node
            if prefix == "" or prefix.endswith(">."):
                yield from _all_functions(node.body, f"{prefix}{node.name}.<locals>.")
        elif isinstance(node, ast.ClassDef):
            yield from _all_functions(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, (ast.If, ast.Try)):
            yield from _all_functions(node.body, prefix)


def _reason(drift: str) -> str:
    for words in (
        "does not parse",
        "that runs is not what its file holds",
        "leaves buggy code",
        "brings in the name",
        "takes torch from the module",
        "positional-only",
        "cannot be edited",
        "outside of its body",
        "another kind of function",
        "closes over",
        "there is no source",
    ):
        if words in drift:
            return words
    return drift[:60]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="number of mutants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="number of processes")
    parser.add_argument("--shown", type=int, default=20, help="wrong edits that are shown whole")
    chosen = parser.parse_args()
    began = time.monotonic()
    tally = Tally()
    functions = upstream()
    near = sum(function.near for function in functions)
    print(f"{len(functions) - near} functions with a site, {near} near ones")
    firsts = range(0, chosen.count, _CHUNK)
    sizes = [min(_CHUNK, chosen.count - first) for first in firsts]
    if chosen.jobs == 1:
        for first, size in zip(firsts, sizes, strict=True):
            tally.add(examine(chosen.seed, first, size))
    else:
        with ProcessPoolExecutor(chosen.jobs) as pool:
            for part in pool.map(examine, [chosen.seed] * len(sizes), firsts, sizes):
                tally.add(part)
                done = f"{tally.counts['mutants']} mutants, {len(tally.wrong)} wrong edits"
                print(f"\r{done}", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
    for name, count in sorted(tally.counts.items()):
        print(f"{count:8} {name}")
    print(f"{len(tally.wrong):8} wrong edits, in {time.monotonic() - began:.0f} s")
    for wrong in tally.wrong[: chosen.shown]:
        print("-" * 72, wrong, sep="\n")
    for wrong in tally.wrong[chosen.shown :]:
        print(wrong.partition("\n")[0])
    return 1 if tally.wrong else 0
