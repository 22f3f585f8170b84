"""The last word of a command: once, on standard error, and only where patchkit had something to do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ...installed import distribution

pytestmark = pytest.mark.skipif(os.name == "nt", reason="forks, signals")

IN_FORCE = "patchkit run: 1 patch in force\n"
TRAINER = """
class Trainer:
    def __init__(self):
        self.value = bug()

    def step(self):
        return bug()

class Other(Trainer):
    def __init__(self):
        self.value = bug()
"""
PATCHES = """
from patchkit import Patch, Rewrite
from patchkit.rewrite import Pattern, Rule, replace

RULE = Rule(Pattern("bug()"), lambda node: [replace(node, "'fixed'")])
PATCH = Patch(
    id="madeup-{name}", title="fixed", affects={{"madeup": ">=1"}},
    changes=({changes}),
)
"""
CALLING = """
from patchkit import Patch, Rewrite
from patchkit.rewrite import Pattern, Rule, helper, replace

RULE = Rule(Pattern("bug()"), lambda node: [replace(node, helper("helpers_of_more:fixed") + "()")])
PATCH = Patch(
    id="madeup-bug", title="fixed", affects={"madeup": ">=1"}, changes=(Rewrite("madeup:f", RULE),)
)
"""
FRAMEWORKS = {
    "replacing": "import madeup\nmadeup.f = lambda: 'theirs'\n",
    "deleting": "from madeup import Trainer as Theirs\ndel Theirs.__init__\n",
    "delattr": "import madeup as m\nTheirs = m.Trainer\ndelattr(Theirs, '__init__')\n",
    "putting": "import madeup\ndef __init__(self):\n    self.value = 1\nmadeup.Trainer.__init__ = __init__\n",
    "wearing": "import functools, madeup\noriginal = madeup.Trainer.__init__\n"
    "def init(self): pass\ninit.__module__ = 'madeup'\ninit.__qualname__ = 'Trainer.__init__'\n"
    "madeup.Trainer.__init__ = init\n",
    "naming": "import madeup\nmade = dict(vars(madeup))\nexec('def __init__(self): pass', made)\n"
    "madeup.Trainer.__init__ = made['__init__']\nmade['__init__'].__module__ = __name__\n",
    "nameless": "import madeup\nmade = dict(vars(madeup))\n"
    "exec(compile('def __init__(self): pass', '<theirs>', 'exec'), made)\n"
    "madeup.Trainer.__init__ = made['__init__']\n",
}  # fmt: skip


@pytest.fixture
def trainers(world):
    """The library with two classes, a patch for them, and a framework for each way to harm them."""
    world.write("madeup.py", (world.folder / "madeup.py").read_text() + TRAINER)
    places = "Trainer.__init__", "Trainer.step", "Other.__init__"
    changes = "".join(f'Rewrite("madeup:{place}", RULE), ' for place in places)
    world.write("more_patches.py", PATCHES.format(name="bug", changes='Rewrite("madeup:f", RULE),'))
    world.write("own/trainer.py", PATCHES.format(name="trainer", changes=changes))
    for name, source in FRAMEWORKS.items():
        world.write(f"{name}_framework/__init__.py", "")
        world.write(f"{name}_framework/inner.py", source)
        package = {"top_level.txt": f"{name}_framework\n"}
        distribution(world.folder, f"frame-{name}", "2.1", **package)
    return world


def run(world, code: str, *options: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run code as a script, with the patches in `own`, if there are any."""
    file = world.write("script.py", code)
    own = ["--patches", "own"] if (world.folder / "own").exists() else []
    return world.run(*own, *options, "--", sys.executable, str(file), env=world.environment(**env))


def test_all_in_force(world) -> None:
    done = world.run("--", *world.probe, "a", "b")
    assert (done.returncode, done.stdout, done.stderr) == (0, "fixed a b\n", IN_FORCE)


@pytest.mark.parametrize("options", [["--quiet"], ["-q"], ["-q", "--strict"]])
def test_quiet(world, options: list[str]) -> None:
    done = world.run(*options, "--", *world.probe)
    assert (done.returncode, done.stdout, done.stderr) == (0, "fixed\n", "")


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("print('no library')", id="none imported"),
        pytest.param("import os, madeup; os._exit(0)", id="os._exit"),
        pytest.param("import madeup, patchkit; patchkit.revert()", id="reverted"),
        pytest.param("import sys, madeup; sys.stderr = None", id="no standard error"),
    ],
)
def test_silence(world, code: str) -> None:
    done = run(world, code)
    assert (done.returncode, done.stderr) == (0, "")


