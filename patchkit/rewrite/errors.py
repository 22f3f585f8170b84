"""Errors of the rewriter."""

from __future__ import annotations


class Drift(Exception):
    """The source does not look as a rule expects; nothing was changed.

    The message is one sentence for the person who maintains the rule: what was expected
    and what was found.
    """


class Collision(Exception):
    """Two owners want to change the same thing.

    Args:
        owners: the names under which the two changes were registered, the one in force first.
        where: what they collide on, for the message.
        verb: what both do to it.
    """

    def __init__(self, owners: tuple[str, str], where: str, verb: str = "edit") -> None:
        self.owners = owners
        super().__init__(f"{owners[0]} and {owners[1]} both {verb} {where}; leave one of them out")
