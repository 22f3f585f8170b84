"""The tables for the documentation."""

from __future__ import annotations

import re

from patchkit.matrix.records import Matrix
from workbench.record.markdown import as_markdown

TABLES = """\
### lib

| patch | 1.0.0-1.0.1 | 1.1.0-1.2.0 | 1.10.0-2.0.0 |
| --- | :-: | :-: | :-: |
| `lib-cast` | 1 `●` 1 `○` | 1 `✗` 1 `?` | `!` |
| `lib-norm` | 1 `–` 1 `·` | 1 `·` 1 `?` | 1 `∅` 1 `~` |
| `lib-new` | `?` | `?` | `?` |
| `lib-gone` (no longer in the catalogue) | 1 `●` 1 `?` | `?` | `?` |

### other

| patch | 0.5 |
| --- | :-: |
| `other-bias` | `N` |

### To be looked into

- lib-cast, lib 1.1.0: not-fixed: ImportError: no lib.kernels
"""  # noqa: RUF001


def test_tables(shown, matrix) -> None:
    text = as_markdown(shown(matrix))
    assert text.startswith("Measured: run 2026-01-02 on cpu; sources read 2026-01-03.\n\n`✗` not")
    assert TABLES in text
    assert text.endswith("- version set 9 (lib 9.0.0), not run: no such release\n")


def test_what_differs_has_a_column_of_its_own(shown, read) -> None:
    given = ["matches", "matches", "drifted", "matches", "absent", "harmless", "matches"]
    scans = (read(f"1.{at}", states={"lib-cast": state}) for at, state in enumerate(given))
    text = as_markdown(shown(Matrix(scans=tuple(scans))))
    assert "| patch | 1.0-1.1 | 1.2 | 1.3 | 1.4-1.5 | 1.6 |" in text
    assert "| `lib-cast` | `○` | `!` | `○` | `·` | `○` |" in text


def test_what_is_not_known_joins_two_that_agree_and_no_others(shown, read) -> None:
    def columns(*given: str) -> list[str]:
        scans = tuple(
            read(f"1.{at}", states={"lib-cast": state} if state else {"lib-norm": "absent"})
            for at, state in enumerate(given)
        )
        text = as_markdown(shown(Matrix(scans=scans)))
        (head,) = re.findall(r"^\| patch \| (.*) \|$", text, re.MULTILINE)
        return head.split(" | ")

    assert columns("matches", "", "matches") == ["1.0-1.2"]
    assert columns("matches", "", "absent") == ["1.0-1.1", "1.2"]


def test_no_release_is_lost(shown, matrix) -> None:
    view = shown(matrix)
    text = as_markdown(view)
    for grid in view.grids:
        for row in grid.rows:
            (line,) = re.findall(rf"^\| `{row.patch}`.*?\| (.*) \|$", text, re.MULTILINE)
            numbers = re.findall(r"(\d+) `", line)
            plain = [cell for cell in line.split(" | ") if not cell[0].isdigit()]
            assert sum(map(int, numbers)) + len(plain) <= len(grid.columns)
            assert {state for cell in row.cells for state in cell.state.glyph} == set(
                re.findall(r"`(.)`", line)
            )


def test_sets(shown, matrix) -> None:
    text = as_markdown(shown(matrix, by="set"))
    assert "| patch | 1 | 2 | 3 | 4 |" in text
    assert "| set | lib | torch | other | Python | platform | device | date |" in text or (
        "| set | lib | other | torch | Python | platform | device | date |" in text
    )
    assert re.search(r"^\| 4 \| 2\.0\.0 \| .*3\.11\.7 \| linux-x86_64 \| cpu \| 2026", text, re.M)


def test_what_a_message_holds_is_no_markup(shown, ran) -> None:
    odd = ran("lib-cast", "error", "f(*a) <b> `c` [d](e) x_y | z #1")
    text = as_markdown(shown(Matrix((odd,))))
    assert r"error: f(\*a) \<b\> \`c\` \[d\](e) x\_y \| z \#1" in text


def test_notes_on_releases(shown, read) -> None:
    scan = read("1.0", states={"lib-cast": "matches"}, notes={"*": "yanked: wrong build"})
    view = shown(Matrix(scans=(scan,)))
    assert "Noted of releases" in as_markdown(view)
    assert "lib 1.0: yanked: wrong build" in as_markdown(view)
