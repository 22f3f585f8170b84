"""What can go wrong while a source is rewritten."""

from __future__ import annotations


class Drift(Exception):
    """The source does not look as a rule expects; nothing was changed.

    The message is one sentence for the person who maintains the rule: what was expected
    and what was found.
    """


class Collision(Exception):
    """Two rules want to edit the same piece of one function.

    Args:
        owners: the names under which the two edits were registered.
        where: what they collide on, for the message.
    """

    def __init__(self, owners: tuple[str, str], where: str) -> None:
        self.owners = owners
        super().__init__(f"{owners[0]} and {owners[1]} both edit {where}; leave one of them out")
