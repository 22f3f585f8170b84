"""Patches of a made-up library, and the command line over them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .installed import distribution
from .madeup_bug import patch_file

TRAINER = """\
def bug(number):
    if number > 0:
        raise ValueError(f"bug {number}")

def f(number):
    if number == 1:
        bug(1)
    if number == 2:
        bug(2)
    if number == 3:
        bug(-3)
    if number == 4:
        bug(4)
"""
REPRODUCE = "def reproduce():\n    from madeup.trainer import f\n    f({number})"


def addon(name: str, number: int, **given: Any) -> str:
    symptom = given.pop("symptom", f"bug {number}")
    return "import os\n" + patch_file(
        f"addon-{name}",
        pattern=f"bug({number})",
        fixed=f"bug({given.pop('becomes', 0)})",
        more=f'symptom="{symptom}",',
        **{"reproduce": REPRODUCE.format(number=number), **given},
    )


MACHINE = """
from patchkit.verification.machine import PROBES
for name in PROBES:
    PROBES[name] = lambda met=name not in {lacking}: met
"""


def needing(
    name: str,
    requires: tuple[str, ...],
    *,
    lacking: tuple[str, ...] = ("cuda", "avx512-bf16"),
    part: object = None,
    affects: str = ">=1",
) -> str:
    """A patch that needs something, on a machine that lacks something."""
    source = addon(name, 1, affects=affects, symptom="bug")
    source = source.replace("symptom=", f"requires={requires}, symptom=")
    shown = "" if part is None else REPRODUCE.format(number=part).replace("(", "_anywhere(", 1)
    return f"{MACHINE.format(lacking=lacking)}{source}{shown}\n"


ADDONS = {
    "fixed": addon("fixed", 1),
    "not_fixed": addon("not-fixed", 2, becomes=22, symptom="bug 2"),
    "drifts": addon("drifts", 2, target="madeup.gone:f"),
    "not_reproduced": addon("not-reproduced", -3),
    "made_worse": addon(
        "made-worse", -3, becomes=33, symptom="bug", reproduce=REPRODUCE.format(number=3)
    ),
    "not_affected": addon("not-affected", 1, affects="<1"),
    "other_error": addon("other-error", 4, symptom="another message"),
    "needs_cuda": needing("needs-cuda", ("cuda",)),
    "needs_avx": needing("needs-avx", ("avx512-bf16",)),
    "needs_both": needing("needs-both", ("avx512-bf16", "cuda")),
    "needs_the_second": needing("needs-the-second", ("avx512-bf16", "cuda"), lacking=("cuda",)),
    "has_all": needing("has-all", ("avx512-bf16", "cuda"), lacking=()),
    "in_part": needing("in-part", ("avx512-bf16",), part=1),
    "in_part_not_fixed": needing("in-part-not-fixed", ("avx512-bf16",), part=2),
    "in_part_not_shown": needing("in-part-not-shown", ("avx512-bf16",), part=-3),
    "in_part_other_error": needing("in-part-other-error", ("avx512-bf16",), part="1, 2"),
    "part_not_needed": needing("part-not-needed", ("avx512-bf16",), part=2, lacking=()),
    "absent": addon("absent", 5).replace('"madeup"', '"no-such-library"'),
    "no_reproducer": addon("no-reproducer", 4, reproduce=""),
    # The interpreter dies without the patch, and not of the bug.
    "dies": addon(
        "dies",
        4,
        reproduce="def reproduce():\n    from madeup.trainer import f\n"
        "    try:\n        f(4)\n    except ValueError:\n        os._exit(3)",
    ),
}


Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def command(library, patchkit_command, tmp_path: Path) -> Command:
    """Runs `patchkit …` where the made-up library and patches of it are installed."""
    library.write("trainer", TRAINER)

    def run(
        *arguments: str, addons: dict[str, str], env: Any = None, program: str = "patchkit"
    ) -> Any:
        (tmp_path / "addon").mkdir(exist_ok=True)
        for name, source in addons.items():
            (tmp_path / "addon" / f"{name}.py").write_text(source)
        installed = sorted(file.stem for file in (tmp_path / "addon").glob("*.py"))
        points = "".join(f"{name} = addon.{name}\n" for name in installed)
        entry_points = {"entry_points.txt": f"[patchkit.patches]\n{points}"}
        distribution(tmp_path, "addon", "3.0", **entry_points)
        return patchkit_command(*arguments, program=program, **(env or {}))

    return run
