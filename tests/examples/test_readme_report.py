"""The report that the README shows is what is printed, on the versions that it names."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from patchkit.catalogue import entries

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
(SHOWN,) = re.findall(r"^```\n(patchkit \d.*?)^```$", README, re.DOTALL | re.MULTILINE)
PROGRAM = """
from importlib.metadata import Distribution, PackageNotFoundError

def found(cls, name, from_name=Distribution.from_name):
    # The environment of the README has no more than it names.
    if name in {absent!r}:
        raise PackageNotFoundError(name)
    return from_name(name)

Distribution.from_name = classmethod(found)
import patchkit
patchkit.apply()
from trl import SFTTrainer
result = str(patchkit.report())
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
def test_the_beginning_of_a_report(before_libraries) -> None:
    libraries = {name for entry in entries.load() for name in entry.patch.affects}
    absent = libraries - set(re.findall(r"([a-z]+)==", SHOWN))
    assert before_libraries(PROGRAM.format(absent=absent)).startswith(SHOWN)
