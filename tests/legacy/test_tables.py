"""The files of keywords and attributes: how they are read, and what may stand in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from packaging.version import Version

from patchkit.legacy.changes import (
    Adjusted,
    Assigned,
    Attribute,
    Behaviour,
    Columns,
    Configure,
    Convert,
    Default,
    Drop,
    Keep,
    Keyword,
    LeftOut,
    OneColumn,
    Order,
    OtherResults,
    Owned,
    Uncalled,
    Value,
)
from patchkit.legacy.rows import all_rows, attributes, calls, keywords
from patchkit.legacy.rows.tables import Named, _imported
from patchkit.legacy.rows.toml import TableError
from patchkit.legacy.versions.releases import releases

HEAD = 'of = ["SFTConfig"]\nrelease = "2.0.0"\n'


def rows(module: ModuleType, folder: Path, text: str) -> list[Any]:
    (folder / "trl.toml").write_text(text, encoding="utf-8")
    return list(module.rows(folder))


def fields(row: Owned) -> dict[str, object]:
    """Return what a row has, but for what is left out."""
    return {name: value for name, value in vars(row).items() if value not in ("", False)}


@pytest.mark.parametrize(
    ("kind", "said", "action", "expected"),
    [
        ("renamed", 'since = "1.9.0"\nold = "new"', "Rename", {"to": "new"}),
        ("environment", 'since = "1.9.0"\nold = "NEW"', "SetVariable", {"variable": "NEW"}),
        ("dropped", 'old = "nothing used it"', "Drop", {"because": "nothing used it"}),
        ("refused", 'old = "Do this."', "Refuse", {"instead": "Do this."}),
        ("kept", 'old = "leave it out"', "Keep", {"to": "old", "advice": "leave it out"}),
        ("configured", 'since = "1.9.0"\nkeywords = ["old"]', "Configure", {"to": "old"}),
    ],
)
def test_what_becomes_of_a_keyword(
    tmp_path: Path, kind: str, said: str, action: str, expected: dict[str, str]
) -> None:
    (row,) = rows(keywords, tmp_path, f'[[{kind}]]\n{HEAD}source = "https://x.org"\n{said}\n')
    assert [type(row), type(row.action).__name__] == [Keyword, action]
    assert vars(row.action).items() >= expected.items()
    assert fields(row) == {
        "owners": ("trl.SFTConfig",),
        "name": "old",
        "action": row.action,
        "gone": "trl 2.0.0",
        "source": "https://x.org",
        **({"since": "trl 1.9.0"} if "since" in said else {}),
    }


def test_a_keyword_that_both_spellings_are_taken_for(tmp_path: Path) -> None:
    text = '[[renamed]]\nof = ["SFTConfig"]\nsince = "1.9.0"\nold = "new"\n'
    (row,) = rows(keywords, tmp_path, text)
    assert (row.gone, row.since, row.is_understood) == ("trl", "trl 1.9.0", True)


@pytest.mark.parametrize(
    ("unless", "said", "refused", "taken"),
    [
        ('"None"', '"Do this."', [0, "", False, []], [None]),
        ('"False"', '["it was off", "Do this."]', [1, "x"], [None, 0, "", False]),
        ('"None", "-100"', '["it was off", "Do this."]', [0, 100, False], [None, -100]),
        ('"None", "default"', '["it was off", "Do this."]', ["x", ""], [None, "default"]),
    ],
)
def test_values_that_made_no_difference(
    tmp_path: Path, unless: str, said: str, refused: Iterable[object], taken: Iterable[object]
) -> None:
    text = f"[[refused]]\n{HEAD}unless = [{unless}]\nold = {said}\n"
    (row,) = rows(keywords, tmp_path, text)
    assert [type(row), type(row.action)] == [Keyword, Drop]
    assert row.action.because == ("it was off" if said[0] == "[" else "nothing was given")
    assert row.action.instead == "Do this."
    assert all(map(row.action.unless, refused))
    assert not any(map(row.action.unless, taken))


def test_values(tmp_path: Path) -> None:
    text = f"""
[[values]]
{HEAD}keyword = "optim"
since = "1.9.0"
None = "all"
adamw-hf = "adamw"