def test_nothing_is_read_where_no_library_was_imported(world) -> None:
    """What reads the state of patches is not imported, as the import log of Python shows."""
    world.uninstall_patches()
    done = world.run("--", sys.executable, "-v", "-c", "pass")
    imported = [line for line in done.stderr.splitlines() if line.startswith("import 'patchkit")]
    assert any("patchkit.cli.run.last_word" in line for line in imported)
    assert not any("patchkit.cli.run.standing" in line or "session" in line for line in imported)


def test_modules_that_were_not_imported(trainers) -> None:
    trainers.write("more_patches.py", PATCHES.format(name="bug", changes='Rewrite("madeup.sub:f", RULE),'))  # fmt: skip
    (trainers.folder / "madeup").mkdir()
    (trainers.folder / "madeup.py").rename(trainers.folder / "madeup" / "__init__.py")
    trainers.write("madeup/sub.py", "def f():\n    return bug()\n")
    done = run(trainers, "import madeup")
    line = "patchkit run: 1 patch in force; 1 more for modules that were not imported\n"
    assert done.stderr == line


@pytest.mark.parametrize(
    ("name", "what", "who", "patch"),
    [
        ("replacing", "f replaced", "", "madeup-bug"),
        ("deleting", "Trainer.__init__ deleted", "", "madeup-trainer"),
        ("delattr", "Trainer.__init__ deleted", "", "madeup-trainer"),
        ("putting", "Trainer.__init__ replaced", "", "madeup-trainer"),
        ("wearing", "Trainer.__init__ replaced", "", "madeup-trainer"),
        ("naming", "Trainer.__init__ replaced", "", "madeup-trainer"),
        ("nameless", "Trainer.__init__ replaced", "code of <theirs>", "madeup-trainer"),
    ],
)
def test_who_replaced_what(trainers, name: str, what: str, who: str, patch: str) -> None:
    """Though nobody calls `apply` again."""
    done = run(trainers, f"import madeup, {name}_framework.inner\nprint('trained')")
    assert (done.returncode, done.stdout) == (0, "trained\n")
    heading = "patchkit run: 1 patch in force; 1 not, or not everywhere"
    who = who or f"{name}_framework.inner (frame-{name} 2.1)"
    line = f"  {what} by {who} afterwards; not in force there: {patch}"
    assert done.stderr.splitlines() == [heading, line]


def test_a_copy_that_carries_the_patch(trainers) -> None:
    """Its text calls patchkit, so that the patch is in force in it: no harm, and said."""
    source = """
        import inspect, madeup
        text = inspect.getsource(madeup.f)
        made = dict(vars(madeup), __name__=__name__)
        exec(text.replace("def f", "def theirs"), made)
        madeup.f = made["theirs"]
        """
    library = (trainers.folder / "madeup.py").read_text()
    longer = "def f():\n    print(len('two'), end=' ')\n    return str(bug())"
    trainers.write("madeup.py", library.replace("def f():\n    return bug()", longer))
    trainers.write("helpers_of_more.py", "def fixed():\n    return 'fixed'\n")
    trainers.write("replacing_framework/inner.py", source)
    trainers.write("more_patches.py", CALLING)
    done = run(trainers, "import madeup, replacing_framework.inner\nprint(madeup.f())", "--strict")
    assert (done.returncode, done.stdout) == (0, "3 fixed\n"), done.stderr
    heading, line = done.stderr.splitlines()
    assert heading == "patchkit run: 2 patches in force"
    assert line == "  f: madeup-bug applied in a copy that frame-replacing made"


def test_the_script_itself_replaced_it(world) -> None:
    done = run(world, "import madeup\nmadeup.f = lambda: 'mine'\n")
    assert "  f replaced by __main__ (script.py) afterwards" in done.stderr


def test_several_that_one_replaced_are_one_line(trainers) -> None:
    code = "import madeup\nfor place in madeup.Trainer, madeup.Other:\n    place.__init__ = lambda self: None\n"
    done = run(trainers, code)
    (line,) = done.stderr.splitlines()[1:]
    assert line.startswith("  Trainer.__init__, Other.__init__ replaced by __main__ (script.py)")


def test_drifted(trainers) -> None:
    trainers.write("own/trainer.py", PATCHES.format(name="trainer", changes='Rewrite("madeup:bug", RULE),'))  # fmt: skip
    done = run(trainers, "import madeup")
    heading, line = done.stderr.splitlines()[-2:]
    assert heading == "patchkit run: 1 patch in force; 1 not, or not everywhere"
    assert line.startswith("  madeup-trainer drifted: ")


