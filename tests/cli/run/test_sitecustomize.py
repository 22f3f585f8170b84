"""What an environment has of its own is run as it would be without, and patchkit after it."""

from __future__ import annotations

import signal
import sys

import pytest

GOOD = "import sys\nsys.was_run = getattr(sys, 'was_run', 0) + 1\nNAME = 'theirs'\n"
TELL = """
import sys
import madeup, sitecustomize
print(madeup.f(), sys.was_run, sitecustomize.NAME, sitecustomize.__file__)
"""


@pytest.fixture
def outside(world) -> str:
    """A folder on PYTHONPATH for a `sitecustomize` of somebody else."""
    folder = world.folder.parent / "theirs"
    folder.mkdir()
    return str(folder)


def test_it_is_run_once_and_is_the_module(world, outside: str) -> None:
    file = world.write(f"{outside}/sitecustomize.py", GOOD)
    env = world.environment(outside)
    assert world.run("--", sys.executable, "-c", TELL, env=env).stdout == f"fixed 1 theirs {file}\n"


def test_none(world) -> None:
    """No trace of ours: neither the module, nor the folder."""
    code = """
import sys
assert "sitecustomize" not in sys.modules
try:
    import sitecustomize
except ImportError:
    print("none")
assert not [folder for folder in sys.path if "autostart" in folder]
"""
    without = world.plain(sys.executable, "-c", code)
    done = world.run("--", sys.executable, "-c", code)
    assert (done.stdout, done.stderr) == (without.stdout, without.stderr) == ("none\n", "")


@pytest.mark.parametrize(
    "theirs",
    ["1 / 0\n", "import no_such_module\n", "raise ImportError('x', name='sitecustomize')\n"],
)
def test_one_that_fails(world, outside: str, theirs: str) -> None:
    world.write(f"{outside}/sitecustomize.py", theirs)
    env = world.environment(outside)
    without = world.plain(*world.probe, env=env)
    done = world.run("--quiet", "--", *world.probe, env=env)
    assert without.stdout == "buggy\n"
    assert done.stdout == "fixed\n"
    assert done.stderr == 2 * without.stderr  # patchkit itself starts in that environment, too


def test_one_that_ends_the_process(world, outside: str) -> None:
    world.write(f"{outside}/sitecustomize.py", "import os\nos._exit(9)\n")
    # `patchkit` itself must get through.
    code = f"import os; os.environ['PYTHONPATH'] += os.pathsep + {outside!r}; os.execv({sys.executable!r}, {world.probe})"
    assert world.run("--", sys.executable, "-c", code).returncode == 9


def test_ctrl_c_as_an_interpreter_starts(world) -> None:
    """In a patch file, which is imported there: no fatal error of `site`, no traceback of ours."""
    text = (world.folder / "more_patches.py").read_text()
    world.write(
        "more_patches.py",
        f"import os\nif os.environ.get('PRESS'):\n    raise KeyboardInterrupt\n{text}",
    )
    command = "import os, sys; os.environ['PRESS'] = '1'; os.execv(sys.executable, [sys.executable, '-c', 'print(1)'])"
    done = world.run("--", sys.executable, "-c", command)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def test_one_that_applies_patchkit(world, outside: str) -> None:
    world.write(f"{outside}/sitecustomize.py", "import patchkit\npatchkit.apply('madeup-bug')\n")
    done = world.run("--quiet", "--", *world.probe, env=world.environment(outside))
    assert (done.stdout, done.stderr) == ("fixed\n", "")


def test_one_that_comes_first(world, outside: str) -> None:
    """Of a launcher that works as ours does, inside of it and around it."""
    world.write(
        f"{outside}/sitecustomize.py",
        """
        import os, sys
        sys.was_run = getattr(sys, "was_run", 0) + 1
        sys.path.remove(os.path.dirname(__file__))
        del sys.modules["sitecustomize"]
        try:
            import sitecustomize
        except ImportError:
            pass
        NAME = ""
        sys.modules["sitecustomize"] = sys
        """,
    )
    launcher = f"import os, sys; os.environ['PYTHONPATH'] = {outside!r} + os.pathsep + os.environ['PYTHONPATH']; os.execvp(sys.argv[1], sys.argv[1:])"
    code = "import madeup, sys; print(madeup.f(), sys.was_run)"
    inside = world.run("-q", "--", sys.executable, "-c", launcher, sys.executable, "-c", code)
    assert (inside.stdout, inside.stderr) == ("fixed 1\n", "")
    around = world.plain(
        *[sys.executable, "-c", launcher], *world.command("-q", "--", sys.executable, "-c", code)
    )
    assert (around.stdout, around.stderr) == ("fixed 1\n", "")
