"""Which rows and columns there are, and what is said of the holes."""

from __future__ import annotations

import pytest

from patchkit.matrix.records import Matrix, Unmeasured
from patchkit.matrix.show.grid import Cell, Grid, PatchRow


def states(grid: Grid) -> dict[str, str]:
    return {row.patch: " ".join(cell.state.name for cell in row.cells) for row in grid.rows}


def test_releases(shown, matrix) -> None:
    view = shown(matrix)
    lib, other = view.grids
    assert lib.columns == ("1.0.0", "1.0.1", "1.1.0", "1.2.0", "1.10.0", "2.0.0")
    assert lib.ticks == ("1.0", "", "1.1", "1.2", "1.10", "2.0")
    assert states(lib) == {
        "lib-cast": "fixed matches fails not-measured attention attention",
        "lib-norm": "absent read-absent read-absent not-measured not-due error",
        "lib-new": " ".join(["not-measured"] * 6),
        "lib-gone": "fixed" + " not-measured" * 5,
    }
    assert [row.patch for row in lib.rows if not row.known] == ["lib-gone"]
    assert (other.name, other.columns, states(other)) == (
        "other",
        ("0.5",),
        {"other-bias": "needs"},
    )
    assert view.sets == ()


def test_what_is_said_below(shown, matrix) -> None:
    view = shown(matrix)
    assert view.remarks == (
        "lib-cast, lib 1.1.0: not-fixed: ImportError: no lib.kernels",
        "lib-cast, lib 1.10.0: drifted: claimed, but a target is not as expected",
        "lib-cast, lib 2.0.0: not-reproduced: claimed, but no bug showed without the patch: it may be "
        "fixed upstream",
    )
    assert view.gaps == (
        "lib-norm, lib 2.0.0: error: OSError: no kernel",
        "other-bias: never run to an end (needs-cuda); nothing was read either",
        "lib-new: nothing was run or read",
        "lib 1.2.0, not read: yanked",
        "version set 9 (lib 9.0.0), not run: no such release",
    )
    assert view.source == "run 2026-01-02 on cpu; sources read 2026-01-03"


def test_what_was_noted_of_releases(shown, read) -> None:
    known = {"lib-cast": "matches"}
    notes = [{"*": "yanked"}, {"*": "yanked", "lib-cast": "fine"}, {}, {"*": "lib.f was not read"}]
    scans = (read(f"1.{at}", states=known, notes=note) for at, note in enumerate(notes))
    view = shown(Matrix(scans=tuple(scans)))
    assert view.asides == ("lib 1.0-1.1: yanked", "lib 1.3: lib.f was not read")


def test_one_library(shown, matrix) -> None:
    view = shown(matrix, libraries=("other",))
    assert [grid.name for grid in view.grids] == ["other"]
    assert "lib" not in [line.partition(" ")[0] for line in (*view.remarks, *view.gaps)]


def test_nothing(shown) -> None:
    for by in ("release", "set"):
        view = shown(Matrix(), by=by)
        assert (view.grids, view.remarks, view.source) == ((), (), "nothing")
        assert len(view.gaps) == 4


def test_trl_first(shown, ran) -> None:
    results = [ran(f"{name}-x", "fixed", **{name: "1.0"}) for name in ("zed", "trl", "acc")]
    assert [grid.name for grid in shown(Matrix(tuple(results))).grids] == [
        "trl",
        "acc",
        "lib",
        "zed",
    ]


def test_the_same_release_written_otherwise(shown, ran, read) -> None:
    scan = read("1", states={"lib-cast": "matches"})
    result = ran("lib-cast", "fixed", lib="1.0.0+cpu")
    (grid,) = shown(Matrix((result,), (scan,))).grids
    (cell,) = grid.rows[0].cells
    assert (cell.scan, cell.outcomes) == ("matches", ("fixed",))


def test_a_patch_that_is_read_in_a_second_library(shown, read) -> None:
    scans = (
        read("1.0", states={"lib-cast": "matches"}),
        read("3", "other", states={"lib-cast": "drifted"}),
    )
    lib, other = shown(Matrix(scans=scans)).grids
    assert states(lib)["lib-cast"] == "matches"
    assert states(other)["lib-cast"] == "attention"


def test_a_patch_of_nobody_knows_which_library(shown, ran) -> None:
    matrix = Matrix((ran("odd-one", "fixed"), ran("lib-cast", "fixed")))
    view = shown(matrix)
    assert all("odd-one" not in states(grid) for grid in view.grids)
    assert any(line.startswith("odd-one: not in the catalogue, and its lib") for line in view.gaps)
    (grid,) = shown(matrix, by="set").grids
    assert states(grid)["odd-one"] == "fixed"


