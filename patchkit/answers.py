"""What a child process answers on its standard output: an object of JSON in each line."""

from __future__ import annotations

import json
import os
from typing import Any, BinaryIO


def take_standard_output() -> BinaryIO:
    """Return standard output for answers alone, from now on.

    What anything else prints goes to standard error, native code's output and that of processes
    that are started from here included.
    """
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def tell(answers: BinaryIO, answer: dict[str, Any]) -> None:
    """Write an answer at once."""
    answers.write(json.dumps(answer).encode() + b"\n")
    answers.flush()


def read(line: bytes | str) -> dict[str, Any] | None:
    """Return the answer in a line.

    None where it holds none: it was cut off, or printed while the interpreter started.
    """
    try:
        answer = json.loads(line)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None
