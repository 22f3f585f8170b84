"""What is kept of the table is what reading it gives, and is used for the same releases only."""

from __future__ import annotations

import marshal
from typing import Any

import pytest

from patchkit.legacy import kept
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
    for module in (kept, due):
        monkeypatch.setattr(module, "known_release", found.get)
    return found


@pytest.fixture
def no_files(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise AssertionError("the files of the table are read")

    monkeypatch.setattr(kept, "all_rows", fail)


def shown(found: due.Due) -> list[str]:
    """Return what the rows say, in their order; functions without their addresses."""
    return [_shown(row) for row in found._rows]


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
    read = shown(due.Due(all_rows(), releases.get))
    assert shown(kept.due_here(facts, "a state")) == read
    assert len(facts) == 2
    monkeypatch.setattr(kept, "all_rows", lambda: pytest.fail("the files are read"))
    assert shown(kept.due_here(facts, "a state")) == read


@pytest.mark.parametrize("library", NEWEST)
def test_it_is_of_the_same_releases_only(releases: dict[str, str], library: str) -> None:
    facts = Facts()
    kept.due_here(facts, "a state")
    releases[library] = "0.0.1"
    expected = shown(due.Due(all_rows(), releases.get))
    assert shown(kept.due_here(facts, "a state")) == expected
    del releases[library]
    expected = shown(due.Due(all_rows(), releases.get))
    assert shown(kept.due_here(facts, "a state")) == expected


def test_it_is_of_the_same_table_only(releases: dict[str, str], no_files: None) -> None:
    facts = Facts()
    for state in ("another state", ""):
        with pytest.raises(AssertionError, match="are read"):
            kept.due_here(facts, state)
    assert len(facts) == 0
