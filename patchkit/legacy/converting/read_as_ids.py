"""Whether a script reads a result as the ids of tokens, or by current names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

from ..call_sites import CallSiteSource, called, find_call

_SAME_ON_BOTH = frozenset({"copy", "to"})
"""Methods of both classes that return such a value."""
_LIKE_IDS = ("input_ids", "labels")
"""How names of ids end."""
_TAKING_IDS = frozenset(
    {
        "LongTensor",
        "array",
        "as_tensor",
        "asarray",
        "batch_decode",
        "cat",
        "concatenate",
        "convert_ids_to_tokens",
        "decode",
        "extend",
        "from_numpy",
        "full_like",
        "generate",
        "ones_like",
        "pad_sequence",
        "stack",
        "tensor",
        "zeros_like",
    }
)
"""Functions whose first argument is ids, and never a dictionary."""
_OF_IDS = (
    *("append", "clone", "cpu", "cuda", "detach", "dim", "dtype", "expand", "extend", "flatten"),
    *("ndim", "numel", "numpy", "repeat", "shape", "size", "squeeze", "tolist", "unsqueeze"),
    "view",
)
"""What lists of ids, tensors and arrays have, and a dictionary has not."""
_OF_ENCODINGS = (
    *("char_to_token", "char_to_word", "convert_to_tensors", "data", "encodings", "is_fast"),
    *("sequence_ids", "token_to_chars", "token_to_word", "tokens", "word_ids", "word_to_tokens"),
)
"""What today's result has beside what a dictionary has."""
_ASKING_FOR_CLASS = frozenset({"BatchEncoding", "dict", "getattr", "hasattr", "isinstance"})
"""Functions that ask for the class of a value, or take a dictionary."""


def reads_ids(frame: FrameType, method: str, result: Any) -> bool | None:
    """Tell from the source of a script whether it reads a result as ids alone.

    Args:
        frame: the frame of the script's that makes the call.
        method: the name of what it calls.
        result: what that returns today: a dictionary that has the ids, and more.

    Returns:
        False if it asks for something by a current name; None if the source does not show its use.
    """
    code, classes = frame.f_code, (type(result), type(result["input_ids"]))
    known = _verdicts(code.co_filename, code)
    if frame.f_lasti not in known:
        found = find_call(frame, method)
        evidence = list(_EvidenceReader(found[0], *classes).evidence(found[1])) if found else []
        known[frame.f_lasti] = all(evidence) if evidence else None
    return known[frame.f_lasti]


def is_read_as_ids(source: CallSiteSource, call: ast.Call) -> bool | None:
    """Tell the same of a call in the text of a script, without running it."""
    today = type("Encoding", (dict,), dict.fromkeys(_OF_ENCODINGS))
    evidence = list(
        _EvidenceReader(source, today, type("Ids", (list,), dict.fromkeys(_OF_IDS))).evidence(call)
    )
    return all(evidence) if evidence else None


@lru_cache(maxsize=256)
def _verdicts(file: str, code: CodeType) -> dict[int, bool | None]:
    """Return the results so far for the calls of a function, which may run for each row."""
    return {}


