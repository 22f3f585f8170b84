"""A made-up library with a bug, its patch in another distribution, and `patchkit run` around it."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from patchkit.cli.run.variables import VARIABLE

from ...processes import python_path

FILES = {
    "madeup.py": "def bug():\n    return 'buggy'\n\n\ndef f():\n    return bug()\n",
    "madeup-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: madeup\nVersion: 1.0\n",
    "more_patches.py": """
        from patchkit import Patch, Rewrite, Setting
        from patchkit.rewrite import Pattern, Rule, replace

        RULE = Rule(Pattern("bug()"), lambda node: [replace(node, "'fixed'")])
        PATCH = Patch(
            id="madeup-bug", title="fixed", affects={"madeup": ">=1"},
            changes=(Rewrite("madeup:f", RULE),),
            settings=(Setting("madeup_choice", ("first", "second"), "what it is for"),),
        )
        """,
    "more-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: more\nVersion: 1.0\n",
    "more-1.0.dist-info/entry_points.txt": "[patchkit.patches]\nbug = more_patches\n",
    "probe.py": """
        import os, sys
        sys.path.append(os.path.dirname(os.path.abspath(__file__)))
        import madeup
        print(madeup.f(), *sys.argv[1:])
        """,
}


class World:
    """A folder with the library, and a way to run commands in it.

    Args:
        folder: where it is.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.probe = [sys.executable, str(folder / "probe.py")]

    def write(self, name: str, text: str) -> Path:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text).lstrip(), encoding="utf-8")
        return file

    def uninstall_patches(self) -> None:
        (self.folder / "more-1.0.dist-info" / "entry_points.txt").unlink()

    def environment(self, *folders: str, **more: str) -> dict[str, str]:
        path = python_path(*folders, self.folder)
        env = {name: value for name, value in os.environ.items() if name != VARIABLE}
        return {**env, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **more}

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "patchkit", "run", *arguments]

    def plain(self, *command: str, **options: object) -> subprocess.CompletedProcess[str]:
        """Run a command without patchkit."""
        options = {"cwd": self.folder, "env": self.environment(), "timeout": 120, **options}
        return subprocess.run(command, capture_output=True, text=True, check=False, **options)

    def run(self, *arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
        """Run `patchkit run` with these arguments."""
        return self.plain(*self.command(*arguments), **options)


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path / "made up")
    for name, text in FILES.items():
        made.write(name, text)
    return made
