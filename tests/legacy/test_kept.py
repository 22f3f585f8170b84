"""What is kept of the table is what reading it gives, and is used for the same releases only."""

from __future__ import annotations

import marshal
from typing import Any

import pytest

from patchkit.legacy import kept, rows
from patchkit.legacy.changes import Owned
from patchkit.legacy.outline import Outline, check_of
from patchkit.legacy.rows import all_rows
from patchkit.legacy.rows.tables import Named
from patchkit.legacy.versions import due

NEWEST = {
    "trl": "1.16.0",
    "transformers": "5.23.0",
    "peft": "0.21.2",
    "accelerate": "1.15.0",
    "bitsandbytes": "0.50.2",
    "datasets": "4.0.0",
    "huggingface_hub": "1.0.0",
}


OWNERS = sorted(
    {owner for row in all_rows() if isinstance(row, Owned) for owner in row.owners}
    | {"trl", "transformers", "torch.nn.Module"}
)


class Facts:
    """Facts that are kept as bytes, as in the file."""

    def __init__(self) -> None:
        self._facts: dict[tuple[str, ...], bytes] = {}

    def fact(self, *names: str) -> Any:
        return marshal.loads(self._facts[names]) if names in self._facts else None

    def keep_fact(self, value: Any, *names: str) -> None:
        self._facts[names] = marshal.dumps(value)

    def __len__(self) -> int:
        return len(self._facts)


@pytest.fixture
def releases(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The releases that are installed."""
    found = dict(NEWEST)
    monkeypatch.setattr(due, "installed_version", found.get)
    return found


def shown(found: due.Due) -> list[str]:
    """Return what the rows say, in their order; functions without their addresses."""
    return [_shown(row) for row in found.rows]


def _shown(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, Named):
        return repr(value)
    if callable(value):
        parts = [getattr(value, name, None) for name in ("__qualname__", "func", "args")]
        return f"{getattr(parts[1], '__qualname__', parts[0])}{parts[2]}"
    fields = getattr(value, "__dict__", None)
    if fields is None or isinstance(value, type):
        return repr(value)
    inside = ", ".join(f"{name}={_shown(part)}" for name, part in fields.items())
    return f"{type(value).__name__}({inside})"


def test_what_is_kept_is_what_is_read(
    releases: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = Facts()
    read = kept.outline_here(facts, "a state")
    assert shown(read.due) == shown(due.Due(all_rows(), releases.get))
    assert len(facts) == 2
    monkeypatch.setattr(rows, "all_rows", lambda: pytest.fail("the files are read"))
    known = kept.outline_here(facts, "a state")
    assert shown(known.due) == shown(read.due)
    assert vars(known).keys() >= {"packages", "within", "former", "structure"}
    for name, value in vars(known).items():
        assert name in ("due", "_read") or value == vars(read)[name]


def test_it_is_of_the_same_state_only(releases: dict[str, str]) -> None:
    facts = Facts()
    kept.outline_here(facts, "a state")
    releases["trl"] = "0.0.1"
    expected = shown(due.Due(all_rows(), releases.get))
    for state in ("another state", ""):
        assert shown(kept.outline_here(facts, state).due) == expected
    assert len(facts) == 4


def test_nothing_is_kept_of_an_unknown_state(releases: dict[str, str]) -> None:
    facts = Facts()
    kept.outline_here(facts, "")
    assert len(facts) == 0


@pytest.mark.parametrize("owner", OWNERS)
def test_a_guard_asks_about_each_old_call(owner: str, releases: dict[str, str]) -> None:
    """The names say of each row for a class that it may concern calls, and of no other."""
    found = due.Due(all_rows(), releases.get)
    outline = Outline(kept.names_of(found), lambda: found)
    names = [owner]
    assert outline.has_any(names) is (owner in found.by_owner)
    watched, known = outline.methods(names), found.methods(names)
    assert watched.keys() == known.keys()
    for method, of_method in known.items():
        may_concern = check_of(watched[method])
        conditions = [row.concerns for row in of_method.adjusted]
        if of_method.behaviours or of_method.defaults or None in conditions:
            assert may_concern((), {})
            continue
        assert not may_concern((), {"a_keyword_of_today": 1})
        assert all(may_concern((), {name: 1}) for name in of_method.keywords)
        assert all(may_concern((), {row.name: 1}) for row in of_method.values)
        assert may_concern((1, 2), {}) is bool(of_method.orders)
    attributes = found.attributes(names)
    assert outline.attributes(names) == {
        name: (row.differs, row.of_class, row.is_refused_method) for name, row in attributes.items()
    }
    assert [*outline.assigned(owner)] == [*found.assigned(owner)]


def test_modules_and_names_are_those_of_the_rows(releases: dict[str, str]) -> None:
    found = due.Due(all_rows(), releases.get)
    outline = Outline(kept.names_of(found), lambda: found)
    assert outline.packages == found.packages
    modules = [*found.modules, "trl.anything"]
    assert outline.among([*modules, "torch"]) == modules
    assert all(map(outline.concerns, modules))
    assert not outline.concerns("torch")
    names = {f"{module}.{name}" for module, names in outline.within.items() for name in names}
    assert names == set(found.places.names())
    for name in names:
        assert found.places.exactly(name) is not None
        assert name in outline.former
        above = name.rpartition(".")[0]
        assert (found.places.inside(above) is None) or above in outline.former
