"""Look at modules, for a scan that has several processes: `python -m patchkit.scan.looker`.

Both ways go pickles: the name of a library and its modules in, their facts out. Where nothing more
comes in, it ends.
"""

from __future__ import annotations

import os
import pickle
import signal
from functools import cache

from .. import catalogue
from ..children import take_standard_output
from .facts import facts
from .looking import of_library
from .questions import Questions


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asks is interrupted, and ends this
    output = take_standard_output()
    with os.fdopen(os.dup(0), "rb") as requests:
        while requests.peek(1):
            library, modules = pickle.load(requests)
            questions = _questions(library)
            found = [facts(module, content, questions) for module, content in modules]
            pickle.dump(found, output)
            output.flush()


@cache
def _questions(library: str) -> Questions:
    return of_library(catalogue.load(), library)


if __name__ == "__main__":
    main()
