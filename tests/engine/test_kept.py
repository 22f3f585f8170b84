"""What rewriting came to is kept between processes, and thrown away when anything differs."""

from __future__ import annotations

import os
import stat
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from patchkit.engine import kept
from patchkit.engine.kept import KeptResults
from patchkit.rewrite import Edit
from patchkit.rewrite.results import digest
from tests import madeup_bug

from ..processes import python_path, run_python

EARLIER = 1_700_000_000
LATER = 4_000_000_000
"""Files that have just been changed are not kept anything of."""
PROGRAM = """
import inspect, linecache, sys
read = []
ask = linecache.updatecache
def watched(file, *rest):
    read.append(file)
    return ask(file, *rest)
linecache.updatecache = watched
import madeup.trainer
import patchkit
report = patchkit.apply()
from patchkit.engine.session import SESSION
at_once = list(read)
record = report["madeup-bug"]
result = {
    "status": record.status.value,
    "reason": record.reason,
    "value": madeup.trainer.Trainer().value,
    "diff": record.diff(),
    "text": inspect.getsource(madeup.trainer.Trainer.__init__),
    "at_once": [file for file in at_once if "madeup" in file],
    "hits": SESSION._kept.hits,
    "path": SESSION._kept.path,
}
patchkit.revert()
result["after"] = madeup.trainer.Trainer().value
"""


def age(*files: Path) -> None:
    for file in files:
        os.utime(file, (EARLIER, EARLIER))


class World:
    """A library, a folder with a patch of it, and a folder for what is kept."""

    def __init__(self, folder: Path, library: Any, fresh: Callable[..., Any]) -> None:
        self.module = folder / "madeup" / "trainer.py"
        library.write("trainer", madeup_bug.SOURCE)
        self.patch = folder / "fixes" / "madeup_bug.py"
        self.patch.parent.mkdir()
        self.patch.write_text(madeup_bug.patch_file("madeup-bug", target=madeup_bug.TARGET))
        self.cache = folder / "cache"
        self._fresh = fresh
        age(self.module, self.patch)
        # Nobody remembers a call beside a record that was just written: this is about rewrites.
        for record in folder.rglob("METADATA"):
            os.utime(record, (LATER, LATER))

    def run(self, code: str = PROGRAM, **env: str) -> Any:
        own = {
            "PYTHONPATH": python_path(self.module.parent.parent),
            "PATCHKIT_PATCHES": str(self.patch.parent),
            "PATCHKIT_CACHE": str(self.cache),
            "PYTHONDONTWRITEBYTECODE": "",
        }
        return self._fresh(code, env=own | env)

    @property
    def file(self) -> Path:
        (file,) = (self.cache / "rewrites").iterdir()
        return file


@pytest.fixture
def world(tmp_path: Path, library: Any, fresh: Callable[..., Any]) -> World:
    return World(tmp_path, library, fresh)


def without_counts(found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name not in ("hits", "at_once", "path")}


def test_the_second_process_reads_no_source(world: World) -> None:
    cold, warm = world.run(), world.run()
    assert cold["status"] == "applied"
    assert (cold["value"], cold["after"]) == ("fixed", "bug")
    assert "+        self.value = 'fixed'" in cold["diff"]
    assert "self.value = 'fixed'" in cold["text"]
    assert (cold["hits"], cold["at_once"]) == (0, [str(world.module)])
    assert (warm["hits"], warm["at_once"]) == (2, [])
    assert without_counts(warm) == without_counts(cold)
    assert warm["path"] == str(world.file)


def changed_module(world: World) -> None:
    world.module.write_text(madeup_bug.SOURCE.replace("self.after = 2", "self.after = 22"))
    os.utime(world.module, (EARLIER, EARLIER))


def touched_module(world: World) -> None:
    os.utime(world.module, (EARLIER, EARLIER + 60))


def changed_patch(world: World) -> None:
    world.patch.write_text(
        madeup_bug.patch_file("madeup-bug", target=madeup_bug.TARGET, fixed="'otherwise'")
    )
    os.utime(world.patch, (EARLIER, EARLIER + 60))


