"""`patchkit run` around what starts a notebook's kernel, which is a process of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ..patches.due import only_if_due
from ..processes import run_python

ID = "accelerate-gradscaler-guard"
pytestmark = only_if_due(ID)

# Accelerate is imported in half the time of TRL.
EXECUTE = f"""
import os
import nbclient, nbformat

source = '''
import os, sys
patchkit = sys.modules.get("patchkit")
if patchkit:
    import accelerate
print("kernel", os.getpid(), patchkit.report()["{ID}"].status if patchkit else "absent")
'''
notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
nbclient.NotebookClient(notebook, kernel_name="python3", timeout=300).execute()
printed = "".join(output["text"] for output in notebook.cells[0].outputs if output.get("name") == "stdout")
print("client", os.getpid(), printed)
"""


@pytest.mark.parametrize("status", ["applied", "absent"])
def test_the_kernel_of_a_notebook(tmp_path: Path, status: str) -> None:
    for needed in ("nbclient", "ipykernel"):
        pytest.importorskip(needed)
    (tmp_path / "execute.py").write_text(EXECUTE)
    command = ["execute.py"]
    if status == "applied":
        command = ["-m", "patchkit", "run", "--", sys.executable, *command]
    own = {
        # This environment's kernel, which starts this interpreter, and not one of the user's.
        "JUPYTER_PREFER_ENV_PATH": "1",
        "JUPYTER_DATA_DIR": str(tmp_path / "jupyter"),
        "IPYTHONDIR": str(tmp_path / "jupyter"),
        "HF_HUB_OFFLINE": "1",
    }
    done = run_python(*command, folder=tmp_path, **own)
    assert done.returncode == 0, done.stderr[-2000:]
    _, client, _, kernel, told = done.stdout.split()
    assert client != kernel
    assert told == status
