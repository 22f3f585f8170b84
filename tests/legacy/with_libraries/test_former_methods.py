"""Methods and attributes that objects of the libraries had."""

from __future__ import annotations

import pytest

from . import old_methods, old_pairs
from .both_sides import Side, run

PIECES = old_methods.PIECES | old_pairs.PIECES
REFUSED = old_methods.REFUSED | old_pairs.REFUSED
ALIKE = old_methods.ALIKE | old_pairs.ALIKE


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> tuple[Side, Side]:
    pieces = {name: piece[0] for name, piece in {**PIECES, **REFUSED}.items()}
    return run({**pieces, **ALIKE}, tmp_path_factory.mktemp("sides"))


@pytest.mark.parametrize("name", PIECES)
def test_it_raises_without_the_layer(name: str, sides: tuple[Side, Side]) -> None:
    assert PIECES[name][1] in str(sides[0].outcomes[name])


@pytest.mark.parametrize("name", PIECES)
def test_it_works_with_the_layer_which_says_so(name: str, sides: tuple[Side, Side]) -> None:
    _, _, result, told = PIECES[name]
    assert sides[1].outcomes[name] == result
    assert told in sides[1].lines(name)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_gone_is_refused_in_a_line(name: str, sides: tuple[Side, Side]) -> None:
    found = str(sides[1].outcomes[name])
    assert REFUSED[name][1] in found
    assert "\n" not in found


@pytest.mark.parametrize("name", ALIKE)
def test_what_is_there_stays_as_it_is(name: str, sides: tuple[Side, Side]) -> None:
    without, with_layer = (side.outcomes[name] for side in sides)
    assert with_layer == without
    assert not isinstance(without, str) or "Error" not in without
