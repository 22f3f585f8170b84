"""`upstream`: tests that patchkit breaks are found; those that fail anyway, or once, are not."""

from __future__ import annotations

import pytest

TESTS = """
import random, sys, time, unittest
from pathlib import Path

PATCHED = any(type(finder).__module__.startswith("patchkit.") for finder in sys.meta_path)

def test_seeded():
    assert random.random() == random.Random(0).random()

def test_broken_by_patchkit():
    assert not PATCHED, "broken"

def test_fixed_by_patchkit():
    assert PATCHED

def test_fails_once_with_patchkit():
    flag = Path("failed-once")
    if PATCHED and not flag.exists():
        flag.touch()
        assert False

def test_slow():
    try:
        time.sleep(30)
    except Exception:
        pass

class TestParts(unittest.TestCase):
    def test_a_part(self):
        for number in range(2):
            with self.subTest(number=number):
                assert not PATCHED or number == 1, f"at {object()}"
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory, run_workbench) -> tuple[int, str]:
    folder = tmp_path_factory.mktemp("upstream")
    (folder / "test_madeup.py").write_text(TESTS)
    result = run_workbench("upstream", "test_madeup.py", "--seconds", "1", folder=folder)
    return result.returncode, result.stdout


def test_tests_that_patchkit_breaks_are_found(found) -> None:
    code, text = found
    assert code == 1
    lines = text.splitlines()
    ways = [line for line in lines if not line.startswith(" ")]
    same = "tests do not end as they do without patchkit"
    assert ways == [
        "plain: 2 failed, 4 passed, 0 skipped, 0 patches applied",
        f"apply: 4 failed, 2 passed, 0 skipped, 0 patches applied; 3 {same}",
        f"legacy: 3 failed, 3 passed, 0 skipped, 0 patches applied; 3 {same}",
    ]
    told = [line.strip().rpartition("::")[2] for line in lines if line.startswith("  test_")]
    assert told == 2 * ["test_a_part", "test_broken_by_patchkit", "test_fixed_by_patchkit"]
    assert "    legacy: failed AssertionError: broken assert not True\n" in text


def test_only_tests_that_pass_without_patchkit_count(run_workbench, tmp_path) -> None:
    (tmp_path / "test_madeup.py").write_text(TESTS)
    options = "-k", "fixed or seeded"
    result = run_workbench("upstream", "test_madeup.py", *options, folder=tmp_path)
    assert result.returncode == 0, result.stdout
    assert result.stdout.count("::test_fixed_by_patchkit") == 2


def test_nothing_to_run_is_an_error(run_workbench, tmp_path) -> None:
    (tmp_path / "test_madeup.py").write_text("def test(): pass")
    result = run_workbench("upstream", "test_madeup.py", "-k", "absent", folder=tmp_path)
    assert result.returncode != 0
    assert "pytest ran no test, and ended with 5" in result.stderr
