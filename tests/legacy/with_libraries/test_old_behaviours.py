"""Calls with names that are still there, and with results or errors that are not those of old."""

from __future__ import annotations

from pathlib import Path

import pytest

from .both_sides import Side, run
from .old_behaviours import BEHAVIOURS, EVALUATIONS

pytest.importorskip("trl")
_ABOUT = "without an evaluation after the last step"


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> tuple[Side, Side]:
    pieces = {name: case[0] for name, case in BEHAVIOURS.items()}
    return run(pieces, tmp_path_factory.mktemp("sides"))


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_it_is_another_result_without_the_layer(name: str, sides: tuple[Side, Side]) -> None:
    _, without, _, _ = BEHAVIOURS[name]
    found = sides[0].outcomes[name]
    assert found == without if not isinstance(without, str) else without in str(found)


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_it_is_the_old_one_with_the_layer_which_says_so(
    name: str, sides: tuple[Side, Side]
) -> None:
    _, _, result, told = BEHAVIOURS[name]
    assert sides[1].outcomes[name] == result, sides[1].seen.get(name)
    assert told in sides[1].lines(name)


def test_the_last_step_is_evaluated_as_it_was_in_old_scripts(tmp_path: Path) -> None:
    old = "last_step_of_an_old_script"
    pieces = {name: piece for name, piece in EVALUATIONS.items() if name != old}
    off, on = run(pieces, tmp_path)
    assert off.outcomes == on.outcomes == {"last_step": 2, "evaluated_anyway": 1}, off.seen
    assert not [line for line in on.told if _ABOUT in line]
    # In processes of its own: an old spelling anywhere shows that a script is old.
    (tmp_path / "old").mkdir()
    off, on = run({old: EVALUATIONS[old]}, tmp_path / "old")
    assert [off.outcomes[old], on.outcomes[old]] == [2, 1], on.seen
    assert "call trainer.evaluate() if one is wanted" in on.lines(old)