[[refused_values]]
{HEAD}keyword = "task"
vqa = "Do this."
"""
    none, other, refused = found = rows(keywords, tmp_path, text)
    assert [type(row) for row in found] == [Value] * 3
    same = {"owners": ("trl.SFTConfig",), "gone": "trl 2.0.0"}
    optim = {**same, "name": "optim", "since": "trl 1.9.0"}
    assert fields(none) == {**optim, "value": None, "to": "all"}
    assert fields(other) == {**optim, "value": "adamw-hf", "to": "adamw"}
    assert fields(refused) == {**same, "name": "task", "value": "vqa", "instead": "Do this."}


def test_defaults(tmp_path: Path) -> None:
    text = """
[[default]]
of = ["SFTConfig", "DPOConfig"]
file = "trl/x.py"
needs = "packing"
unless = "fp16"
quiet = true
kept = true
a = ["1.0.0: None", "1.1.0: True", "1.2.0: -1", "1.3.0: 5e-5", "1.4.0: auto", "1.5.0: bf16"]

[[default]]
of = ["SFTConfig"]
b = ["1.0.0: False", "1.1.0: 1.0"]
"""
    first, second = found = rows(keywords, tmp_path, text)
    assert [type(row) for row in found] == [Default] * 2
    assert vars(first) == {
        "owners": ("trl.SFTConfig", "trl.DPOConfig"),
        "name": "a",
        "values": (
            *(("1.0.0", None), ("1.1.0", True), ("1.2.0", -1)),
            *(("1.3.0", 5e-5), ("1.4.0", "auto"), ("1.5.0", "bf16")),
        ),
        "needs": "packing",
        "unless": "fp16",
        "quiet": True,
        "kept": True,
        "gone": "trl 1.5.0",
        "since": "",
        "source": "https://github.com/huggingface/trl/blob/v1.5.0/trl/x.py",
    }
    assert [type(value) for _, value in first.values[:3]] == [type(None), bool, int]
    assert fields(second) == {
        "owners": ("trl.SFTConfig",),
        "name": "b",
        "values": (("1.0.0", False), ("1.1.0", 1.0)),
        "gone": "trl 1.1.0",
    }


def test_orders(tmp_path: Path) -> None:
    (row,) = rows(keywords, tmp_path, f'[[order]]\n{HEAD}was = ["a b", "c"]\ntoday = ["b a"]\n')
    assert type(row) is Order
    assert (row.order, row.today) == (("a", "b", "c"), ("b", "a"))
    assert row.gone == row.since == "trl 2.0.0"


def test_attributes(tmp_path: Path) -> None:
    text = f"""
[[renamed]]
{HEAD}old = "a.b"

[[renamed]]
of = ["utils.Kinds"]
release = "2.0.0"
of_class = true
OLD = "NEW"

[[constant]]
{HEAD}source = "https://x.org"
advice = "{{name}} is {{value}}"
written = "{{value}}"
backend = "auto"
number = "0.5"

