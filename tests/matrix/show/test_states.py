"""What a cell shows, and whether the eye can tell."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import pytest

from patchkit.matrix.outcome_table import OUTCOMES, STATES
from patchkit.matrix.show.cells import cell_of
from patchkit.matrix.show.states import OF_OUTCOME, OF_SCAN, WORST_FIRST, worst

CELLS = {
    # what was run, what was read -> what is shown
    ((), ""): "not-measured",
    ((), "matches"): "matches",
    ((), "drifted"): "attention",
    ((), "absent"): "read-absent",
    ((), "present"): "attention",
    ((), "harmless"): "read-absent",
    ((), "no-anchor"): "not-due",
    (("fixed",), ""): "fixed",
    (("not-fixed",), ""): "fails",
    (("made-worse",), ""): "fails",
    (("error",), ""): "error",
    (("not-reproduced",), ""): "attention",
    (("absent",), ""): "absent",
    (("present",), ""): "attention",
    (("not-affected",), ""): "not-due",
    (("needs-cuda",), ""): "needs",
    (("needs-avx512-bf16",), ""): "needs",
    (("needs-cuda", "needs-avx512-bf16"), "absent"): "read-absent",
    (("fixed",), "matches"): "fixed",
    (("fixed",), "drifted"): "attention",
    (("needs-cuda",), "matches"): "matches",
    (("not-affected",), "matches"): "matches",
    (("not-affected",), "absent"): "read-absent",
    (("absent",), "absent"): "absent",
    (("absent",), "present"): "attention",
    (("fixed", "not-affected"), "matches"): "fixed",
    (("fixed", "error"), "matches"): "fixed",
    (("fixed", "made-worse"), "matches"): "fails",
    (("not-reproduced", "not-fixed"), "drifted"): "fails",
}


@pytest.mark.parametrize(("known", "expected"), CELLS.items())
def test_cell(ran, read, known: tuple[tuple[str, ...], str], expected: str) -> None:
    outcomes, state = known
    # Beside other versions of torch each: the same outcome on another device is another matter.
    results = [ran("p", outcome, torch=f"2.{number}") for number, outcome in enumerate(outcomes)]
    cell = cell_of("p", results, read("1.0.0", states={"p": state} if state else {}))
    assert (cell.state.name, cell.scan) == (expected, state)
    assert cell.outcomes == tuple(sorted(outcomes))
    assert bool(cell.remarks) is (expected in ("fails", "attention"))
    assert bool(cell.failures) is ("error" in outcomes)


def test_every_outcome_and_state_has_a_look() -> None:
    assert OF_OUTCOME.keys() == OUTCOMES.keys()
    assert OF_SCAN.keys() == STATES.keys()
    assert {*OF_OUTCOME.values(), *OF_SCAN.values(), worst([])} == set(WORST_FIRST)


def test_a_bug_may_be_absent_on_another_device(ran) -> None:
    on_cpu = ran("p", "fixed", torch="2.0+cpu")
    on_gpu = ran("p", "not-reproduced", torch="2.0+cu130", device="GPU")
    cell = cell_of("p", [on_cpu, on_gpu])
    assert cell.state.name == "fixed"
    assert cell.outcomes == ("fixed", "not-reproduced")
    # It shows nowhere with these versions of all libraries: that is another thing.
    beside = ran("p", "not-reproduced", torch="2.1+cu130", device="GPU")
    assert cell_of("p", [on_cpu, beside]).state.name == "attention"


def test_what_is_to_be_looked_into_is_said(ran, read) -> None:
    scan = read(
        "1.0.0",
        states={"p": "drifted"},
        notes={"p": "lib:f: 2 sites, 1 expected"},
        unlisted={"p": ["lib:g", "lib:h"]},
    )
    results = [ran("p", "error", "OSError: no disk"), ran("p", "not-fixed"), ran("p", "fixed")]
    cell = cell_of("p", results, scan)
    assert cell.failures == ("error: OSError: no disk",)
    assert cell.remarks == (
        "not-fixed: the bug showed even with the patch",
        "drifted: lib:f: 2 sites, 1 expected",
        "unlisted: the patch does not name lib:g, lib:h, which has the same code",
    )


def test_a_site_is_not_said_twice(read) -> None:
    scan = read(
        "1.0.0",
        states={"p": "present"},
        notes={"p": "a site is in lib:ff; a site is in lib:g"},
        unlisted={"p": ["lib:f", "lib:g"]},
    )
    assert cell_of("p", [], scan).remarks == (
        "present: a site is in lib:ff; a site is in lib:g",
        "unlisted: the patch does not name lib:f, which has the same code",
    )


def test_a_site_that_no_patch_names_is_not_hidden_by_a_match(read) -> None:
    scan = read("1.0.0", states={"p": "matches"}, unlisted={"p": ["lib:g"]})
    assert cell_of("p", [], scan).state.name == "attention"
    assert cell_of("q", [], scan).state.name == "not-measured"


@pytest.mark.parametrize("field", ["name", "glyph", "ascii", "colour", "meaning"])
def test_states_differ(field: str) -> None:
    assert len({getattr(state, field) for state in WORST_FIRST}) == len(WORST_FIRST)


def test_glyphs_take_one_column() -> None:
    from rich.cells import cell_len

    assert {cell_len(state.glyph) for state in WORST_FIRST} == {1}
    assert all(len(state.ascii) == 1 and state.ascii.isascii() for state in WORST_FIRST)


# Linear RGB as people without one kind of cone see it: Machado, Oliveira, Fernandes 2009.
SIGHT = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no long": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "no middle": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "no short": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
    "grey": ((0.2126, 0.7152, 0.0722),) * 3,
}
PLAIN = [state for state in WORST_FIRST if not state.ink]


def seen(colour: str, sight: str) -> list[float]:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return [min(1, max(0, channel)) for channel in _times(SIGHT[sight], linear)]


def _times(matrix: tuple[tuple[float, ...], ...], vector: list[float]) -> Iterator[float]:
    return (sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)


def in_cielab(linear: list[float]) -> tuple[float, float, float]:
    to_xyz = ((0.4339, 0.3762, 0.1899), (0.2126, 0.7152, 0.0722), (0.0178, 0.1095, 0.8730))
    x, y, z = (
        value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116
        for value in _times(to_xyz, linear)
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("sight", SIGHT)
def test_plain_colours_stay_apart(sight: str) -> None:
    """In CIELAB, where 2 can just be told side by side."""
    assert len(PLAIN) == 3
    for plain, other in combinations(PLAIN, 2):
        ends = [in_cielab(seen(state.colour, sight)) for state in (plain, other)]
        apart = sum((a - b) ** 2 for a, b in zip(*ends, strict=True)) ** 0.5
        assert apart >= 18, (plain.name, other.name, apart)


@pytest.mark.parametrize(
    "state", [state for state in WORST_FIRST if state.ink], ids=lambda state: state.name
)
def test_glyphs_are_legible(state) -> None:
    light = sorted(
        next(_times(SIGHT["grey"], seen(colour, "all cones")))
        for colour in (state.ink, state.colour)
    )
    assert (light[1] + 0.05) / (light[0] + 0.05) >= 4
