"""`compat_matrix.yaml`: written and read, and damaged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from patchkit import PatchError
from patchkit.matrix import file as matrix
from patchkit.matrix.file import read, write
from patchkit.matrix.outcome_table import OUTCOMES, STATES
from patchkit.matrix.records import Environment, Matrix, MatrixError, Result, Scan, Unmeasured

HERE = Environment(
    {"trl": "1.16.0", "torch": "2.13.0+cpu"}, "3.11.7", "linux-x86_64", "cpu", "2026-02-03"
)
ONE = Result("trl-adapter-bf16-cast", "fixed", HERE)
OLDER = replace(ONE, environment=replace(HERE, versions={**HERE.versions, "trl": "1.6.0"}))
NEWEST = replace(ONE, environment=replace(HERE, versions={**HERE.versions, "trl": "1.17.0rc1"}))
ON_GPU = replace(ONE, environment=replace(HERE, device="NVIDIA H200"))
OTHER_PATCH = Result("accelerate-gradscaler-guard", "error", HERE, "ImportError: cannot import it")
FEWER = replace(ONE, environment=replace(HERE, versions={"trl": "1.16.0"}))
RESULTS = [ONE, OLDER, NEWEST, ON_GPU, OTHER_PATCH, FEWER]
SCAN = Scan(
    "trl",
    "1.16.0",
    "2026-02-03",
    {"trl-adapter-bf16-cast": "drifted", "trl-generation-cast": "matches"},
    {"trl-adapter-bf16-cast": "SFTTrainer.__init__ has 0 sites where 1 is known"},
    {"trl-adapter-bf16-cast": ["trl.trainer.new:NewTrainer.__init__"]},
)
NO_WHEEL = Scan("trl", "1.9.0", "2026-02-03", problem="there is no wheel of it")
NOT_INSTALLED = Unmeasured("1.17", {"trl": "1.17.0"}, "2026-02-03", "no such version")
ALL = Matrix(tuple(RESULTS), (SCAN, NO_WHEEL), (NOT_INSTALLED,))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "matrix.yaml"


@pytest.mark.parametrize("content", [Matrix(), Matrix((ONE,)), Matrix(scans=(SCAN,)), ALL])
def test_round_trip(file, content: Matrix) -> None:
    write(file, content)
    found = read(file)
    for section in vars(content):
        assert sorted(map(repr, getattr(found, section))) == sorted(
            map(repr, getattr(content, section))
        )
    text = file.read_text(encoding="utf-8")
    assert text.startswith("# Written by `patchkit matrix`")
    write(file, found)
    assert file.read_text(encoding="utf-8") == text
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_every_outcome(file, outcome: str) -> None:
    write(file, Matrix((replace(ONE, outcome=outcome),)))
    assert read(file).results[0].outcome == outcome


@pytest.mark.parametrize("state", STATES)
def test_every_state(file, state: str) -> None:
    write(file, Matrix(scans=(replace(SCAN, states={"a-a": state}),)))
    assert read(file).scans[0].states == {"a-a": state}


def test_odd_names_survive(file) -> None:
    odd = replace(HERE, device="Gerät: #1 'x' \"y\"", python="3.10", platform="no", date="1-1-1")
    result = Result("a-a", "error", odd, "OSError: [Errno 2] 'x': \"y\" # é")
    write(file, Matrix((result,)))
    assert read(file).results == (result,)


def test_rows_are_sorted_by_version_as_numbers(file) -> None:
    write(file, Matrix(tuple(reversed(RESULTS)), (SCAN, NO_WHEEL)))
    found = read(file)
    versions = [result.environment.versions["trl"] for result in found.results]
    assert versions == ["1.6.0", "1.16.0", "1.16.0", "1.16.0", "1.16.0", "1.17.0rc1"]
    assert [scan.version for scan in found.scans] == ["1.9.0", "1.16.0"]


def test_order_of_the_input_does_not_matter(file) -> None:
    write(file, ALL)
    text = file.read_text()
    write(file, Matrix(tuple(reversed(RESULTS)), (NO_WHEEL, SCAN), (NOT_INSTALLED,)))
    assert file.read_text() == text


def test_an_environment_is_written_once(file) -> None:
    write(file, Matrix(tuple(replace(ONE, patch=name) for name in ("a-a", "b-b", "c-c"))))
    assert file.read_text().count("3.11.7") == 1


def test_the_shipped_matrix_can_be_read() -> None:
    assert read(matrix.default_path()).results


RUN = (
    "{versions: {trl: 1.16.0}, python: 3.11.7, platform: linux, device: cpu, date: '2026-01-01', "
    "outcomes: {a-b: fixed}}"
)
READ = "{library: trl, version: 1.16.0, date: '2026-01-01', states: {a-b: matches}}"
LEFT_OUT = "{name: '1.17', versions: {trl: 1.17.0}, date: '2026-01-01', problem: none there}"


def of(run: str = RUN, scan: str = READ, unmeasured: str = LEFT_OUT) -> str:
    return f"schema: 1\nruns:\n- {run}\nscans:\n- {scan}\nunmeasured:\n- {unmeasured}\n"


DAMAGED: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "must be a mapping with `schema: 1`"),
    "a list": ("- 1\n", "must be a mapping with `schema: 1`"),
    "a word": ("nothing", "must be a mapping with `schema: 1`"),
    "no schema": ("runs: []\n", "must be a mapping with `schema: 1`"),
    "another schema": ("schema: 7\nresults: []\n", "must be a mapping with `schema: 1`"),
    "no runs": ("schema: 1\n", "`runs` must be a list"),
    "runs a mapping": ("schema: 1\nruns: {}\n", "`runs` must be a list"),
    "runs nothing": ("schema: 1\nruns:\n", "`runs` must be a list"),
    "no scans": ("schema: 1\nruns: []\n", "`scans` must be a list"),
    "another section": (of() + "more: []\n", "unknown key 'more'"),
    "no yaml": ("schema: [2\nruns: }", "is not YAML"),
    "a tab": ("schema:\t- 1\n\t- x: y: z", "is not YAML"),
    "a python object": ("schema: !!python/object:os.system {}\n", "is not YAML"),
    "cut off": (of()[:-20] + '"', "is not YAML"),
    "control characters": ("schema: 1\x00\x01", "is not YAML"),
    "binary": (b"\x80\x81\xff\xfe\x00runs", ""),
    "no such day": (of(RUN.replace("'2026-01-01'", "2026-13-45")), ""),
    "a day": (of(RUN.replace("'2026-01-01'", "2026-01-01")), "runs 1: `date` must be a string"),
    "row a word": (of("a-b"), "runs 1: must be a mapping, not 'a-b'"),
    "row nothing": (of(f"{RUN}\n-"), "runs 2: must be a mapping, not None"),
    "row a list": (of("[a, b]"), "runs 1: must be a mapping"),
    "field missing": (of("{versions: {trl: 1.0}}"), "runs 1"),
    "no outcomes": (of(RUN.replace("outcomes", "results")), "runs 1: `outcomes` must be a mapping"),
    "field unknown": (of(f"{RUN[:-1]}, extra: 1}}"), "runs 1: unknown key 'extra'"),
    "key a number": (of("{1: 2}"), "runs 1"),
    "outcome unknown": (
        of(RUN.replace("fixed", "repaired")),
        f"runs 1: `outcomes`: a-b must be one of {', '.join(OUTCOMES)}",
    ),
    "outcome a list": (of(RUN.replace("fixed", "[fixed]")), "runs 1: `outcomes`: 'a-b' must be"),
    "versions a word": (of(RUN.replace("{trl: 1.16.0}", "trl")), "`versions` must be a mapping"),
    "versions a list": (of(RUN.replace("{trl: 1.16.0}", "[trl]")), "`versions` must be a mapping"),
    # Written by hand, and read as a number: 1.10 would be 1.1.
    "version a number": (of(RUN.replace("1.16.0", "1.10")), "runs 1: `versions`: 'trl' must be"),
    "version unknown": (of(RUN.replace("1.16.0", "main")), "runs 1: 'main' is not a version"),
    "device nothing": (of(RUN.replace("cpu", "null")), "runs 1: `device` must be a string"),
    "note a list": (of(f"{RUN[:-1]}, notes: {{a-b: []}}}}"), "runs 1: `notes`: 'a-b' must be"),
    "scan a word": (of(scan="trl"), "scans 1: must be a mapping"),
    "scan of no library": (of(scan="{version: 1.0.0}"), "scans 1: `library` must be a string"),
    "scan of no version": (of(scan=READ.replace("1.16.0", "x")), "scans 1: 'x' is not a version"),
    "state unknown": (of(scan=READ.replace("matches", "fits")), "scans 1: `states`: a-b must be"),
    "scan with more": (of(scan=f"{READ[:-1]}, extra: 1}}"), "scans 1: unknown key 'extra'"),
    "unlisted a word": (of(scan=f"{READ[:-1]}, unlisted: {{a-b: c}}}}"), "must be a list of str"),
    "unmeasured a word": (of(unmeasured="x"), "unmeasured 1: must be a mapping"),
    "unmeasured for no reason": (
        of(unmeasured=LEFT_OUT.replace("none there", "null")),
        "unmeasured 1: `problem` must be a string",
    ),
}


def test_what_is_damaged_above_is_sound(file) -> None:
    file.write_text(of())
    found = read(file)
    assert [result.patch for result in found.results] == ["a-b"]
    assert [scan.states for scan in found.scans] == [{"a-b": "matches"}]
    assert [version_set.name for version_set in found.unmeasured] == ["1.17"]


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
    assert matrix.read_or_empty(file) == Matrix()


def test_a_folder(tmp_path) -> None:
    with pytest.raises(MatrixError, match=f"cannot read {tmp_path.name}: "):
        read(tmp_path)


def test_a_folder_that_is_not_there(tmp_path) -> None:
    with pytest.raises(MatrixError, match=r"cannot write .*m\.yaml: "):
        write(tmp_path / "no" / "m.yaml", Matrix())
