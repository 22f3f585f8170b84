"""The answer to the error that a command dies of, below its traceback; and all else as without it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

MESSAGE = "Attempting to unscale FP16 gradients."
DYING = f"raise ValueError({MESSAGE!r})\n"
CAUSE = "patchkit: What is trained is float16"
MORE = f'  more: patchkit explain "{MESSAGE}"'
HOOK = """
import sys

def hook(kind, error, traceback):
    print("mine:", error, file=sys.stderr)

sys.excepthook = hook
"""


def dying(world, source: str = DYING, *options: str, **env: str):
    """Run a script under `patchkit run`, and return what it did."""
    file = world.write("dying.py", source)
    return world.run(*options, "--", sys.executable, str(file), env=world.environment(**env))


def test_it_follows_the_traceback(world) -> None:
    done = dying(world)
    plain = world.plain(sys.executable, str(world.folder / "dying.py"))
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout) == (1, "")
    assert done.stderr.startswith(plain.stderr)
    answer = done.stderr.removeprefix(plain.stderr).splitlines()
    assert answer[0].startswith(CAUSE)
    assert answer[-1] == MORE
    assert any(line.startswith("  do: Load the model in float32") for line in answer)
    assert len(answer) <= 8
    assert max(map(len, answer)) <= 80


@pytest.mark.parametrize(
    ("options", "env", "is_said"),
    [
        (["--no-explain"], {}, False),
        (["--no-explain"], {"PATCHKIT_EXPLAIN": "1"}, False),
        ([], {"PATCHKIT_EXPLAIN": "0"}, False),
        ([], {"PATCHKIT_EXPLAIN": "off"}, False),
        ([], {"PATCHKIT_EXPLAIN": "1"}, True),
        ([], {"PATCHKIT_EXPLAIN": ""}, True),
        (["--explain"], {"PATCHKIT_EXPLAIN": "0"}, True),
        (["--verbose"], {}, True),
    ],
)
def test_switches(world, options: list[str], env: dict[str, str], is_said: bool) -> None:
    done = dying(world, DYING, *options, **env)
    assert done.returncode == 1
    assert f"ValueError: {MESSAGE}" in done.stderr
    assert (CAUSE in done.stderr) is is_said


@pytest.mark.parametrize(
    "source",
    [
        "raise ValueError('of my own')",
        "raise KeyError('scale')",
        f"raise SystemExit({MESSAGE!r})",
        f"raise KeyboardInterrupt({MESSAGE!r})",
        f"try:\n    {DYING}except ValueError:\n    pass",
        f"import patchkit\nraise patchkit.PatchError({MESSAGE!r})",
        # What a launcher says of a process that has answered already.
        f"import subprocess\nraise subprocess.CalledProcessError(1, {MESSAGE!r})",
        "import nothing_like_it",
    ],
)
def test_nothing_is_said(world, source: str) -> None:
    done = dying(world, source)
    plain = world.plain(sys.executable, str(world.folder / "dying.py"))
    assert (done.returncode, done.stderr) == (plain.returncode, plain.stderr)


@pytest.mark.parametrize(("first", "is_said"), [("-9", True), ("1", False)])
def test_a_launcher_answers_for_a_rank_that_a_signal_killed_first(world, first, is_said) -> None:
    names = {"-9": "Signal 9 (SIGKILL) received by PID 7", "1": "none"}
    summary = f"""train.py FAILED
        Failures:
          exitcode  : -9 (pid: 8)
          traceback : Signal 9 (SIGKILL) received by PID 8
        Root Cause (first observed failure):
          exitcode  : {first} (pid: 7)
          traceback : {names[first]}"""
    done = dying(
        world, f"class ChildFailedError(Exception): pass\nraise ChildFailedError({summary!r})"
    )
    assert ("patchkit: The system killed the process" in done.stderr) is is_said


def test_a_crash_names_its_line_and_is_one(world) -> None:
    source = "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)"
    done = dying(world, source)
    assert done.returncode == -11
    assert done.stderr.startswith("Fatal Python error: Segmentation fault")
    assert 'dying.py", line 2 in <module>' in done.stderr
    assert dying(world, source, PATCHKIT_EXPLAIN="0").stderr == ""


@pytest.mark.parametrize(
    "command",
    [
        ["-c", DYING],
        ["-m", "dying"],
        ["-c", f"import threading, time; threading.Thread(target=time.sleep, args=(1,)).start(); {DYING}"],
        ["-c", f"import os, sys; os.execv(sys.executable, [sys.executable, '-c', {DYING!r}])"],
    ],
)  # fmt: skip
def test_ways_to_run(world, command: list[str]) -> None:
    world.write("dying.py", DYING)
    assert dying_command(world, command).stderr.count(CAUSE) == 1


def dying_command(world, command: list[str], **options: object):
    return world.run("--", sys.executable, *command, **options)


def test_standard_input(world) -> None:
    done = dying_command(world, ["-"], input=DYING)
    assert CAUSE in done.stderr


THREADS = f"""
import threading