class _EvidenceReader:
    """Look at how a script uses a value."""

    def __init__(self, source: CallSiteSource, today: type, ids: type) -> None:
        self._source = source
        self._today = today
        self._ids = ids
        self._seen: set[tuple[ast.AST, bool]] = set()

    def evidence(self, node: ast.AST, whole: bool = True) -> Iterator[bool]:
        """Yield True for each use as ids, and False for each as an object of its current class.

        Args:
            node: an expression.
            whole: whether its value is the result itself, and not a list of results.
        """
        parent = self._source.parents.get(node)
        if parent is None or (node, whole) in self._seen:
            return
        self._seen.add((node, whole))
        if isinstance(parent, ast.Call):
            yield from self._given(parent, node, whole)
        elif isinstance(parent, ast.keyword):
            yield from self._given_by_name(parent)
        elif isinstance(parent, ast.Dict):
            yield from self._value(parent, node)
        elif isinstance(parent, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
            yield from self._assigned(parent, whole)
        elif isinstance(parent, (ast.List, ast.Tuple, ast.ListComp, ast.GeneratorExp)):
            if whole:
                yield from self.evidence(parent, whole=False)
        elif isinstance(parent, ast.IfExp):
            yield from self.evidence(parent, whole)
        elif isinstance(parent, ast.Return):
            yield from self._returned(parent, whole)
        elif isinstance(parent, (ast.For, ast.comprehension)) and not whole:
            yield from self._uses(parent.target, whole=True)
        elif isinstance(parent, ast.Subscript) and parent.value is node:
            yield from self._item(parent) if whole else self.evidence(parent)
        elif whole:
            yield from self._operated(parent, node)

    def _operated(self, parent: ast.AST, node: ast.AST) -> Iterator[bool]:
        if isinstance(parent, ast.Attribute):
            yield from self._attribute(parent)
        elif isinstance(parent, (ast.BinOp, ast.AugAssign)):
            yield True
        elif isinstance(parent, ast.Starred):
            if isinstance(self._source.parents[parent], (ast.List, ast.Tuple)):
                yield True
        elif isinstance(parent, ast.Compare) and _is_text(parent.left):
            yield False

    def _attribute(self, read: ast.Attribute) -> Iterator[bool]:
        around = self._source.parents[read]
        if read.attr in _SAME_ON_BOTH:
            yield from self.evidence(around)
        elif read.attr == "pop" and isinstance(around, ast.Call):
            yield not any(map(_is_text, around.args))
        elif hasattr(self._today, read.attr) or read.attr.endswith(_LIKE_IDS):
            yield False
        elif hasattr(self._ids, read.attr):
            yield True

    def _item(self, item: ast.Subscript) -> Iterator[bool]:
        around = self._source.parents[item]
        if _is_text(item.slice):
            yield False
        elif isinstance(item.slice, (ast.Slice, ast.Tuple)):
            yield True
        elif _is_number(item.slice):
            yield not isinstance(around, ast.Attribute) or hasattr(self._ids, around.attr)

    def _given(self, call: ast.Call, node: ast.AST, whole: bool) -> Iterator[bool]:
        name = called(call)
        if name in _TAKING_IDS and call.args[:1] == [node]:
            yield True
        elif whole and name in _ASKING_FOR_CLASS:
            yield False
        elif whole and name == "len":
            yield True

    def _given_by_name(self, keyword: ast.keyword) -> Iterator[bool]:
        call = self._source.parents[keyword]
        if keyword.arg is None:
            yield False
            return
        generates = isinstance(call, ast.Call) and called(call) == "generate"
        if keyword.arg.endswith(_LIKE_IDS) or (generates and keyword.arg == "inputs"):
            yield True

    def _value(self, items: ast.Dict, node: ast.AST) -> Iterator[bool]:
        for key, value in zip(items.keys, items.values, strict=True):
            if value is node:
                if key is None:
                    yield False
                elif _is_like_ids(key) or self._source.is_row(items):
                    yield True

    def _assigned(
        self, statement: ast.Assign | ast.AnnAssign | ast.NamedExpr, whole: bool
    ) -> Iterator[bool]:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            if isinstance(target, ast.Subscript) and _is_like_ids(target.slice):
                yield True
            yield from self._uses(target, whole)
        if isinstance(statement, ast.NamedExpr):
            yield from self.evidence(statement, whole)

    def _uses(self, target: ast.AST, whole: bool) -> Iterator[bool]:
        if isinstance(target, ast.Name):
            for use in self._source.uses(target):
                yield from self.evidence(use, whole)
        elif isinstance(target, ast.Attribute):
            for read in self._source.reads(target.attr):
                yield from self.evidence(read, whole)

    def _returned(self, statement: ast.Return, whole: bool) -> Iterator[bool]:
        for around in self._source.around(statement):
            if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
                for call in self._source.calls(around.name):
                    yield from self.evidence(call, whole)
                return


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_number(node: ast.AST) -> bool:
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def _is_like_ids(node: ast.AST) -> bool:
    return _is_text(node) and str(getattr(node, "value", "")).endswith(_LIKE_IDS)