def test_a_patch_that_cannot_be_read(trainers) -> None:
    trainers.write("more_patches.py", "1 / 0\n")
    done = run(trainers, "import madeup")
    assert done.stderr.splitlines()[-1].startswith("  more_patches failed: ")


@pytest.mark.parametrize(
    ("end", "status", "before"),
    [
        ("raise ValueError('of my own')", 1, "ValueError: of my own"),
        ("import sys; sys.exit(3)", 3, ""),
        ("import sys; sys.exit('words')", 1, "words"),
        ("raise KeyboardInterrupt", -signal.SIGINT, "KeyboardInterrupt"),
    ],
)
def test_a_script_that_fails(world, end: str, status: int, before: str) -> None:
    done = run(world, f"import madeup\n{end}\n")
    assert (done.returncode, done.stdout) == (status, "")
    *lines, last = done.stderr.splitlines(keepends=True)
    assert last == IN_FORCE
    assert "".join(lines[-1:]).strip() == before


@pytest.mark.parametrize("options", [[], ["--quiet"]])
def test_ctrl_c_before_any_library(world, options: list[str]) -> None:
    """The status stays that of a process that Ctrl-C ended."""
    world.uninstall_patches()
    done = run(world, "raise KeyboardInterrupt", *options)
    assert done.returncode == -signal.SIGINT
    assert "patchkit" not in done.stderr


def test_ctrl_c_where_something_was_replaced(trainers) -> None:
    done = run(trainers, "import madeup, replacing_framework.inner\nraise KeyboardInterrupt")
    assert done.returncode == -signal.SIGINT
    assert "(frame-replacing 2.1)" in done.stderr


def test_the_answer_to_an_error_comes_last(world) -> None:
    message = "Attempting to unscale FP16 gradients."
    done = run(world, f"import madeup\nraise ValueError({message!r})")
    lines = done.stderr.splitlines()
    assert lines.index(IN_FORCE.strip()) < lines.index(f'  more: patchkit explain "{message}"')


LAUNCHER = """
import os, subprocess, sys
ranks = [
    subprocess.Popen([sys.executable, "-c", {code!r}], env={{**os.environ, "RANK": str(rank)}})
    for rank in range(3)
]
status = max(rank.wait() for rank in ranks)
print(sorted(name.partition("-")[2].partition("-")[0] for name in os.listdir(os.environ["TMPDIR"])))
sys.exit(status)
"""