def work():
    {DYING.strip()}

for _ in range(2):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
print("the rest")
"""
CHILDREN = f"""
import multiprocessing

def work():
    {DYING.strip()}

if __name__ == "__main__":
    context = multiprocessing.get_context("{{}}")
    children = [context.Process(target=work) for _ in range(2)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    print([child.exitcode for child in children])
"""


def test_a_thread(world) -> None:
    done = dying(world, THREADS)
    plain = world.plain(sys.executable, str(world.folder / "dying.py"))
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout) == (0, "the rest\n")
    first, rest = done.stderr.split(CAUSE)
    assert first.count("Traceback") == rest.count("Traceback") == 1
    own = [line for line in done.stderr.splitlines() if line in plain.stderr.splitlines()]
    assert "\n".join(own) == plain.stderr.strip("\n")


def test_a_thread_whose_errors_the_script_prints(world) -> None:
    hook = "import threading\nthreading.excepthook = lambda given: print('mine', given.exc_value)\n"
    done = dying(world, hook + THREADS)
    assert done.stdout.splitlines()[:2] == [f"mine {MESSAGE}"] * 2
    assert CAUSE not in done.stderr


def test_a_thread_and_then_the_script(world) -> None:
    done = dying(world, THREADS + DYING)
    assert done.returncode == 1
    assert done.stderr.count(CAUSE) == 1


@pytest.mark.parametrize("way", ["fork", "spawn", "forkserver"])
def test_children(world, way: str) -> None:
    done = dying(world, CHILDREN.format(way), TMPDIR=str(world.folder))
    plain = world.plain(sys.executable, str(world.folder / "dying.py"))
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout) == (0, "[1, 1]\n")
    assert done.stderr.count(CAUSE) == 1
    assert done.stderr.count("Traceback") == plain.stderr.count("Traceback") == 2
    assert not list(world.folder.glob("patchkit-died-*"))


def test_children_that_end_well(world) -> None:
    source = CHILDREN.format("fork").replace(DYING.strip(), "raise SystemExit(3)")
    done = dying(world, source)
    assert (done.stdout, done.stderr) == ("[3, 3]\n", "")


def test_a_hook_of_the_script_is_called_and_no_other(world) -> None:
    done = dying(world, HOOK + DYING)
    mine, answer, *_ = done.stderr.splitlines()
    assert mine == f"mine: {MESSAGE}"
    assert answer.startswith(CAUSE)
    assert "Traceback" not in done.stderr


def test_no_hook_is_replaced(world) -> None:
    source = """
        import sys, threading
        assert sys.excepthook is sys.__excepthook__
        assert threading.excepthook is threading.__excepthook__
        """
    assert dying(world, source).stderr == ""


def test_an_error_of_a_chain(world) -> None:
    done = dying(
        world, f"try:\n    {DYING}except ValueError as error:\n    raise OSError('x') from error"
    )
    assert "patchkit: of the earlier ValueError: What is trained is float16" in done.stderr
    assert done.stderr.endswith(MORE + "\n")


def test_an_error_of_ours(world) -> None:
    source = f"import patchkit.known.answering as module\nmodule.answered = None\n{DYING}"
    done = dying(world, source)
    assert done.returncode == 1
    assert done.stderr.endswith(f"ValueError: {MESSAGE}\n")


def test_without_standard_error(world) -> None:
    done = dying(world, f"import sys\nsys.stderr = None\n{DYING}")
    assert (done.returncode, done.stderr) == (1, "")


def test_the_debugger(world) -> None:
    """`python -i` keeps the error for `pdb.pm()`; what was typed at the prompt did not kill it."""
    world.write("dying.py", f"value = 41\n{DYING}")
    world.write(".pdbrc", "p value + 1\nq\n")  # Python's prompt reads ahead what pdb would read.
    typed = "import pdb\npdb.pm()\n"
    done = dying_command(world, ["-i", "dying.py"], input=typed)
    assert "42" in done.stdout.split()
    assert done.stderr.count(CAUSE) == 1
    done = dying_command(world, ["-i", "-c", ""], input=DYING)
    assert f"ValueError: {MESSAGE}" in done.stderr
    assert CAUSE not in done.stderr


RANKS = """
import os, subprocess, sys, time
dying = {dying!r}
ranks = [
    subprocess.Popen(
        [sys.executable, "-c", {source!r}],
        env={{**os.environ, "LOCAL_RANK": str(rank), "WORLD_SIZE": "3", "DIES": str(int(rank in dying))}},
    )
    for rank in range(3)
]
for rank in ranks:
    rank.wait()
print([name for name in os.listdir(os.environ["TMPDIR"]) if name.startswith("patchkit")])
"""


@pytest.mark.parametrize("ranks", [(0, 1, 2), (1,), (1, 2), ()])
def test_one_rank_says_it(world, tmp_path: Path, ranks: tuple[int, ...]) -> None:
    source = f"import os\nif os.environ['DIES'] == '1': {DYING}"
    folder = tmp_path / "temporary"
    folder.mkdir()
    done = dying(world, RANKS.format(dying=ranks, source=source), TMPDIR=str(folder))
    assert done.stderr.count(f"ValueError: {MESSAGE}") == len(ranks)
    assert done.stderr.count(CAUSE) == bool(ranks)
    assert ("patchkit-died" in done.stdout) is bool(ranks)
    assert os.listdir(folder) == []


def test_ranks_without_a_folder_for_their_mark(world, tmp_path: Path) -> None:
    source = f"import os\nif os.environ['DIES'] == '1': {DYING}"
    code = RANKS.format(dying=(0, 1, 2), source=source).replace("print(", "(lambda found: 0)(0) #")
    done = dying(world, code, TMPDIR=str(tmp_path / "absent"))
    assert done.stderr.count(CAUSE) == 1


def test_an_old_mark_silences_nobody(world, tmp_path: Path) -> None:
    """Of ranks whose launcher was killed; this process has the same parent as the command."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    mark = tmp_path / f"patchkit-died-{user}-{os.getpid()}"
    mark.touch()
    os.utime(mark, (1, 1))
    rank = {"LOCAL_RANK": "1", "TMPDIR": str(tmp_path)}
    assert CAUSE in dying(world, **rank).stderr
    another_died = f"import os\nos.utime({str(mark)!r})\n"
    assert CAUSE not in dying(world, another_died + DYING, **rank).stderr


def test_a_keyword_that_is_gone(world) -> None:
    done = dying(
        world,
        "raise TypeError(\"DPOTrainer.__init__() got an unexpected keyword argument 'tokenizer'\")",
    )
    assert "  do: Write processing_class=." in done.stderr