def test_the_longest_library_whose_name_an_id_begins_with(shown, ran) -> None:
    result = ran("lib-extra-x", "fixed", lib_extra="5.0")
    grids = {grid.name: grid for grid in shown(Matrix((result,))).grids}
    assert states(grids["lib-extra"])["lib-extra-x"] == "fixed"
    assert "lib-extra-x" not in states(grids["lib"])


def test_unmeasured_sets_of_other_libraries_are_left_out(shown, matrix) -> None:
    elsewhere = Unmeasured("8", {"elsewhere": "8"}, "2026-01-04", "no disk")
    unmeasured = (*matrix.unmeasured, elsewhere)
    view = shown(Matrix(matrix.results, matrix.scans, unmeasured))
    assert [line.split()[2] for line in view.gaps if line.startswith("version set")] == ["9"]


@pytest.mark.parametrize(
    ("environments", "labels"),
    [
        ([{"trl": "1.0"}], ["trl 1.0"]),
        ([{"trl": "1.10"}, {"trl": "1.9"}], ["trl 1.9", "trl 1.10"]),
        (
            [{"trl": "1.0", "transformers": "4.57"}, {"trl": "1.0", "transformers": "5.1"}],
            ["trl 1.0, transformers 4.57", "trl 1.0, transformers 5.1"],
        ),
        # What is said is what tells them apart, and Transformers before the rest.
        (
            [
                {"trl": "1.0", "transformers": "4.57", "datasets": "3"},
                {"trl": "1.0", "transformers": "5.1", "datasets": "4"},
                {"trl": "1.1", "transformers": "5.2", "datasets": "5"},
            ],
            ["trl 1.0, transformers 4.57", "trl 1.0, transformers 5.1", "trl 1.1"],
        ),
        (
            [{"trl": "1.0"}, {"trl": "1.0", "nemo-automodel": "0.2"}],
            ["trl 1.0, nemo-automodel 0.2", "trl 1.0"],
        ),
        ([{"trl": "1.0"}, {"trl": "1.0", "device": "GPU"}], ["trl 1.0, on GPU", "trl 1.0, on cpu"]),
        ([{"peft": "1.0"}, {"peft": "1.1"}], ["peft 1.0", "peft 1.1"]),
    ],
)
def test_labels_of_sets(shown, ran, environments, labels: list[str]) -> None:
    results = [
        ran(
            "lib-cast",
            "fixed",
            **{name.replace("-", "_"): version for name, version in versions.items()},
        )
        for versions in environments
    ]
    view = shown(Matrix(tuple(results)), by="set")
    assert list(view.grids[0].columns) == labels
    assert [len(where) for where in view.sets] == [1] * len(labels)


def test_sets(shown, matrix) -> None:
    view = shown(matrix, by="set")
    (grid,) = view.grids
    assert len(grid.columns) == len(set(grid.columns)) == len(view.sets) == 4
    assert [where[0].versions["lib"] for where in view.sets] == ["1.0.0", "1.0.0", "1.1.0", "2.0.0"]
    # Of one library together, and what the catalogue does not have at the end.
    assert [row.patch for row in grid.rows] == [
        "lib-cast", "lib-norm", "lib-new", "other-bias", "lib-gone",
    ]  # fmt: skip
    # Columns are no series: none is put together with its neighbour.
    assert view.remarks[0].startswith(f"lib-cast, {grid.columns[2]}: not-fixed: ")


def test_sets_are_no_series(shown, ran) -> None:
    results = (ran("lib-cast", "error", "no", trl="1.0"), ran("lib-cast", "error", "no", trl="1.1"))
    view = shown(Matrix(results), by="set")
    assert view.remarks == ()
    assert view.gaps[0] == "lib-cast, trl 1.0; trl 1.1: error: no"


def test_pieces_say_where_they_begin() -> None:
    columns = ("1.0", "1.1", "1.1.1", "1.1.2", "2.0")
    rows = (PatchRow("p", True, tuple(Cell(scan=str(at)) for at in range(5))),)
    pieces = list(Grid("lib", columns, rows, ("1.0", "1.1", "", "", "2.0")).split(3))
    assert [piece.columns for piece in pieces] == [columns[:3], columns[3:]]
    assert [piece.ticks for piece in pieces] == [("1.0", "1.1", ""), ("1.1", "2.0")]
    assert [[cell.scan for cell in piece.rows[0].cells] for piece in pieces] == [
        ["0", "1", "2"],
        ["3", "4"],
    ]


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ("", ""),
        ("a", "a"),
        ("ab", "a-b"),
        ("ac", "a, c"),
        ("abde", "a-b, d-e"),
        ("abcde", "a-e"),
        ("edba", "a-b, d-e"),
    ],
)
def test_neighbours_are_put_together(chosen: str, expected: str) -> None:
    assert Grid("lib", tuple("abcde"), (), tuple("a    ")).span_text(chosen) == expected
