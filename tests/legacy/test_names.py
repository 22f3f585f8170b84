"""The files of names that moved or went: how they are read, and what may stand in them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from packaging.version import Version

from patchkit.legacy.changes import Form, Gone, Moved
from patchkit.legacy.rows import names
from patchkit.legacy.rows.toml import TableError, read
from patchkit.legacy.versions.releases import releases

FILES = sorted(names.FOLDER.glob("*.toml"))
ALL_FILES = sorted(names.FOLDER.parent.glob("*/*.toml"))
LEFT_OUT = Path(__file__).parents[2] / "workbench" / "releases" / "left_out.toml"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="this Python reads no TOML")
@pytest.mark.parametrize(
    "file", [*ALL_FILES, LEFT_OUT], ids=lambda file: f"{file.parent.name}-{file.stem}"
)
def test_files_are_toml(file: Path) -> None:
    import tomllib

    text = file.read_text(encoding="utf-8")
    assert read(text, file.name) == tomllib.loads(text)


def test_all_kinds_of_rows(tmp_path: Path) -> None:
    (tmp_path / "trl.toml").write_text(
        """
# A comment.
[[moved]]
release = "0.13.0"
since = "0.12.0"
differs = "it is slower"
wrapped = "trl.wrap"
read = ".x.y"
else = "read z"
idle = true
member = "trl.New.f"
source = 'https://example.org/"x"'
"trl.Old" = "trl.New"

[[gone]]
instead = "Do without."
"0.14.0" = ["trl.A", "trl.b.C"]
"0.15.0" = [
    "trl.D",
    "trl.E", "trl.F",
]
[[gone.forms]]
before = "0.12.0"
what = "with two heads"
[[gone.forms]]
before = "0.14.0"
also = "diffusers"
"""
    )
    moved, *gone = names.rows(tmp_path)
    assert isinstance(moved, Moved)
    assert vars(moved) == {
        "name": "trl.Old",
        "to": "trl.New",
        "gone": "trl 0.13.0",
        "since": "trl 0.12.0",
        "wrapped": "trl.wrap",
        "read": ".x.y",
        "otherwise": "read z",
        "differs": "it is slower",
        "alike": None,
        "idle": True,
        "member": "trl.New.f",
        "source": 'https://example.org/"x"',
    }
    assert [(row.name, row.gone) for row in gone] == [
        ("trl.A", "trl 0.14.0"),
        ("trl.b.C", "trl 0.14.0"),
        ("trl.D", "trl 0.15.0"),
        ("trl.E", "trl 0.15.0"),
        ("trl.F", "trl 0.15.0"),
    ]
    for row in gone:
        assert isinstance(row, Gone)
        assert row.instead == "Do without."
        assert list(map(vars, row.forms)) == [
            vars(Form("trl 0.12.0", what="with two heads")),
            vars(Form("trl 0.14.0", also="diffusers")),
        ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("key = 1", r"trl.toml:1: expected \[\[table\]\], or key"),
        ("[moved]", r"trl.toml:1: expected \[\[table\]\]"),
        ("[[gone.forms]]", r"expected \[\[table\]\], or \[\[table.part\]\] after it"),
        ("[[moved]]\nrelease", "trl.toml:2: expected .* not release"),
        ("[[moved]]\nrelease = 1", 'trl.toml:2: expected "text", or .* not 1'),
        ('[[moved]]\nrelease = "1.0', 'trl.toml:2: expected "text"'),
        ('[[moved]]\nrelease = "a\\tb"', "without escapes"),
        ('[[moved]]\nrelease = "a"b"', 'trl.toml:2: expected "text"'),
        ("[[moved]]\nrelease = 'a'b'", 'trl.toml:2: expected "text"'),
        ('[[moved]]\nrelease = "1.0" # comment', 'trl.toml:2: expected "text"'),
        ("[[moved]]\nrelease = false", "without escapes, or true, not false"),
        ("""[[gone]]\n"1.0" = ["a", 'b']""", 'trl.toml:2: expected "text"'),
        ('[[gone]]\n"1.0" = ["a" "b"]', 'trl.toml:2: expected "text"'),
        ('[[gone]]\n"1.0" = [\n"a",\n', r"expected a line \] at the end"),
        ('[[moved]]\nrelease = "1.0"\nrelease = "1.1"', "3: the table has the key release already"),
        ('[[went]]\nrelease = "1.0"', r"expected \[\[moved\]\] or \[\[gone\]\], not \[\[went\]\]"),
        (
            '[[moved]]\n"trl.A" = "trl.B"',
            r"trl.toml:1, \[\[moved\]\], key 'release': expected a text",
        ),
        (
            '[[moved]]\nrelease = "soon"\n"trl.A" = "trl.B"',
            "key 'release': expected a release such",
        ),
        ('[[moved]]\nrelease = "1.0"', "key '': expected names such as trl.trainer, not nothing"),
        (
            '[[moved]]\nrelease = "1.0"\nsinse = "0.9"\n"trl.A" = "trl.B"',
            "key 'sinse': expected names such as .*, or one of alike, differs, else, idle, member, read, release, since, source, wrapped",
        ),
        ('[[moved]]\nrelease = "1.0"\n"peft.A" = "trl.B"', "key 'peft.A': expected names"),
        ('[[moved]]\nrelease = "1.0"\n"trl.A" = "B"', "'trl.A': expected the place of today"),
        ('[[gone]]\n"1.0" = ["trl.A"]', "key 'instead': expected a text"),
        ('[[gone]]\ninstead = "Do"\n"1.0" = ["trl.A"]', "expected a sentence with a full stop"),
        ('[[gone]]\ninstead = "Do."\n"1.0" = "trl.A"', "key '1.0': expected a list of names"),
        ('[[gone]]\ninstead = "Do."\n"1.0" = ["trl-A"]', "key '1.0': expected names .* not trl-A"),
        ('[[gone]]\ninstead = "Do."\n"1.0" = ["trl.A", "trl.A"]', "expected each name once"),
        (
            '[[gone]]\ninstead = "Do."\n"1.0" = ["trl.A"]\n[[gone.forms]]\nafter = "1.0"',
            r"trl.toml:1, \[\[gone\]\], key 'forms.after': expected one of also, before, what",
        ),
    ],
)
def test_what_may_not_stand_there(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "trl.toml").write_text(text)
    with pytest.raises(TableError, match=message):
        list(names.rows(tmp_path))


def test_releases_are_known() -> None:
    """A wrong digit would recommend wrong versions."""
    for row in names.rows():
        for release in filter(None, (row.gone, row.since)):
            library, _, number = release.partition(" ")
            known = releases().get(library, (number,))
            assert number in known or Version(number) < Version(known[0]), row.name


def test_there_is_a_file_for_each_library_with_names() -> None:
    assert [file.stem for file in FILES] == [
        "accelerate",
        "bitsandbytes",
        "datasets",
        "huggingface_hub",
        "peft",
        "transformers",
        "trl",
    ]
    assert len(list(names.rows())) >= 1235
