"""The command is as it would be without: arguments, input, exit status, signals, traces on disk."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from patchkit.cli import main
from patchkit.cli.run import launch

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals, shells, terminals")
ECHO = "import json, sys; print(json.dumps(sys.argv[1:]))"


def test_arguments(world) -> None:
    given = [
        "two words",
        "",
        "*",
        "--",
        "-x",
        "--only",
        "no",
        "--strict",
        "--dtype=fp8",
        "-h",
        "--",
    ]
    for separator in (["--"], []):
        done = world.run(*separator, sys.executable, "-c", ECHO, *given)
        assert json.loads(done.stdout) == given


def test_input(world) -> None:
    done = world.run("--", sys.executable, "-c", "print(input(), input())", input="one\ntwo\n")
    assert done.stdout == "one two\n"


@pytest.mark.parametrize(
    ("shell", "status"),
    [
        ("exit 0", 0),
        ("exit 3", 3),
        ("kill -TERM $$", -signal.SIGTERM),
        # Python ignores it for itself, and what is ignored is inherited.
        ("kill -PIPE $$", -signal.SIGPIPE),
    ],
)
def test_exit_status(world, shell: str, status: int) -> None:
    assert world.run("--", "sh", "-c", shell).returncode == status


@pytest.mark.parametrize(
    ("command", "status", "message"),
    [
        (["no-such-command"], 127, "no-such-command: command not found"),
        (["./no-such-command"], 127, "./no-such-command: command not found"),
        (
            ["probe.py"],
            126,
            "probe.py: cannot be run as a command; did you mean: patchkit run -- python probe.py",
        ),
        (
            ["./probe.py"],
            126,
            "./probe.py: cannot be run as a command; did you mean: patchkit run -- python ./probe.py",
        ),
        (["/"], 126, "/: is a directory"),
        (["./more_patches"], 127, "./more_patches: command not found"),
        (
            ["A_B=1", "python"],
            127,
            "A_B=1: command not found; did you mean: patchkit run -- env A_B=1 COMMAND",
        ),
        (
            ["python train.py"],
            127,
            "python train.py: command not found; give the command and its arguments as separate words, without quotes",
        ),
        (["./no_shebang"], 126, "./no_shebang: Exec format error"),
    ],
)
def test_no_command(world, command, status, message, monkeypatch) -> None:
    world.write("no_shebang", "exit 0\n").chmod(0o755)
    monkeypatch.chdir(world.folder)
    done = CliRunner().invoke(main, ["run", *command], prog_name="patchkit")
    assert done.exit_code == status
    assert (done.stdout, done.stderr) == ("", f"patchkit run: {message}\n")


def test_no_arguments(world) -> None:
    done = world.run()
    assert done.returncode == 64
    assert "patchkit run -- accelerate launch train.py" in done.stderr.splitlines()[-1]


def test_beside_this_python(world) -> None:
    """An environment that is not activated; its Python must still find what is installed there."""
    name = os.path.basename(sys.executable)
    env = world.environment(PATH="/nonexistent")
    done = world.run(name, "-c", "import sys; print(sys.prefix)", env=env)
    assert done.stdout.strip() == sys.prefix
    env = world.environment(PATH="/usr/bin:/bin")
    assert world.run("true", env=env).returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_reach_the_command(world, number: int) -> None:
    code = f"""
import os, signal, time
signal.signal({int(number)}, lambda *_: os._exit(42))
print("ready", flush=True)
time.sleep(3600)
"""
    process = subprocess.Popen(
        world.command("--", sys.executable, "-c", code),
        env=world.environment(),
        cwd=world.folder,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        assert process.wait(240) == 42


def test_ctrl_c_on_a_terminal(world) -> None:
    """It goes to the command and to what that has started; nothing of either is left."""
    import pty

    child = "import os, time; print('pid', os.getpid(), flush=True); time.sleep(3600)"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(world.folder)
        command = world.command("--", sys.executable, "-c", code)
        os.execve(command[0], command, world.environment())
    written = b""
    while b"pid" not in written or not written.endswith(b"\n"):
        written += os.read(terminal, 1000)
    grandchild = int(written.split()[-1])
    os.write(terminal, b"\x03")
    with contextlib.suppress(OSError):  # what Linux says at the end
        while os.read(terminal, 1000):
            pass
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGINT
    os.close(terminal)
    deadline = time.monotonic() + 240
    with contextlib.suppress(ProcessLookupError):
        while time.monotonic() < deadline:
            os.kill(grandchild, 0)
            time.sleep(0.01)
        pytest.fail("the process that the command had started is still there")


def test_nothing_is_left_on_disk(world) -> None:
    def files() -> dict[str, int]:
        package = Path(launch.__file__).parents[2]
        places = [world.folder, package, home, temporary]
        paths = [path for place in places for path in place.rglob("*") if path.is_file()]
        # Bytecode in the package is Python's, and a test beside this one may be its occasion.
        return {
            str(path): path.stat().st_mtime_ns
            for path in paths
            if not (path.suffix == ".pyc" and path.is_relative_to(package))
        }

    home, temporary = world.folder.parent / "home", world.folder.parent / "temporary"
    home.mkdir()
    temporary.mkdir()
    env = world.environment(HOME=str(home), TMPDIR=str(temporary))
    before = files()
    assert world.run("--", *world.probe, env=env).stdout == "fixed\n"
    assert files() == before


def test_waiting_for_a_command(world) -> None:
    """What Windows does, where a process cannot become another."""
    command = [sys.executable, "-c", "import os; raise SystemExit(int(os.environ['STATUS']))"]
    environment = world.environment(STATUS="5")
    assert launch._wait_for(sys.executable, command, environment) == 5
