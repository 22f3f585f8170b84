"""The length of texts that `SFTTrainer` took where none was given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..changes import Behaviour
from .call import Call
from .configuration import configure

_MOST = 1024


def give_max_length(call: Call, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Train with texts as long as the tokenizer's model takes, up to 1024 tokens, as then.

    Args:
        call: a call of `SFTTrainer`.
        row: the row of the table.
        proceed: carries it out.
    """
    then = call.written_for is not None and call.written_for.precedes(row.gone)
    if then and getattr(call.arguments.get("args"), "max_length", None) is None:
        tokenizer = call.arguments.get("processing_class")
        longest = min(getattr(tokenizer, "model_max_length", _MOST), _MOST)
        configure(call, {"max_length": longest})
    return proceed()
