"""Gather facts of modules for a scan in several processes: `python -m patchkit.matrix.scan.worker`.

Reads pickles of a library's name, the ids of patches and some of its modules, writes pickles of
their facts, and ends when its input does.
"""

from __future__ import annotations

import os
import pickle
import signal
from functools import cache

from ...catalogue import entries
from ...children import take_standard_output
from .facts import facts
from .questions import Questions
from .workers import library_questions


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted, and ends this
    output = take_standard_output()
    with os.fdopen(os.dup(0), "rb") as requests:
        while requests.peek(1):
            library, ids, modules = pickle.load(requests)
            questions = _questions(library, ids)
            answers = [facts(module, content, questions) for module, content in modules]
            pickle.dump(answers, output)
            output.flush()


@cache
def _questions(library: str, ids: tuple[str, ...]) -> Questions:
    return library_questions(entries.load(), library, ids)


if __name__ == "__main__":
    main()