def new_helper(world: World) -> None:
    helper = world.patch.with_name("_helper.py")
    helper.touch()
    age(helper)


@pytest.mark.parametrize("change", [changed_module, touched_module, changed_patch, new_helper])
def test_whatever_differs_is_worked_out_again(world: World, change: Callable[..., None]) -> None:
    world.run()
    change(world)
    found = world.run()
    assert (found["status"], found["hits"]) == ("applied", 0)
    assert found["value"] == ("otherwise" if change is changed_patch else "fixed")
    assert world.run()["hits"] == 2


def test_a_file_that_changed_after_its_import_is_drift_as_ever(world: World) -> None:
    change = f"""
import pathlib, madeup.trainer
file = pathlib.Path({str(world.module)!r})
file.write_text("# another line\\n" + file.read_text())
"""
    cold = world.run(change + PROGRAM)
    world.module.write_text(madeup_bug.SOURCE)
    age(world.module)
    world.run()
    warm = world.run(change + PROGRAM)
    assert (warm["status"], warm["hits"]) == ("drifted", 0)
    assert without_counts(warm) == without_counts(cold)


def test_code_of_another_tool_is_not_taken_for_known(world: World) -> None:
    program = """
import madeup.trainer, patchkit
def __init__(self):
    self.value = bug() + " of another tool"
madeup.trainer.Trainer.__init__.__code__ = __init__.__code__
report = patchkit.apply()
result = [report["madeup-bug"].status.value, madeup.trainer.Trainer().value]
"""
    world.run()
    assert world.run(program) == ["drifted", "bug of another tool"]


def cut(content: bytes) -> list[bytes]:
    return [content[:length] for length in range(len(content))]


def poisoned(content: bytes) -> list[bytes]:
    return [
        content[:place] + bytes([content[place] ^ 1 << place % 8]) + content[place + 1 :]
        for place in range(len(content))
    ]


def function() -> object:
    return "of a test"


def small(folder: Path) -> KeptResults:
    results = KeptResults(lambda: str(folder))
    results.plan(function.__code__, "rule")
    results.keep_plan(function.__code__, "rule", [[Edit((1, 0), (1, 4), "text")]])
    results.keep_compiled(function.__code__, ["rule"], "file", function.__code__)
    return results


@pytest.fixture
def writable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


@pytest.mark.usefixtures("writable")
@pytest.mark.parametrize("damage", [cut, poisoned])
def test_a_damaged_file_is_a_miss(tmp_path: Path, damage: Callable[..., list[bytes]]) -> None:
    results = small(tmp_path)
    results.write()
    path = results.path
    content = Path(path).read_bytes()
    assert len(kept._read(path)) == 2
    for damaged in damage(content):
        Path(path).write_bytes(damaged)
        assert kept._read(path) == {}


def test_a_damaged_file_is_written_again(world: World) -> None:
    world.run()
    file = world.file
    content = file.read_bytes()
    file.write_bytes(content[:-1])
    found = world.run()
    assert (found["status"], found["hits"]) == ("applied", 0)
    assert file.read_bytes() == content


def others_may_write_the_folder(world: World) -> None:
    world.file.parent.chmod(0o777)


def others_may_write_the_file(world: World) -> None:
    world.file.chmod(0o622)


def a_link(world: World) -> None:
    elsewhere = world.cache / "elsewhere"
    world.file.rename(elsewhere)
    (world.cache / "rewrites" / Path(world.path).name).symlink_to(elsewhere)


@pytest.mark.skipif(os.name == "nt", reason="modes of files")
@pytest.mark.parametrize("spoil", [others_may_write_the_folder, others_may_write_the_file, a_link])
def test_what_others_may_have_written_is_not_read(
    world: World, spoil: Callable[[World], None]
) -> None:
    world.path = world.run()["path"]  # type: ignore[attr-defined]
    spoil(world)
    found = world.run()
    assert (found["status"], found["hits"]) == ("applied", 0)