[[gone]]
{HEAD}instead = "Do this."
names = ["x", "y"]
"""
    renamed, member, backend, number, *gone = found = rows(attributes, tmp_path, text)
    assert [type(row) for row in found] == [Attribute] * 6
    assert (renamed.advice, renamed.written) == ("write a.b", "{object}.a.b")
    assert renamed.read(SimpleNamespace(a=SimpleNamespace(b=3))) == 3
    assert (member.advice, member.written, member.of_class) == (
        "write Kinds.NEW",
        "{object}.NEW",
        True,
    )
    assert member.owners == ("trl.utils.Kinds",)
    assert (backend.advice, backend.written) == ("'backend' is 'auto'", "'auto'")
    assert (backend.read(None), number.read(None)) == ("auto", 0.5)
    assert backend.source == "https://x.org"
    assert [(row.name, row.read, row.advice) for row in gone] == [
        ("x", None, "Do this."),
        ("y", None, "Do this."),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[moved]]\nold = "new"', r"trl.toml: expected \[\[renamed\]\] or .*, not \[\[moved\]"),
        ('[[renamed]]\nrelease = "2.0.0"\nold = "new"', r"key 'of': expected a list of texts"),
        ('[[renamed]]\nof = ["a b"]\nold = "new"', "key 'of': expected names of trl's classes"),
        (
            '[[renamed]]\nof = ["A", "1"]\nrelease = "2.0.0"\nold = "new"',
            "key 'of': expected names of trl's classes",
        ),
        ('[[renamed]]\nof = ["A"]\nold = "new"', "key 'release': expected a text, not None"),
        (
            '\n[[renamed]]\nof = ["A"]\nrelease = "2"\nold = "new"',
            r"trl.toml:2, \[\[renamed\]\], key 'release': expected a release such as 0.12.0",
        ),
        (f"[[renamed]]\n{HEAD}", "key '': expected an old name, or one of of, release, since, so"),
        (f'[[renamed]]\n{HEAD}sinse = "1.0"', "key 'sinse': expected a name, not '1.0', or one of"),
        (f'[[renamed]]\n{HEAD}unless = ["0"]\nold = "new"', "key 'unless': expected an old name"),
        (f'[[renamed]]\n{HEAD}old = ["new"]', r"key 'old': expected a name, not \['new'\]"),
        (
            f'[[renamed]]\n{HEAD}old = "new"\n[[renamed]]\n{HEAD}old = "newer"',
            r"trl.toml:5, \[\[renamed\]\], key 'old': expected what no other table",
        ),
        (f'[[configured]]\n{HEAD}keywords = ["x"]\nold = "new"', "key 'old': expected no such key"),
        (f'[[dropped]]\n{HEAD}old = "Do this."', "key 'old': expected the end of a sentence"),
        (f'[[dropped]]\n{HEAD}old = "1.9.0"', "key 'old': expected the end of a sentence"),
        (f'[[dropped]]\n{HEAD}since = "1.9.0"\nold = "it is off"', "key 'since': expected an old"),
        (f'[[refused]]\n{HEAD}old = "do this"', "key 'old': expected a sentence with a full stop"),
        (f'[[refused]]\n{HEAD}unless = ["0"]\nold = "Do it."', "key 'old': expected a reason and"),
        (
            f'[[refused]]\n{HEAD}unless = ["0"]\nold = ["it is off", "do"]',
            "key 'old': expected a sentence with a full stop, not 'do'",
        ),
        (f'[[values]]\n{HEAD}old = "new"', "key 'keyword': expected a text"),
        ('[[default]]\nof = ["A"]\nold = "1"', "key 'old': expected a list of texts, not '1'"),
        ('[[default]]\nof = ["A"]\nold = ["1"]', "key 'old': expected texts such as '0.12.0: 512'"),
        ('[[default]]\nof = ["A"]\nold = ["1: 1"]', "key 'old': expected a release such as"),
        ('[[default]]\nof = ["A"]\nquiet = "yes"\nold = ["1.0: 1"]', "key 'quiet': expected true"),
        (f'[[order]]\n{HEAD}was = ["a"]', "key 'today': expected a list of texts, not None"),
        (f'[[order]]\n{HEAD}was = ["a"]\ntoday = ["a"]\nold = "a"', "key 'old': expected no such"),
    ],
)
def test_what_may_not_stand_among_keywords(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(TableError, match=message):
        rows(keywords, tmp_path, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f'[[dropped]]\n{HEAD}old = "new"', r"expected \[\[renamed\]\] or \[\[constant\]\] or"),
        (f'[[renamed]]\n{HEAD}old = "a b"', "key 'old': expected a name, not 'a b'"),
        (f'[[renamed]]\n{HEAD}advice = "x"\nold = "new"', "key 'advice': expected an old name"),
        (f'[[constant]]\n{HEAD}old = "1"', "key 'advice': expected a text, not None"),
        (f'[[constant]]\n{HEAD}advice = "x"\nold = ["1"]', r"key 'old': expected a text, not \["),
        (f'[[gone]]\n{HEAD}instead = "do"\nnames = ["x"]', "key 'instead': expected a sentence"),
        (f'[[gone]]\n{HEAD}instead = "Do."\nnames = []', "key 'names': expected a list of texts"),
        (f'[[gone]]\n{HEAD}instead = "Do."\nnames = ["x", "x"]', "key 'x': expected what no other"),
    ],
)
def test_what_may_not_stand_among_attributes(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(TableError, match=message):
        rows(attributes, tmp_path, text)


@pytest.mark.parametrize(
    ("kind", "said", "expected"),
    [
        ("converted", 'alike = true\nold = ["new", "a.f"]', ("new", "a.f[]", True, "")),
        ("converted", 'old = ["new", "a.f: x", "{value}"]', ("new", "a.f['x']", False, "{value}")),
        ("configured", 'keywords = ["old"]\nto = "new"\nby = "a.f"', ("new", "a.f[]", "{value}")),
        ("configured", 'keywords = ["old"]', ("old", "None", "{value}")),
        ("refused", 'matters = "a.f"\nold = ["it is", "Do this."]', ("it is", "a.f[]", "Do this.")),
        ("kept", 'to = "x"\nby = "a.b"\nwith_others = true\nold = "do it"', ("x", "a.b", False)),
        ("kept", 'old = "do it"', ("old", "", True)),
    ],
)
def test_keywords_with_a_function(
    tmp_path: Path, kind: str, said: str, expected: tuple[object, ...]
) -> None:
    (row,) = rows(keywords, tmp_path, f"[[{kind}]]\n{HEAD}{said}\n")
    assert isinstance(row, Keyword)
    match row.action:
        case Convert(to, convert, alike, written):
            found: tuple[object, ...] = (to, repr(convert), alike, written)
        case Configure(to, convert, written):
            found = (to, repr(convert), written)
        case Drop(because, unless, instead):
            found = (because, repr(unless), instead)
        case Keep(to, _, by, alone):
            found = (to, by, alone)
    assert found == expected


def test_attributes_with_a_function(tmp_path: Path) -> None:
    text = f"""
