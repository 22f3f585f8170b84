"""Where a trainer reports to."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ..changes import Behaviour
from .call import OldCall
from .defaults import chosen

_NAME = "report_to"
_PLACE = "tensorboard"


def logs_in_a_folder(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Write TensorBoard's logs into a folder that an older script names.

    A trainer reported to all that is installed, and reports to nothing today.
    """
    is_named = "TENSORBOARD_LOGGING_DIR" in os.environ and _NAME not in chosen(call)
    if is_named and call.is_of_older_script(row) and _can_write():
        call.arguments[_NAME] = _PLACE
        call.fix(row, f"TensorBoard's logs without {_NAME}=", f'write {_NAME}="{_PLACE}"')
    return proceed()


def _can_write() -> bool:
    from transformers.integrations import is_tensorboard_available

    return bool(is_tensorboard_available())