@pytest.mark.skipif(os.name == "nt", reason="modes of files")
def test_it_is_private(world: World) -> None:
    world.run()
    assert stat.S_IMODE(world.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(world.file.parent.stat().st_mode) == 0o700


@pytest.mark.skipif(os.name == "nt", reason="owners of files")
def test_a_file_of_another_user_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writable: None
) -> None:
    results = small(tmp_path)
    results.write()
    assert kept._read(results.path)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert kept._read(results.path) == {}
    assert KeptResults(lambda: str(tmp_path)).path == ""


OFF = {
    "off": {"PATCHKIT_CACHE": "off"},
    "relative": {"PATCHKIT_CACHE": "cache"},
    "no bytecode": {"PYTHONDONTWRITEBYTECODE": "1"},
    "no folder can be made": {"PATCHKIT_CACHE": "/dev/null/cache"},
}


@pytest.mark.parametrize("case", OFF)
def test_nothing_is_kept(world: World, case: str) -> None:
    for _ in range(2):
        found = world.run(**OFF[case])
        assert (found["status"], found["hits"], found["path"]) == ("applied", 0, "")
    assert not (world.cache / "rewrites").exists()
    assert not (world.module.parent.parent / "off").exists()


@pytest.mark.usefixtures("writable")
def test_a_full_disk_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    results = small(tmp_path)
    monkeypatch.setattr(os, "replace", full)
    results.write()
    assert list((tmp_path / "rewrites").iterdir()) == []


@pytest.mark.usefixtures("writable")
def test_many_write_at_once(tmp_path: Path) -> None:
    problems: list[object] = []

    def work(number: int) -> None:
        for turn in range(20):
            results = KeptResults(lambda: str(tmp_path))
            known = results.plan(function.__code__, f"{number}")
            if turn and known not in (None, [[Edit((1, 0), (1, number), "")]]):
                problems.append(known)
            results.keep_plan(function.__code__, f"{number}", [[Edit((1, 0), (1, number), "")]])
            results.write()
            if not kept._read(results.path):
                problems.append("the file cannot be read")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    assert [file.suffix for file in (tmp_path / "rewrites").iterdir()] == [".bin"]


@pytest.mark.usefixtures("writable")
def test_it_does_not_grow_without_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = small(tmp_path)
    results.write()
    monkeypatch.setattr(kept, "_LARGEST", 2 * len(Path(results.path).read_bytes()) // 3)
    later = KeptResults(lambda: str(tmp_path))
    assert later.plan(function.__code__, "rule")
    later.keep_plan(function.__code__, "another rule", [])
    later.write()
    assert len(kept._read(results.path)) == 1
    for number in range(20):
        (tmp_path / "rewrites" / f"{number}.bin").touch()
    later.keep_plan(function.__code__, "a third rule", [])
    later.write()
    assert len(list((tmp_path / "rewrites").iterdir())) == kept._MOST_FILES
    assert Path(later.path).exists()


def test_two_processes_have_the_same_digest() -> None:
    """Sets of strings have another order in each process, and marshal marks what is shared."""
    program = """
import sys
sys.path[:0] = {path!r}
from patchkit.rewrite.results import digest
import tests.engine.test_kept as module
print(digest(module.with_sets.__code__).hex())
"""
    digests = {
        run_python(
            "-c", program.format(path=[str(Path(__file__).parents[2])]), PYTHONHASHSEED=str(seed)
        ).stdout
        for seed in range(1, 5)
    }
    (known,) = digests
    assert known


def with_sets(name: str) -> object:
    def inner(other: str) -> bool:
        return other in {"four", "five", "six", "seven", "eight"}

    return name in {"one", "two", "three"} and inner(name)


@pytest.mark.usefixtures("writable")
def test_a_digest_is_worked_out_once_for_each_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def counted(*codes: Any, **states: Any) -> bytes | None:
        asked.extend(codes)
        return digest(*codes, **states)

    monkeypatch.setattr(kept, "digest", counted)
    results, code, other = small(tmp_path), function.__code__, small.__code__
    results.plan(other, "rule")
    results.keep_plan(code, "rule", [])
    assert asked == [code, other]
    results.write()
    results.plan(code, "rule")
    assert asked == [code, other, code]  # its file may have changed meanwhile


def test_code_without_a_file_has_no_digest() -> None:
    assert digest(compile("1", "<made up>", "exec")) is None
