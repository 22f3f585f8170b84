"""Each way to start another interpreter, from one that was reached: it is reached as well."""

from __future__ import annotations

import json
import os
import sys

import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="forks")

WAYS = {
    "itself": "work.probe()",
    "thread": "t = threading.Thread(target=work.probe); t.start(); t.join()",
    "fork": "os.waitpid(os.fork() or (work.probe(), sys.stdout.flush(), os._exit(0)), 0)",
    "subprocess.run": "subprocess.run(PROBE)",
    "subprocess.run(env=)": "subprocess.run(PROBE, env=ENV)",
    "subprocess.run(bytes env=)": "subprocess.run(PROBE, env=BYTES)",
    "Popen(…, env)": "subprocess.Popen(PROBE, -1, None, None, None, None, None, True, False, None, ENV).wait()",
    "a subclass of Popen": "type('Sub', (subprocess.Popen,), {})(PROBE, env=ENV).wait()",
    "shell=True": "subprocess.run(SHELL, shell=True)",
    "shell=True, env=": "subprocess.run(SHELL, shell=True, env=ENV)",
    "a shell script": "subprocess.run(['sh', 'script.sh'])",
    "xargs": "subprocess.run(['xargs', '-0', *PROBE], stdin=subprocess.DEVNULL)",
    "env NAME=VALUE": "subprocess.run(['env', 'A=B', *PROBE])",
    "a shebang": "subprocess.run(['./executable'])",
    "os.system": "os.system(SHELL)",
    "os.popen": "print(os.popen(SHELL).read(), end='')",
    "os.execv": "os.execv(PROBE[0], PROBE)",
    "os.execl": "os.execl(PROBE[0], *PROBE)",
    "os.execve": "os.execve(PROBE[0], PROBE, ENV)",
    "os.execve(bytes)": "os.execve(PROBE[0], PROBE, BYTES)",
    "os.execlp": "os.execlp(PROBE[0], *PROBE)",
    "os.execvpe": "os.execvpe(PROBE[0], PROBE, ENV)",
    "os.spawnv": "os.spawnv(os.P_WAIT, PROBE[0], PROBE)",
    "os.spawnve": "os.spawnve(os.P_WAIT, PROBE[0], PROBE, ENV)",
    "os.spawnlp": "os.spawnlp(os.P_WAIT, PROBE[0], *PROBE)",
    "os.posix_spawn": "os.waitpid(os.posix_spawn(PROBE[0], PROBE, ENV), 0)",
    "os.posix_spawn(os.environ)": "os.waitpid(os.posix_spawn(PROBE[0], PROBE, os.environ), 0)",
    "os.posix_spawnp": "os.waitpid(os.posix_spawnp(PROBE[0], PROBE, ENV), 0)",
    "pty.spawn": "import pty; pty.spawn(PROBE)",
    "asyncio": "asyncio.run(work.in_a_loop(PROBE, ENV))",
    "multiprocessing fork": "work.process('fork')",
    "multiprocessing spawn": "work.process('spawn')",
    "multiprocessing forkserver": "work.process('forkserver')",
    "ProcessPoolExecutor spawn": "work.pool('spawn')",
    "two levels": "subprocess.run([PROBE[0], '-c', f'import os; os.execve({PROBE[0]!r}, {PROBE}, {ENV})'], env=ENV)",
}
WORK = """
import asyncio, concurrent.futures, multiprocessing
def answer():
    import madeup
    return madeup.f()
def probe():
    print(answer(), flush=True)
def process(method):
    process = multiprocessing.get_context(method).Process(target=probe)
    process.start()
    process.join()
def pool(method):
    context = multiprocessing.get_context(method)
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as executor:
        print(executor.submit(answer).result())
async def in_a_loop(command, env):
    process = await asyncio.create_subprocess_exec(*command, env=env)
    await process.wait()
"""
PROGRAM = """
import asyncio, json, os, shlex, subprocess, sys, threading
import work
PROBE = [sys.executable, "probe.py"]
SHELL = shlex.join(PROBE)
if __name__ == "__main__":
    ways = json.loads(sys.argv[1])
    ENV = {"PYTHONPATH": os.environ["MADEUP"]}
    BYTES = {os.fsencode(name): os.fsencode(value) for name, value in ENV.items()}
    exec(sys.argv[2])
    for number, (name, code) in enumerate(ways.items()):
        # Each in a process of its own, since some of them put another in its place.
        if os.fork() == 0:
            out = os.open(f"{number}.out", os.O_WRONLY | os.O_CREAT)
            os.dup2(out, 1)
            try:
                exec(code)
            finally:
                sys.stdout.flush()
                os._exit(0)
        if number % 2:
            os.wait()
    try:
        while True:
            os.wait()
    except ChildProcessError:
        pass
    print(json.dumps({name: open(f"{i}.out").read().strip() for i, name in enumerate(ways)}))
"""
BEFORE = {
    "as it is": "",
    "overwritten": 'os.environ["PYTHONPATH"] = os.environ["MADEUP"]; del os.environ["PATCHKIT_RUN"]',
}


@pytest.mark.parametrize("before", BEFORE)
def test_reached(before: str, world) -> None:
    world.write("work.py", WORK)
    world.write("program.py", PROGRAM)
    probe = " ".join(f"'{word}'" for word in world.probe)
    world.write("script.sh", f"cd .\n{probe}\n")
    world.write("executable", f"#!/bin/sh\nexec {probe}\n").chmod(0o755)
    # What has an environment of its own is the same in both cases.
    ways = {
        way: code
        for way, code in WAYS.items()
        if before == "as it is" or ("ENV" not in code and "BYTES" not in code)
    }
    program = [sys.executable, "program.py", json.dumps(ways), BEFORE[before]]
    env = world.environment()
    done = world.run("--only", "madeup-*", "--", *program, env={**env, "MADEUP": env["PYTHONPATH"]})
    # Once, for all of them.
    assert (done.returncode, done.stderr) == (0, "patchkit run: 1 patch in force\n")
    assert json.loads(done.stdout.splitlines()[-1]) == dict.fromkeys(ways, "fixed")


def test_not_reached(world) -> None:
    """What the help says: these leave PYTHONPATH out of account."""
    python, probe = world.probe
    for command in ([python, "-I", probe], [python, "-E", probe], ["env", "-i", python, probe]):
        assert world.run("--", *command).stdout == "buggy\n"
    assert world.run("--", python, "-S", probe).stdout in ("buggy\n", "")


def test_nowhere_else(world) -> None:
    """Neither in an interpreter beside the command, nor in one after it."""
    during = world.plain(*world.probe)
    assert world.run("--", *world.probe).stdout == "fixed\n"
    assert during.stdout == world.plain(*world.probe).stdout == "buggy\n"