def launch(world, code: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run code in three ranks, which a launcher starts."""
    folder = world.folder.parent / "temporary"
    folder.mkdir(exist_ok=True)
    done = run(world, LAUNCHER.format(code=code), *options, TMPDIR=str(folder))
    assert os.listdir(folder) == []
    return done


def test_ranks(world) -> None:
    done = launch(world, "import madeup")
    assert (done.returncode, done.stdout, done.stderr) == (0, "['run']\n", IN_FORCE)


def test_ranks_that_die(world) -> None:
    done = launch(world, "import madeup; raise SystemExit(int(__import__('os').environ['RANK']))")
    assert (done.returncode, done.stderr) == (2, IN_FORCE)


def test_one_rank_is_enough_for_something_wrong(world) -> None:
    code = "import madeup, os\nif os.environ['RANK'] == '2': madeup.f = lambda: 'mine'"
    done = launch(world, code)
    heading, line = done.stderr.splitlines()
    assert heading == "patchkit run: 0 patches in force; 1 not, or not everywhere"
    assert "madeup-bug" in line


def test_ranks_that_no_interpreter_started(world) -> None:
    """As `srun` and `mpirun` start them, which are no Pythons."""
    probe = " ".join(f"'{word}'" for word in world.probe)
    for variable in ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK"):
        ranks = "\n".join(f"{variable}={rank} {probe}" for rank in range(3))
        world.write("script.sh", f"cd .\n{ranks}\n")
        done = world.run("--", "sh", "script.sh")
        assert (done.stdout, done.stderr) == (3 * "fixed\n", IN_FORCE)


WAYS = {
    "fork": "import os, sys\npid = os.fork()\nif not pid:\n    import madeup\n    sys.exit(0)\nos.waitpid(pid, 0)",
    "exec": "import os, sys\nimport madeup\nos.execv(sys.executable, [sys.executable, '-c', 'import madeup'])",
    "own environment": "import os, subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import madeup'], env={'PYTHONPATH': os.environ['MADEUP'], 'TMPDIR': os.environ['TMPDIR']})",
    "spawn": "import multiprocessing\nimport madeup\nif __name__ == '__main__':\n    process = multiprocessing.get_context('spawn').Process(target=madeup.f)\n    process.start()\n    process.join()",
}


@pytest.mark.parametrize("way", WAYS)
def test_one_process_says_it_for_all(world, way: str, tmp_path: Path) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    path = world.environment()["PYTHONPATH"]
    done = run(world, WAYS[way], MADEUP=path, TMPDIR=str(folder))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", IN_FORCE)
    assert os.listdir(folder) == []


def test_a_process_that_outlives_the_outermost_says_it_itself(world, tmp_path: Path) -> None:
    child = "import madeup, os, time\nwhile os.path.exists('wait'): time.sleep(0.01)"
    code = f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {child!r}])"
    wait = world.write("wait", "")
    errors = world.write("errors", "")
    with errors.open("w") as stream:
        command = world.command("--", sys.executable, "-c", code)
        env = world.environment(TMPDIR=str(tmp_path))
        assert subprocess.run(command, cwd=world.folder, env=env, stderr=stream).returncode == 0
    assert errors.read_text() == ""
    wait.unlink()
    deadline = time.monotonic() + 60
    while errors.read_text() != IN_FORCE:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert not list(tmp_path.glob("patchkit*"))


@pytest.mark.parametrize(("rank", "said"), [("0", IN_FORCE), ("1", "")])
def test_ranks_on_another_machine(world, tmp_path: Path, rank: str, said: str) -> None:
    """Their outermost interpreter is not here, though a process may have its number."""
    here = os.uname().nodename
    child = f"import os\nos.environ['PATCHKIT_RUN'] = os.environ['PATCHKIT_RUN'].replace({here!r}, 'there')\nos.execv({sys.executable!r}, [{sys.executable!r}, '-c', 'import madeup'])"
    code = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {child!r}])"
    done = run(world, code, TMPDIR=str(tmp_path), RANK=rank)
    assert (done.stderr, list(tmp_path.glob("patchkit*"))) == (said, [])


def test_a_run_within_a_run(world) -> None:
    inner = world.command("--only", "madeup-bug", "--", *world.probe)
    code = f"import subprocess\nsubprocess.run({inner!r})"
    assert run(world, code).stderr == IN_FORCE
    both = f"import madeup\n{code}"
    assert run(world, both).stderr == 2 * IN_FORCE


REPLACE = "import madeup\nmadeup.f = 1\n"


@pytest.mark.parametrize(
    ("options", "code", "status"),
    [
        (["--strict"], "import madeup", 0),
        (["--strict"], REPLACE, 78),
        (["--strict", "--quiet"], REPLACE, 78),
        (["--strict"], f"{REPLACE}import sys\nsys.exit(3)", 78),
        (["--strict"], f"{REPLACE}raise ValueError", 1),
        (["--strict"], f"{REPLACE}raise KeyboardInterrupt", -signal.SIGINT),
        ([], REPLACE, 0),
    ],
)
def test_strict(world, options: list[str], code: str, status: int) -> None:
    end = "import atexit\natexit.register(lambda: print('said at exit'))\nprint('done', end=' ')\n"
    done = run(world, f"{end}{code}", *options)
    assert (done.returncode, done.stdout) == (status, "done said at exit\n")
    said = "  f replaced by an object of type int afterwards; not in force there: madeup-bug\n"
    assert (said in done.stderr) is (REPLACE in code)
    assert ("status 78, as --strict asks" in done.stderr) is (status == 78)
    assert (IN_FORCE in done.stderr) is (REPLACE not in code)


def test_strict_is_for_the_launcher(world) -> None:
    """A rank that failed would have the others killed, which may be saving the model."""
    code = "import madeup, os, sys\nmadeup.f = 1\nos.write(1, os.environ['RANK'].encode())"
    done = launch(world, code, "--strict")
    assert done.returncode == 78
    assert sorted(done.stdout[:3]) == ["0", "1", "2"]  # each has come to its end
    assert done.stderr.count("status 78, as --strict asks") == 1


def test_nothing_of_it_ends_the_command(world) -> None:
    """An error of the last word is told, and the status is that of the command."""
    code = "import madeup, sys\nimport patchkit.cli.run.standing as s\ns.standing_here = lambda: 1 / 0\nsys.exit(5)"
    done = run(world, code)
    assert done.returncode == 5
    assert done.stderr == "patchkit run: cannot tell whether patchkit was in force: ZeroDivisionError: division by zero\n"  # fmt: skip
