"""Workers of a `DataLoader` that are started by spawn: `patchkit run` reaches them, `apply` may."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ..conftest import BENEATH
from ..processes import run_python

SCRIPT = """
import sys
{top}
import torch


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 1

    def __getitem__(self, index):
        patchkit = sys.modules.get("patchkit")
        if patchkit:
            import accelerate
        return str(patchkit.report()["accelerate-gradscaler-guard"].status) if patchkit else "absent"


def start(worker):
    import patchkit

    patchkit.apply()


def told(**options):
    options = dict(options, num_workers=1, multiprocessing_context="spawn", batch_size=None)
    (status,) = torch.utils.data.DataLoader(Rows(), **options)
    return status


if __name__ == "__main__":
    {main}
    print("STATUS", told(), *([told(worker_init_fn=start)] if {also} else []))
"""
APPLY = "import patchkit; patchkit.apply()"


def statuses(folder: Path, *command: str, top: str = "", main: str = "", also: bool = False):
    file = folder / "train.py"
    file.write_text(SCRIPT.format(top=top, main=main or "pass", also=also))
    if command or not hasattr(os, "fork"):
        done = run_python(*command, file, folder=folder)
        stdout, stderr = done.stdout, done.stderr
    else:
        _, stdout, stderr = BENEATH.run(folder, {}, argv=[str(file)], file=str(file))
    (line,) = [line for line in stdout.splitlines() if line.startswith("STATUS")] or [stderr]
    return line.split()[1:]


def test_run_reaches_them(tmp_path: Path) -> None:
    assert statuses(tmp_path, "-m", "patchkit", "run", "--", sys.executable) == ["applied"]


def test_apply_reaches_them_at_the_top_of_the_script(tmp_path: Path) -> None:
    """A spawned worker imports the script again, under another name than `__main__`."""
    assert statuses(tmp_path, top=APPLY) == ["applied"]


def test_apply_elsewhere_does_not_but_an_init_function_does(tmp_path: Path) -> None:
    assert statuses(tmp_path, main=APPLY, also=True) == ["absent", "applied"]