[[computed]]
{HEAD}differs = true
old = ["attributes.itself", "leave it out", "{{object}}"]

[[method]]
{HEAD}of_class = true
call = ["attributes.repeated", "do it"]

[[computed_alike]]
{HEAD}by = "attributes.of_whole_column"
advice = "list it"
names = ["copy"]

[[assigned]]
{HEAD}kept = ["attributes.with_base", "write it"]
"""
    computed, method, alike, assigned = found = rows(attributes, tmp_path, text)
    assert [type(row) for row in found] == [Attribute, Attribute, Attribute, Assigned]
    assert computed.read("x") == "x"
    assert (computed.written, computed.differs, computed.of_class) == ("{object}", True, False)
    assert method.read([1])(2) == [1, 1]
    assert (method.written, method.differs, method.of_class) == ("", False, True)
    assert alike.read([1])() == [1]
    assert (alike.name, alike.advice) == ("copy", "list it")
    assert assigned.convert(None, {"x": 1}) == {"x": 1}
    assert (assigned.name, assigned.advice, assigned.beside) == ("kept", "write it", "")


def test_calls(tmp_path: Path) -> None:
    text = """
[[behaviour]]
of = ["A", "b:C.d"]
release = "2.0.0"
source = "https://x.org"
name = "results"
by = "heads.f"
[[behaviour.silent]]
told = "gives more"
unless = ["x"]
but = ["tokenize: False"]

[[adjusted]]
of = ["A"]
release = "2.0.0"
name = "two"
by = "adjusting.x.f"
concerns = "adjusting.x.g"
[[adjusted.left_out]]
keyword = "x"
beside = "y"
made_by = "z"
because = "b"
own = "o"

[[adjusted]]
of = ["A"]
since = "2.0.0"
early = true
name = "early"
by = "adjusting.x.f"
[[adjusted.one_column]]
keyword = "x"
datasets = ["d"]
unless = "y"
known = ["a/b: messages"]

[[adjusted]]
of = ["A"]
release = "2.0.0"
name = "columns"
by = "adjusting.x.f"
[[adjusted.columns]]
names = ["x: y"]

