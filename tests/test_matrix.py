"""The matrix of measurements: written and read, merged, and damaged."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import patchkit
from patchkit import PatchError, catalogue, matrix
from patchkit.matrix import MatrixError, Result, merge, read, write

ONE = Result(
    patch="trl-adapter-bf16-cast",
    outcome="mended",
    versions={"trl": "1.16.0", "torch": "2.13.0+cpu"},
    python="3.11.7",
    platform="linux-x86_64",
    device="cpu",
    date="2026-02-03",
)
OLDER = replace(ONE, versions={**ONE.versions, "trl": "1.6.0"})
NEWEST = replace(ONE, versions={**ONE.versions, "trl": "1.17.0rc1"})
ON_GPU = replace(ONE, device="NVIDIA H200")
OTHER_PATCH = replace(ONE, patch="accelerate-gradscaler-guard", outcome="not-affected")
FEWER = replace(ONE, versions={"trl": "1.16.0"}, outcome="error")
ALL = [ONE, OLDER, NEWEST, ON_GPU, OTHER_PATCH, FEWER]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "matrix.yaml"


@pytest.mark.parametrize("results", [[], [ONE], ALL])
def test_round_trip(file, results: list[Result]) -> None:
    write(file, results)
    found = read(file)
    assert sorted(map(repr, found)) == sorted(map(repr, results))
    text = file.read_text(encoding="utf-8")
    assert text.startswith("# Written by `patchkit matrix record`")
    write(file, found)
    assert file.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("outcome", matrix.OUTCOMES)
def test_every_outcome(file, outcome: str) -> None:
    write(file, [replace(ONE, outcome=outcome)])
    assert read(file)[0].outcome == outcome


def test_odd_names_survive(file) -> None:
    odd = replace(
        ONE, device="Gerät: #1 'x' \"y\"", python="3.10", platform="no", date="2026-01-01"
    )
    write(file, [odd])
    assert read(file) == [odd]


def test_rows_are_sorted_by_patch_and_by_version_as_numbers(file) -> None:
    write(file, list(reversed(ALL)))
    assert read(file) == [OTHER_PATCH, ON_GPU, OLDER, ONE, NEWEST, FEWER]


def test_order_of_the_input_does_not_matter(file) -> None:
    write(file, ALL)
    text = file.read_text()
    write(file, list(reversed(ALL)))
    assert file.read_text() == text


def test_a_shipped_matrix_can_be_read() -> None:
    assert isinstance(read(matrix.default_path()), list)


AGAIN = replace(ONE, outcome="not-mended", date="2026-03-04")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ([], [], []),
        ([ONE], [], [ONE]),
        ([], [ONE], [ONE]),
        ([ONE, OLDER], [NEWEST], [ONE, OLDER, NEWEST]),
        ([ONE, OLDER], [AGAIN], [AGAIN, OLDER]),
        ([ONE], [replace(AGAIN, python="3.13.0", platform="darwin-arm64")], None),
        ([ONE], [ON_GPU], [ONE, ON_GPU]),
        ([ONE], [OTHER_PATCH], [ONE, OTHER_PATCH]),
        ([ONE], [FEWER], [ONE, FEWER]),
        ([ONE], [replace(AGAIN, versions=dict(reversed(ONE.versions.items())))], None),
    ],
)
def test_merge(old: list[Result], new: list[Result], expected: list[Result] | None) -> None:
    expected = new if expected is None else expected
    merged = merge(old, new)
    assert len(merged) == len(expected)
    assert all(one in merged for one in expected)


ROW = (
    "{patch: a-b, outcome: mended, versions: {trl: 1.16.0}, python: 3.11.7, platform: linux, "
    "device: cpu, date: '2026-01-01'}"
)
HEAD = "schema: 1\nresults:\n"
DAMAGED: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "must be a mapping with `schema: 1`"),
    "a list": ("- 1\n", "must be a mapping with `schema: 1`"),
    "a word": ("nothing", "must be a mapping with `schema: 1`"),
    "no schema": ("results: []\n", "must be a mapping with `schema: 1`"),
    "another schema": ("schema: 2\nresults: []\n", "must be a mapping with `schema: 1`"),
    "no results": ("schema: 1\n", "has no list `results`"),
    "results a mapping": ("schema: 1\nresults: {}\n", "has no list `results`"),
    "results nothing": (HEAD, "has no list `results`"),
    "no yaml": ("schema: [1\nresults: }", "is not YAML"),
    "a tab": ("schema:\t- 1\n\t- x: y: z", "is not YAML"),
    "a python object": ("schema: !!python/object:os.system {}\n", "is not YAML"),
    "cut off": (f'{HEAD}- {ROW}\n- {{patch: "a-', "is not YAML"),
    "control characters": ("schema: 1\x00\x01", "is not YAML"),
    "binary": (b"\x80\x81\xff\xfe\x00results", ""),
    "no such day": (f"{HEAD}- {ROW.replace(chr(39), '').replace('01-01', '13-45')}\n", ""),
    "row a word": (f"{HEAD}- a-b\n", "result 1 does not follow the schema"),
    "row nothing": (f"{HEAD}- {ROW}\n-\n", "result 2 does not follow the schema"),
    "row a list": (f"{HEAD}- [a, b]\n", "result 1 does not follow the schema"),
    "field missing": (f"{HEAD}- {{patch: a-b, outcome: mended}}\n", "'versions'"),
    "field unknown": (f"{HEAD}- {ROW}\n- {ROW[:-1]}, extra: 1}}\n", "'extra'"),
    "key a number": (f"{HEAD}- {{1: 2}}\n", "result 1 does not follow the schema"),
    "outcome unknown": (
        f"{HEAD}- {ROW.replace('mended', 'fixed')}\n",
        "result 1: `outcome` must be one of mended, not-mended, not-reproduced, not-affected, "
        "needs-cuda, error",
    ),
    "outcome a list": (f"{HEAD}- {ROW.replace('mended', '[mended]')}\n", "result 1: `outcome`"),
    "versions a word": (f"{HEAD}- {ROW.replace('{trl: 1.16.0}', 'trl')}\n", "`versions` a mapping"),
    "versions a list": (f"{HEAD}- {ROW.replace('{trl: 1.16.0}', '[trl]')}\n", "a mapping"),
    # Written by hand, and read as a number: 1.10 would be 1.1.
    "version a number": (f"{HEAD}- {ROW.replace('1.16.0', '1.10')}\n", "result 1"),
    "version unknown": (f"{HEAD}- {ROW.replace('1.16.0', 'main')}\n", "result 1"),
    "patch a list": (f"{HEAD}- {ROW.replace('a-b', '[a-b]')}\n", "result 1"),
    "device nothing": (f"{HEAD}- {ROW.replace('cpu', 'null')}\n", "result 1"),
}


def test_the_row_that_is_damaged_below_is_sound(file) -> None:
    file.write_text(f"{HEAD}- {ROW}\n")
    (result,) = read(file)
    assert (result.patch, result.versions) == ("a-b", {"trl": "1.16.0"})


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged(file, case: str) -> None:
    content, expected = DAMAGED[case]
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(MatrixError) as caught:
        read(file)
    message = str(caught.value)
    assert isinstance(caught.value, PatchError)
    assert message.startswith("matrix.yaml")
    assert expected in message


def test_a_file_that_is_not_there(file) -> None:
    with pytest.raises(MatrixError, match=r"^cannot read matrix\.yaml: No such file or directory$"):
        read(file)


def test_a_folder(tmp_path) -> None:
    with pytest.raises(MatrixError, match=f"cannot read {tmp_path.name}: "):
        read(tmp_path)


@pytest.fixture
def shipped(tmp_path, fresh) -> Any:
    """Runs code with a copy of patchkit whose shipped matrix is this."""

    def run(content: str | bytes | None, code: str) -> Any:
        folder = tmp_path / "site"
        without = shutil.ignore_patterns("__pycache__", "patches", "compat_matrix.yaml")
        package = folder / "patchkit"
        shutil.copytree(Path(patchkit.__file__).parent, package, ignore=without)
        shutil.copytree(catalogue.shipped_package().__path__[0], package / "patches")
        if content is not None:
            data = content if isinstance(content, bytes) else content.encode()
            (package / "compat_matrix.yaml").write_bytes(data)
        code = f"import patchkit\nassert patchkit.__file__.startswith({str(folder)!r})\n{code}"
        return fresh(code, env={"PYTHONPATH": f"{folder}:{tmp_path}"})

    return run


DISTRIBUTION = "Metadata-Version: 2.1\nName: trl\nVersion: {}\n"


def test_tested(shipped, file, tmp_path) -> None:
    """The version installed is 1.16.0, by its metadata alone."""
    info = tmp_path / "trl-1.16.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(DISTRIBUTION.format("1.16.0"))
    write(file, [*ALL, replace(OLDER, patch="trl-generation-cast")])
    result = shipped(
        file.read_text(),
        "from patchkit.matrix import tested\n"
        "patch = 'trl-adapter-bf16-cast'\n"
        "result = {one.id: one.tested for one in patchkit.report()}, [\n"
        "    tested(patch, 'trl', '1.6.0'), tested(patch, 'trl', '1.17.0'),\n"
        "    tested(patch, 'trl', None), tested(patch, 'peft', '1.16.0'),\n"
        "    tested('no-patch', 'trl', '1.16.0')]",
    )
    by_id, others = result
    assert by_id["trl-adapter-bf16-cast"] == "trl 1.16.0 measured: error, mended"
    assert by_id["trl-generation-cast"] == "not measured"
    assert others == ["trl 1.6.0 measured: mended", *4 * ["not measured"]]


@pytest.mark.parametrize("case", ["binary", "no such day", "missing"])
def test_a_damaged_matrix_stops_nobody(shipped, library, case: str) -> None:
    content = DAMAGED[case][0] if case in DAMAGED else None
    result = shipped(
        content,
        "report = patchkit.apply()\n"
        "str(report), report._repr_html_()\n"
        "again = patchkit.report()\n"
        "result = [one['tested'] for one in again.to_dict()['patches']]\n"
        "assert again.to_json()\n"
        "patchkit.revert()",
    )
    assert result
    for tested in result:
        assert tested.startswith("unknown: ")
        assert "compat_matrix.yaml" in tested
