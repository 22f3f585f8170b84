"""What rewriting a function comes to, kept for the next process that has the same function."""

from __future__ import annotations

import hashlib
import marshal
import os
from collections.abc import Sequence
from types import CodeType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .edit import Edit

Plan = list[list["Edit"]]
"""The edits of each site of a rule in a function, in the order of the source."""


class Results:
    """Results that were worked out before, perhaps by another process; here there are none.

    A rule or a set of rules goes by names, which say which text of the rule is meant; an empty
    name stands for a rule whose results are not kept.
    """

    def plan(self, code: CodeType, rule: str) -> Plan | None:
        """Return the edits of a rule in the function with this code; None if they are not known."""
        return None

    def keep_plan(self, code: CodeType, rule: str, plan: Plan) -> None:
        """Keep the edits of a rule."""

    def compiled(self, code: CodeType, rules: Sequence[str], filename: str) -> CodeType | None:
        """Return the edited code, checked when it was compiled; None if it is not known."""
        return None

    def keep_compiled(
        self, code: CodeType, rules: Sequence[str], filename: str, edited: CodeType
    ) -> None:
        """Keep the edited code."""


FORMAT_WITHOUT_REFERENCES = 2
"""Of marshal: the later ones mark what is referred to twice, which differs between processes."""


def digest(*codes: CodeType, states: dict[str, str] | None = None) -> bytes | None:
    """Return a digest of the code of functions and of the states of their files.

    The size and the time of a file count, so that the text which is shown later, and of which
    the edits were made, is that of the code. Two processes get the same digest.

    Args:
        codes: the code of each.
        states: the states of files that were looked at; one that is missing is added.

    Returns:
        None if there is no such file, or if this Python cannot write the code.
    """
    states = {} if states is None else states
    files = dict.fromkeys([code.co_filename for code in codes])
    try:
        for filename in files:
            if filename not in states:
                file = os.stat(filename)
                states[filename] = f"{file.st_size} {file.st_mtime_ns}"
        facts = [states[filename] for filename in files], [*map(_in_fixed_order, codes)]
        content = marshal.dumps(facts, FORMAT_WITHOUT_REFERENCES)
    except (OSError, ValueError):
        return None
    return hashlib.blake2b(content, digest_size=16).digest()


def _in_fixed_order(code: CodeType) -> CodeType:
    """Return the code with its sets of strings as tuples: their order differs in each process."""
    types = set(map(type, code.co_consts))
    if frozenset not in types and CodeType not in types:
        return code
    consts = tuple(
        _in_fixed_order(const)
        if type(const) is CodeType
        else tuple(sorted(map(repr, const)))
        if type(const) is frozenset
        else const
        for const in code.co_consts
    )
    changed = any(new is not old for new, old in zip(consts, code.co_consts, strict=True))
    return code.replace(co_consts=consts) if changed else code