[[uncalled]]
of = ["A"]
release = "2.0.0"
instead = "Do this."
names = ["f", "g"]
"""
    results, two, early, columns, *uncalled = found = rows(calls, tmp_path, text)
    assert [type(row) for row in found] == [Behaviour, *[Adjusted] * 5]
    assert (results.owners, results.source) == (("trl.A", "b.C.d"), "https://x.org")
    assert (results.name, repr(results.around)) == ("results", "heads.f[]")
    assert isinstance(results.silent, OtherResults)
    silent = results.silent
    assert (silent.told, silent.unless) == ("gives more", ("x",))
    assert (silent.but, silent.only) == ({"tokenize": False}, {})
    assert (repr(two.adjust), repr(two.concerns)) == ("adjusting.x.f[]", "adjusting.x.g[]")
    assert isinstance(two.in_source, LeftOut)
    left_out = {"keyword": "x", "beside": "y", "made_by": "z", "because": "b", "own": "o"}
    assert vars(two.in_source) == left_out
    assert (early.gone, early.since, early.early) == ("trl", "trl 2.0.0", True)
    assert isinstance(early.in_source, OneColumn)
    assert early.in_source.datasets == ("d",)
    assert early.in_source.known == {"a/b": "messages"}
    assert isinstance(columns.in_source, Columns)
    assert columns.in_source.names == {"x": "y"}
    assert [row.name for row in uncalled] == ["f", "g"]
    assert all(isinstance(row.in_source, Uncalled) for row in uncalled)


CALL = 'of = ["A"]\nrelease = "2.0.0"\nname = "x"\nby = "heads.f"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[behaviour]]\nof = ["A"]\nrelease = "2.0"\nname = "x"', "key 'by': expected a text"),
        (f"[[behaviour]]\n{CALL}".replace("heads.f", "f"), "key 'by': expected a module and a fun"),
        (f'[[behaviour]]\n{CALL}since = "1.0.0"', "key 'since': expected no such key"),
        (
            f'[[behaviour]]\n{CALL}[[behaviour.silent]]\nsaid = "x"',
            "key 'silent.said': expected on",
        ),
        (
            f"[[adjusted]]\n{CALL}[[adjusted.left_out]]\nkeyword = 'x'",
            "key 'left_out': expected all",
        ),
        (f"[[adjusted]]\n{CALL}[[adjusted.columns]]\nnames = ['x']", "key 'columns': expected all"),
        (f"[[adjusted]]\n{CALL}[[adjusted.wrong]]\nx = 'x'", "key 'wrong': expected no such key"),
        (
            f"[[adjusted]]\n{CALL}" + "[[adjusted.columns]]\nnames = []\n" * 2,
            "'columns': expected one",
        ),
        (
            '[[uncalled]]\nof = ["A"]\nrelease = "2.0"\ninstead = "x"',
            "key 'instead': expected a sen",
        ),
    ],
)
def test_what_may_not_stand_among_calls(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(TableError, match=message):
        rows(calls, tmp_path, text)


def test_functions_are_there() -> None:
    """They are imported when they are called, so a wrong name would raise in a training."""
    named = [found for row in all_rows() for found in _named(row)]
    assert len(named) >= 200
    assert all(callable(_imported(function.place)) for function in named)


def _named(value: object) -> Iterable[Named]:
    if isinstance(value, Named):
        yield value
    for part in (getattr(value, "args", ()), getattr(value, "__dict__", {}).values()):
        for inner in part:
            yield from _named(inner)


def test_releases_are_known() -> None:
    """A wrong digit would let a row matter to the wrong releases."""
    for row in all_rows():
        for release in filter(None, (row.gone, row.since)):
            library, _, number = release.partition(" ")
            known = releases().get(library, ())
            is_older = bool(number and known) and Version(number) < Version(known[0])
            assert not number or not known or number in known or is_older, vars(row)


def test_a_keyword_of_a_class_has_one_row_for_a_release() -> None:
    """Tables of different kinds would not notice."""
    seen = Counter(
        (owner, row.gone, row.name)
        for row in all_rows()
        if isinstance(row, Keyword)
        for owner in row.owners
    )
    assert [what for what, number in seen.items() if number > 1] == []


def test_there_is_a_file_for_each_library_with_keywords() -> None:
    assert [file.stem for file in sorted(keywords.FOLDER.glob("*.toml"))] == [
        "accelerate",
        "datasets",
        "huggingface_hub",
        "peft",
        "transformers",
        "trl",
    ]
    assert len(list(keywords.rows())) >= 223
    assert len(list(attributes.rows())) >= 94
    assert len(list(calls.rows())) >= 97
