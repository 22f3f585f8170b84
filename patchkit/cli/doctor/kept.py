"""Say where results of rewrites are kept between processes, and whether there are any."""

from __future__ import annotations

from ...engine.kept import KeptResults
from ..cache import described
from .privacy import without_private_data
from .section import Section, SectionRow

NAME, TITLE = "kept", "Kept between processes"


def check() -> Section:
    results = KeptResults()
    facts = {"results": len(results), "reason": results.reason}
    text = without_private_data(described(results))
    return Section(NAME, TITLE, (SectionRow("", text),), facts)
