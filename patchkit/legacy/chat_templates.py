"""The type that `apply_chat_template` returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .call import Call
from .changes import Behaviour
from .uses import called_by_user
from .wording import release


def give_ids(call: Call, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Apply a chat template, with the type of result of that time.

    Libraries expect today's.

    Args:
        call: a call of `apply_chat_template`.
        row: the row of the table.
        proceed: carries it out.
    """
    tokenizes = call.arguments.get("tokenize", True)
    if not tokenizes or "return_dict" in call.arguments or not called_by_user():
        return proceed()
    if call.written_for is not None:
        if call.written_for.precedes(row.gone):
            call.arguments["return_dict"] = False
        return proceed()
    result = proceed()
    call.tell(
        row,
        "apply_chat_template",
        f"apply_chat_template(tokenize=True) gives a {type(result).__name__}, and gave the ids "
        f"alone until {release(row.gone)}; write return_dict=False to have them",
    )
    return result
