"""What an adjustment can use besides the call."""

from __future__ import annotations

from dataclasses import dataclass

from ...guarding.changed import ChangedAttributes
from ...uses import Journal
from ...versions.due import Due


@dataclass(eq=False, repr=False)
class Surroundings:
    """What an adjustment can use besides the call.

    Args:
        due: the rows of the table for the installed releases.
        changed: remembers attributes that an adjustment sets in classes.
        journal: where uses are noted.
    """

    due: Due
    changed: ChangedAttributes
    journal: Journal
