"""The picture: its colours are those of the matrix, and its bytes depend on nothing else."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace

import pytest

from patchkit.matrix.records import Matrix, MatrixError
from patchkit.matrix.show.states import WORST_FIRST
from workbench import ROOT
from workbench.record.picture import draw

try:
    import matplotlib
except ImportError:
    matplotlib = None

SVG = "{http://www.w3.org/2000/svg}"
needs_matplotlib = pytest.mark.skipif(matplotlib is None, reason="matplotlib is not installed")


def groups(picture: bytes) -> Iterator[tuple[str, list[str]]]:
    """What is drawn under a name, and its paths with their colours."""
    for group in ET.fromstring(picture).iter(f"{SVG}g"):
        if ":" in group.get("id", ""):
            parts = [*group.iter(f"{SVG}path"), *group.iter(f"{SVG}use")]
            yield group.get("id", ""), [part.get("style", "") for part in parts]


def words(picture: bytes) -> list[str]:
    return [(text.text or "").strip() for text in ET.fromstring(picture).iter(f"{SVG}text")]


@needs_matplotlib
def test_states_have_their_colours(shown, matrix) -> None:
    view = shown(matrix)
    drawn = dict(groups(draw(view, "svg")))
    colours = {state.name: state.colour for state in WORST_FIRST}
    for name, styles in drawn.items():
        assert styles, name
        assert all(f"fill: {colours[name.rpartition(':')[2]]}" in style for style in styles), name
    for state in WORST_FIRST:
        assert f"legend:{state.name}" in drawn
    expected = {
        f"{grid.name}:{row.patch}:{cell.state.name}"
        for grid in view.grids
        for row in grid.rows
        for cell in row.cells
    }
    assert {name for name in drawn if not name.startswith("legend:")} == expected
    # Neighbours of one state are one bar: 1.10.0 and 2.0.0.
    assert len(drawn["lib:lib-cast:attention"]) == 1
    assert len(drawn["lib:lib-norm:not-measured"]) == 1


@needs_matplotlib
def test_what_is_written(shown, matrix) -> None:
    found = words(draw(shown(matrix), "svg"))
    assert {"lib", "other", "lib-cast", "lib-gone *", "* no longer in the catalogue"} <= set(found)
    assert {"1.0", "1.1", "1.2", "1.10", "2.0", "0.5"} <= set(found)
    assert {state.meaning for state in WORST_FIRST} <= set(found)
    assert {"lib 1.2.0, not read: yanked", "lib-new: nothing was run or read"} <= set(found)
    # In the legend and in the cells.
    assert found.count("✗") == 2
    assert found.count("!") == 3


@needs_matplotlib
def test_what_does_not_fit_below_is_counted(shown, matrix, read) -> None:
    failed = tuple(read(f"3.{at}", problem=f"no such wheel: {at}") for at in range(40))
    view = shown(Matrix(matrix.results, (*matrix.scans, *failed)))
    found = words(draw(view, "svg"))
    assert len(view.gaps) == 44
    assert "and 33 lines more, which `patchkit matrix show` prints" in found


@needs_matplotlib
@pytest.mark.parametrize("form", ["svg", "png"])
def test_the_same_matrix_gives_the_same_bytes(shown, matrix, form: str) -> None:
    picture = draw(shown(matrix), form)
    with matplotlib.rc_context(
        {"savefig.bbox": "tight", "savefig.facecolor": "red", "svg.fonttype": "path"}
    ):
        assert draw(shown(matrix), form) == picture


@needs_matplotlib
def test_another_process_and_day_give_the_same_bytes(on_path) -> None:
    code = (
        "import sys; from patchkit.matrix.records import *; from patchkit.matrix.show.view import *; "
        "from workbench.record.picture import draw; "
        "s = Scan('lib', '1.0', '2026-01-01', {'lib-a': 'matches', 'lib-b': 'drifted'}); "
        "ids = {'lib-a': 'lib', 'lib-b': 'lib'}; "
        "sys.stdout.buffer.write(draw(view_of(Matrix(scans=(s,)), ids, ids), 'svg'))"
    )
    pictures = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**on_path, "PYTHONHASHSEED": seed, "SOURCE_DATE_EPOCH": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "1000000000")
    }
    assert len(pictures) == 1


@needs_matplotlib
@pytest.mark.parametrize("form", ["svg", "png"])
def test_a_changed_cell_changes_the_picture(shown, matrix, form: str) -> None:
    first, *others = matrix.results
    changed = replace(matrix, results=(replace(first, outcome="not-fixed"), *others))
    assert draw(shown(changed), form) != draw(shown(matrix), form)


@needs_matplotlib
def test_it_is_opaque(shown, matrix) -> None:
    import io

    from matplotlib.image import imread

    pixels = imread(io.BytesIO(draw(shown(matrix), "png")))
    assert pixels.shape[2] == 3 or pixels[..., 3].min() == 1
    top_left = [float(channel) for channel in pixels[0, 0, :3]]
    assert top_left == [1, 1, 1]
    root = ET.fromstring(draw(shown(matrix), "svg"))
    first = next(root.iter(f"{SVG}path"))
    assert first.get("style") == "fill: #ffffff"


@needs_matplotlib
@pytest.mark.parametrize(
    ("by", "number", "pieces"),
    [("release", 0, 0), ("release", 1, 1), ("release", 230, 2), ("set", 0, 0), ("set", 100, 2)],
)
def test_it_stays_on_the_page(shown, ran, read, by: str, number: int, pieces: int) -> None:
    scans = tuple(
        read(f"{at // 20}.{at % 20}.0", states={"lib-cast": "matches"}) for at in range(number)
    )
    results = tuple(ran("lib-cast", "fixed", trl=f"1.{at}") for at in range(number))
    picture = draw(shown(Matrix(results, scans), by=by), "svg")
    width, height = map(float, ET.fromstring(picture).get("viewBox", "").split()[2:])
    assert width == 720
    places = [
        path for path in ET.fromstring(picture).iter(f"{SVG}path") if "clip-path" in path.attrib
    ]
    for path in places:
        numbers = [float(word) for word in path.get("d", "").split() if word not in "MLz"]
        assert all(-0.01 <= x <= width + 0.01 for x in numbers[::2])
        assert all(-0.01 <= y <= height + 0.01 for y in numbers[1::2])
    assert words(picture).count("lib-cast") == pieces


@needs_matplotlib
def test_a_formula_is_no_formula(shown, ran) -> None:
    matrix = Matrix(unmeasured=(), results=(ran("odd-$x$", "fixed"),))
    assert any("odd-$x$" in word for word in words(draw(shown(matrix), "svg")))


def test_without_matplotlib(shown, matrix, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MatrixError, match=r"needs matplotlib .* pip install matplotlib"):
        draw(shown(matrix), "svg")


def test_the_extra_is_declared() -> None:
    project = ROOT / "pyproject.toml"
    assert 'plot = ["matplotlib' in project.read_text(encoding="utf-8")
