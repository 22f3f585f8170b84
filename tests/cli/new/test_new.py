"""`patchkit new` writes a patch and its test; the test is red until the patch is done, then green."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from patchkit.cli.new.layout import layout
from patchkit.cli.new.writing import begin

from .conftest import Run, line_of

INIT = "madeup.trainer:Trainer.__init__"
HALF = "madeup.trainer:Trainer.half"
FILES = ["patches/madeup_bug.py", "patches/tests/test_madeup_bug.py"]

REPRODUCE = """
def reproduce() -> None:
    from madeup.trainer import Trainer

    number = Trainer(1001, scale=1.5).size
    assert isinstance(number, float), "it was rounded"
"""
HALVE = """
def reproduce() -> None:
    from madeup.trainer import Trainer

    assert Trainer.half(2) == "wrapped", "it was not wrapped"
"""


def fill_in(file: Path, *changes: tuple[str, str], reproduce: str, symptom: str) -> None:
    """What the guide asks for: the edit, the symptom, the reproducer."""
    text = file.read_text().partition("\ndef reproduce")[0] + reproduce
    for before, after in (
        *changes,
        ("a regular expression for the error that reproduce() raises", symptom),
    ):
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    file.write_text(text)


def without_the_line_that_raises(file: Path) -> tuple[str, str]:
    (line,) = [line for line in file.read_text().splitlines(True) if "delete this line" in line]
    return line, ""


def test_from_red_to_green_with_a_rewrite(run: Run, tmp_path: Path) -> None:
    done = run("patchkit", "new", "madeup-bug", "--target", INIT, "--find", "math.floor(S / A)")
    assert done.returncode == 0, done.stderr
    file, test = (tmp_path / name for name in FILES)
    text = test.read_text()

    red = run("pytest", "-q", "-p", "no:cacheprovider", FILES[1])
    assert red.returncode == 1
    assert "2 failed" in red.stdout
    assert "write reproduce()" in red.stdout
    assert "write the replacement in fixed()" in red.stdout

    fill_in(
        file,
        without_the_line_that_raises(file),
        ("math.floor({code['S']} / {code['A']})", "{code['S']} / {code['A']}"),
        reproduce=REPRODUCE,
        symptom="it was rounded",
    )
    diff = run("patchkit", "diff", "madeup-bug", PATCHKIT_PATCHES="patches")
    assert "+            self.size = size / scale" in diff.stdout, diff.stderr
    verified = run("patchkit", "verify", "madeup-bug", "--patches", "patches")
    assert verified.returncode == 0, verified.stdout
    green = run("pytest", "-q", "-p", "no:cacheprovider", FILES[1])
    assert green.returncode == 0, green.stdout
    assert "2 passed" in green.stdout
    assert test.read_text() == text


def test_from_red_to_green_with_a_wrap(run: Run, tmp_path: Path) -> None:
    done = run("patchkit", "new", "madeup-bug", "--target", HALF, "--wrap")
    assert done.returncode == 0, done.stderr
    file = tmp_path / FILES[0]
    assert 'parameters=("number",)' in file.read_text()
    red = run("pytest", "-q", "-p", "no:cacheprovider", FILES[1])
    assert "2 failed" in red.stdout
    assert "write around(), and delete" in red.stdout
    fill_in(
        file,
        without_the_line_that_raises(file),
        ("    return wrapped(*args, **kwargs)\n", "    return 'wrapped'\n"),
        reproduce=HALVE.replace("half(2)", "half(2.0)"),
        symptom="not wrapped|has no attribute 'to'",
    )
    green = run("pytest", "-q", "-p", "no:cacheprovider", FILES[1])
    assert green.returncode == 0, green.stdout


def test_an_unfinished_wrap_fails_with_what_is_left_to_do(run: Run) -> None:
    run("patchkit", "new", "madeup-bug", "--target", HALF, "--wrap")
    done = run("patchkit", "report", "--json", PATCHKIT_PATCHES="patches")
    rows = {row["id"]: row for row in json.loads(done.stdout)["patches"]}
    assert "madeup-bug" not in rows
    (row,) = [row for name, row in rows.items() if name.endswith("madeup_bug.py")]
    assert row["status"] == "failed"
    assert "write around()" in row["reason"]


def test_an_unfinished_rewrite_fails_with_what_is_left_to_do(run: Run, tmp_path: Path) -> None:
    run("patchkit", "new", "madeup-bug", "--target", HALF, "--find", "number.to")
    (tmp_path / "show.py").write_text(
        "import warnings, patchkit\n"
        "warnings.simplefilter('ignore')\n"
        "import madeup.trainer\n"
        "code = madeup.trainer.Trainer.half.__code__\n"
        "record = patchkit.apply(only='madeup-bug', patches='patches')['madeup-bug']\n"
        "assert madeup.trainer.Trainer.half.__code__ is code\n"
        "print(record.status, record.reason)\n"
    )
    done = run("show")
    assert done.stdout.startswith("failed NotImplementedError: write the replacement in fixed()"), (
        done.stderr
    )


def test_an_edit_that_leaves_the_site_is_drift(run: Run, tmp_path: Path) -> None:
    run("patchkit", "new", "madeup-bug", "--target", HALF, "--find", "number.to")
    file = tmp_path / FILES[0]
    fill_in(file, without_the_line_that_raises(file), reproduce=HALVE, symptom="to")
    done = run("patchkit", "verify", "madeup-bug", "--patches", "patches", "--json")
    (verdict,) = json.loads(done.stdout)["verdicts"]
    assert "leaves buggy code behind" in verdict["with_patch"]


def test_what_is_printed(run: Run, tmp_path: Path) -> None:
    done = run("patchkit", "new", "madeup-bug", "--target", INIT, "--line", str(line_of("floor")))
    assert done.stdout.splitlines() == [
        "wrote patches/madeup_bug.py",
        "wrote patches/tests/test_madeup_bug.py",
        "",
        f"The site, madeup/trainer.py, line {line_of('floor')}:",
        "  math.floor(size / scale)",
        "",
        "Next:",
        "  1. write fixed() and reproduce() in patches/madeup_bug.py",
        "  2. patchkit diff madeup-bug --patches patches",
        "  3. patchkit verify madeup-bug --patches patches",
        "  4. pytest patches/tests/test_madeup_bug.py",
    ]
    assert done.stderr == ""


def test_what_is_printed_as_json(run: Run, tmp_path: Path) -> None:
    options = ["--line", str(line_of("total * 2")), "--folder", "a b", "--json"]
    done = run("patchkit", "new", "madeup-bug", "--target", INIT, *options)
    told = json.loads(done.stdout)
    assert told["schema"] == 1
    assert told["files"] == ["a b/madeup_bug.py", "a b/tests/test_madeup_bug.py"]
    assert all((tmp_path / name).is_file() for name in told["files"])
    assert told["affects"] == {"madeup": ">=1.2.0"}
    assert told["site"]["sites"] == 2
    assert "sites=2" in (tmp_path / told["files"][0]).read_text()
    assert told["next"][0] == "patchkit diff madeup-bug --patches 'a b'"


@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_statements_to_choose_from(run: Run, tmp_path: Path, as_json: list[str]) -> None:
    done = run("patchkit", "new", "madeup-bug", "--target", HALF, *as_json)
    assert done.returncode == 64
    line, code = line_of("number.to"), 'return number.to("float16")'
    if as_json:
        assert json.loads(done.stdout)["statements"] == [{"line": line, "code": code}]
    else:
        assert done.stdout.splitlines() == [f"{line:>6}  {code}"]
    assert done.stderr.splitlines()[-1].startswith("Error: choose a statement of Trainer.half")
    assert not (tmp_path / "patches").exists()


IDS = {
    "Madeup_Bug": "an id is lower-case words joined by hyphens, not 'Madeup_Bug'",
    "test-bug": "would be taken for a test",
    "trl-adapter-bf16-cast": "there is a patch 'trl-adapter-bf16-cast' already: patchkit.patches.trl",
    "madeup-other": "there is a patch 'madeup-other' already: ",
    "madeup-there": "patches/madeup_there.py is there already; nothing was written",
    "madeup-tested": "patches/tests/test_madeup_tested.py is there already; nothing was written",
}


@pytest.mark.parametrize("patch_id", IDS)
def test_refused(run: Run, tmp_path: Path, patch_id: str) -> None:
    run("patchkit", "new", "madeup-other", "--target", INIT, "--find", "math.floor")
    (tmp_path / "patches" / "madeup_there.py").touch()
    (tmp_path / "patches" / "tests" / "test_madeup_tested.py").touch()
    before = sorted((tmp_path / "patches").rglob("*"))
    done = run("patchkit", "new", patch_id, "--target", INIT, "--find", "math.floor")
    assert (done.returncode, done.stdout) == (64, "")
    assert IDS[patch_id] in done.stderr.splitlines()[-1]
    assert sorted((tmp_path / "patches").rglob("*")) == before


def test_what_cannot_be_written_leaves_nothing(run: Run, tmp_path: Path) -> None:
    (tmp_path / "patches").mkdir()
    (tmp_path / "patches" / "tests").touch()
    done = run("patchkit", "new", "madeup-bug", "--target", INIT, "--find", "math.floor")
    assert done.returncode == 64
    assert "cannot write" in done.stderr
    assert [path.name for path in (tmp_path / "patches").iterdir()] == ["tests"]


def checkout() -> Path:
    import patchkit

    return Path(patchkit.__file__).resolve().parents[1] / "patches"


@pytest.mark.skipif(not checkout().is_dir(), reason="patchkit is installed from a wheel")
def test_in_a_checkout_the_patch_joins_the_catalogue(monkeypatch: Any) -> None:
    root = checkout().parent
    places = layout("trl-some-bug", "trl", checkout())
    assert [file.relative_to(root).as_posix() for file in places.files] == [
        "patches/trl/some_bug.py",
        "tests/patches/trl/test_some_bug.py",
    ]
    assert places.folder is None
    new = layout("some-library-bug", "some-library", checkout())
    assert [file.relative_to(root).as_posix() for file in new.files] == [
        "patches/some_library/__init__.py",
        "patches/some_library/bug.py",
        "tests/patches/some_library/test_bug.py",
    ]
    with pytest.raises(ValueError, match="an id begins with its library: 'trl-…'"):
        layout("some-bug", "trl", checkout())


@pytest.mark.parametrize("is_there", [True, False])
def test_pytest_is_named_where_it_is_missing(madeup, monkeypatch, tmp_path, is_there: bool) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("patchkit.cli.new.writing.find_spec", lambda name: is_there or None)
    new = begin("madeup-bug", HALF, wrap=True, folder=tmp_path / "patches")
    *_, before, last = new.next_steps
    assert last.startswith("pytest ")
    assert (before == "pip install pytest") is not is_there
