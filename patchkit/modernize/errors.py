"""What is wrong with a script, or with the request to rewrite it."""

from __future__ import annotations

from ..errors import UsageError


class ScriptError(UsageError):
    """A text cannot be read as what it is said to be; the message says where and why."""
