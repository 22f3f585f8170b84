"""The table in a terminal: it fits, and says the same without colours."""

from __future__ import annotations

import io

import pytest

from patchkit.matrix.records import Matrix
from patchkit.matrix.show.states import WORST_FIRST
from patchkit.matrix.show.terminal import as_text

EXPECTED = """\
lib, 6 releases: 1.0.0 to 2.0.0
           1.0 1.1   2.0
lib-cast   ● ○ ✗ ? ! !
lib-norm   – · · ? ~ ∅
lib-new    ? ? ? ? ? ?
lib-gone * ● ? ? ? ? ?

other, one release: 0.5
           0.5
other-bias N

✗ not fixed                           ! drifted, unclaimed, not reproduced
● fixed: run with and without it      ○ the patch fits: sources read
∅ run, and failed for another reason  – no bug: run
· no bug: sources read                N needs another machine
~ not claimed, neither run nor read   ? not measured
* no longer in the catalogue

To be looked into
  lib-cast, lib 1.1.0: not-fixed: ImportError: no lib.kernels
  lib-cast, lib 1.10.0: drifted: claimed, but a target is not as expected
  lib-cast, lib 2.0.0: not-reproduced: claimed, but no bug showed without the
      patch: it may be fixed upstream

Not measured
  lib-norm, lib 2.0.0: error: OSError: no kernel
  other-bias: never run to an end (needs-cuda); nothing was read either
  lib-new: nothing was run or read
  lib 1.2.0, not read: yanked
  version set 9 (lib 9.0.0), not run: no such release

Measured: run 2026-01-02 on cpu; sources read 2026-01-03."""  # noqa: RUF001
SETS = """\
4 version sets
           1 2 3 4
lib-cast   ? ● ✗ !
lib-norm   ? – ? ?
lib-new    ? ? ? ?
other-bias N ? ? ?
lib-gone * ? ● ? ?

  1  trl 1.0, other 0.5
  2  trl 1.0
  3  trl 1.1
  4  trl 2.0

"""  # noqa: RUF001


def test_table(shown, matrix) -> None:
    assert as_text(shown(matrix)).plain == EXPECTED


def test_table_of_sets(shown, ran) -> None:
    results = (
        ran("lib-cast", "fixed", trl="1.0"),
        ran("lib-norm", "absent", trl="1.0"),
        ran("lib-gone", "fixed", trl="1.0"),
        ran("other-bias", "needs-cuda", trl="1.0", other="0.5"),
        ran("lib-cast", "not-fixed", trl="1.1"),
        ran("lib-cast", "not-reproduced", trl="2.0"),
    )
    assert as_text(shown(Matrix(results), by="set")).plain.startswith(SETS)


def many(ran, read, number: int) -> Matrix:
    scans = tuple(
        read(
            f"{number // 20}.{number % 20}.0", states={"lib-cast": "matches", "lib-norm": "absent"}
        )
        for number in range(number)
    )
    sets = tuple(ran("lib-cast", "fixed", trl=f"1.{number}") for number in range(number))
    return Matrix(sets, scans)


@pytest.mark.parametrize("by", ["release", "set"])
@pytest.mark.parametrize("number", [1, 9, 47, 100, 230])
@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_it_fits(shown, ran, read, width: int, number: int, by: str) -> None:
    text = as_text(shown(many(ran, read, number), by=by), width).plain
    assert max(map(len, text.splitlines())) <= width
    glyph = "●" if by == "set" else "○"
    rows = [line for line in text.splitlines() if line.startswith(("lib-cast ", "-cast "))]
    # Every column is there, and none twice; a release that was run is a column of `lib` too.
    run = by == "release" and any("●" in row for row in rows)
    assert sum(row.count(glyph) for row in rows) + run >= number
    assert sum(row.count(glyph) for row in rows) <= number


def test_labels_stand_above_their_columns(shown, ran, read) -> None:
    view = shown(many(ran, read, 47))
    (grid,) = [grid for grid in view.grids if grid.name == "lib"]
    lines = as_text(view, 80).plain.splitlines()
    labels, row = lines[1], lines[2]
    start = row.index(" ") + 1
    start += len(row[start:]) - len(row[start:].lstrip())
    step = 1 if len(row) - start == len(grid.columns) else 2
    found = labels.split()
    assert len(found) >= 8
    assert {"0.0", "1.0", "2.0"} <= set(found)
    for label in found:
        at = (f" {labels} ".index(f" {label} ") - start) // step
        assert grid.ticks[at] == label


def test_a_long_id_gives_way_to_releases(shown, ran, read) -> None:
    view = shown(many(ran, read, 47))
    assert "\nlib-cast " in as_text(view, 80).plain
    assert "\n-cast " in as_text(view, 54).plain
    assert "\nlib, 4" in "\n" + as_text(view, 54).plain


def test_without_unicode(shown, matrix) -> None:
    text = as_text(shown(matrix), ascii_only=True).plain
    assert text.isascii()
    assert "lib-cast   # o X ? ! !" in text


def test_colours(shown, matrix) -> None:
    from rich.console import Console
    from rich.style import Style

    text = as_text(shown(matrix))
    for state in WORST_FIRST:
        places = [at for at, sign in enumerate(text.plain) if sign == state.glyph]
        styles = {
            Style.parse(str(span.style))
            for span in text.spans
            if span.start in places and span.end == span.start + 1
        }
        assert styles == {Style.parse(state.style)}, state.name
    file = io.StringIO()
    Console(file=file, width=80, color_system="truecolor", force_terminal=True).print(text)
    assert "\x1b[1;31m✗" in file.getvalue()


def test_markup_is_no_markup(shown, ran) -> None:
    odd = ran("lib-cast", "error", "KeyError: '[red]x[/red]' [/]")
    assert "KeyError: '[red]x[/red]' [/]" in as_text(shown(Matrix((odd,)))).plain


def test_notes_on_releases(shown, read) -> None:
    scan = read("1.0", states={"lib-cast": "matches"}, notes={"*": "yanked: wrong build"})
    view = shown(Matrix(scans=(scan,)))
    assert "Noted of releases" in as_text(view).plain
    assert "lib 1.0: yanked: wrong build" in as_text(view).plain
