"""Keep the rows that are due here, and their names: to read and compare all takes long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .guarding.former_names import STRUCTURE
from .outline import Former, Outline, Watched

if TYPE_CHECKING:
    from typing import Protocol

    from .versions.due import Due, MethodRows

    class KeptFacts(Protocol):
        """Facts that processes keep for each other, under names that say all they depend on."""

        def fact(self, *names: str) -> Any:
            """Return a fact; None if it is not known."""

        def keep_fact(self, value: Any, *names: str) -> None:
            """Keep a fact of plain data."""


_NAMES, _ROWS = "names of rows that are due", "rows that are due"


def outline_here(facts: KeptFacts, state: str) -> Outline:
    """Return the outline of the rows for the installed releases, as an earlier process kept it.

    Args:
        facts: what processes keep for each other.
        state: names the state of the table, of the code of its rows and of what is installed;
            empty if that is unknown.
    """
    known = facts.fact(_NAMES, state) if state else None
    if known:
        return Outline(known, lambda: _due(facts, state))
    due = _due(facts, "")
    names = names_of(due)
    if state:
        import pickle

        facts.keep_fact(names, _NAMES, state)
        facts.keep_fact(pickle.dumps(due.rows, 5), _ROWS, state)
    return Outline(names, lambda: due)


def _due(facts: KeptFacts, state: str) -> Due:
    from .rows import all_rows
    from .versions.due import Due

    kept = facts.fact(_ROWS, state) if state else None
    if not kept:
        return Due(all_rows())
    import pickle

    # It stands beside code in a file that is trusted as Python trusts bytecode.
    return Due((), known=pickle.loads(kept))


def names_of(due: Due) -> dict[str, Any]:
    """Return the names in rows, as plain data."""
    from .changes import Assigned, Attribute

    places = due.places
    structure = places.exactly(STRUCTURE)
    within: dict[str, set[str]] = {}
    for name in places.names():
        place, _, last = name.rpartition(".")
        within.setdefault(place, set()).add(last)
    attributes: dict[str, dict[str, Former]] = {}
    assigned: dict[str, tuple[str, ...]] = {}
    methods_of: dict[str, dict[str, Watched]] = {}
    for owner, rows in due.by_owner.items():
        for _, row in rows:
            if isinstance(row, Attribute):
                known = row.differs, row.of_class, row.is_refused_method
                attributes.setdefault(owner, {})[row.name] = known
            elif isinstance(row, Assigned):
                assigned[owner] = (*assigned.get(owner, ()), row.name)
        if methods := due.methods([owner]):
            methods_of[owner] = {method: watch_of(found) for method, found in methods.items()}
    return {
        "packages": tuple(sorted(due.packages)),
        "modules": tuple(sorted(due.modules)),
        "within": {module: tuple(sorted(names)) for module, names in within.items()},
        "former": tuple(sorted(places.former())),
        "structure": structure.place if structure else "",
        "watched": methods_of,
        "attributes": attributes,
        "assigned": assigned,
    }


def watch_of(rows: MethodRows, *, always: bool = False) -> Watched:
    """Return what a guard must know of the rows for a method."""
    from .rows.tables import Named

    conditions = [row.concerns for row in rows.adjusted]
    return (
        bool(always or rows.behaviours or rows.defaults or None in conditions),
        bool(rows.orders),
        tuple(sorted({*rows.keywords, *(row.name for row in rows.values)})),
        tuple((each.place, *each.first) for each in conditions if isinstance(each, Named)),
    )
