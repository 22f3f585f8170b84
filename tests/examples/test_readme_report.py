"""The report that the README shows is what is printed, on the versions that it names."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
(SHOWN,) = re.findall(r"^```\n(patchkit \d.*?)^```$", README, re.DOTALL | re.MULTILINE)
PROGRAM = """
import patchkit
patchkit.apply()
from trl import SFTTrainer
print(patchkit.report())
"""


def _is_installed(library: str, release: str) -> bool:
    try:
        return version(library) == release
    except PackageNotFoundError:
        return False


@pytest.mark.skipif(
    not all(_is_installed(*pin) for pin in re.findall(r"([a-z]+)==([\d.]+\d)", SHOWN)),
    reason="the README names other versions",
)
def test_the_beginning_of_a_report() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(SHOWN)
