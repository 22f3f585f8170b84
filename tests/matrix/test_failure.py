"""The line of a failed tox run that is worth recording."""

from __future__ import annotations

import pytest

from patchkit.matrix.failure import telling_line

OUTPUTS = {
    "uv finds no such release": (
        """
matrix-1.16: venv> /home/me/bin/uv venv -p python --allow-existing '--prompt=x[matrix-1.16]'
matrix-1.16: install_deps> /home/me/bin/uv pip install -r version_sets/1.16.txt
\x1b[31mUsing Python 3.11.7 environment at: .tox/matrix-1.16
error: No solution found when resolving dependencies
  cause: Because trl==99 was not found in the package registry and you require trl==99, we can \
conclude that your requirements are unsatisfiable.
\x1b[39mmatrix-1.16: exit 1 (0.20 seconds) /home/me> uv pip install -r version_sets/1.16.txt pid=7
  matrix-1.16: FAIL code 1 (0.23 seconds)
  evaluation failed :( (0.28 seconds)
""",
        "Because trl==99 was not found in the package registry and you require trl==99, we can "
        "conclude that your requirements are unsatisfiable.",
    ),
    "an older uv, over several lines": (
        """
matrix-x: install_deps> uv pip install click==8.1.6 click==8.1.7
  x No solution found when resolving dependencies:
  ╰─▶ Because you require click==8.1.6 and
      click==8.1.7, your requirements are
      unsatisfiable.
matrix-x: exit 1 (0.13 seconds) /home/me> uv pip install click==8.1.6 click==8.1.7 pid=7
  matrix-x: FAIL code 1 (0.17 seconds)
""",
        "Because you require click==8.1.6 and click==8.1.7, your requirements are unsatisfiable.",
    ),
    "pip": (
        """
matrix-x: commands_pre[0]> python -m pip install --quiet --no-deps -r no-deps/x.txt
ERROR: Could not find a version that satisfies the requirement nemo==9 (from versions: none)
ERROR: No matching distribution found for nemo==9
matrix-x: exit 1 (0.90 seconds) /home/me/tests> python -m pip install nemo==9 pid=7
  matrix-x: FAIL code 1 (1.10=setup[0.20]+cmd[0.90] seconds)
  evaluation failed :( (1.28 seconds)
""",
        "No matching distribution found for nemo==9",
    ),
    "tox finds no file of requirements": (
        "matrix-x: failed with Could not open requirements file /home/me/sets/x.txt: [Errno 2] No "
        "such file or directory: '/home/me/sets/x.txt' for tox env py within deps\n"
        "  matrix-x: FAIL code 1 (0.03 seconds)\n",
        "Could not open requirements file x.txt: [Errno 2] No such file or directory: 'x.txt' for "
        "tox env py within deps",
    ),
    "tox has no such environment": (
        "ROOT: HandledError| provided environments not found in configuration file:\nmatrix-9\n",
        "provided environments not found in configuration file: matrix-9",
    ),
    "no network": (
        "error: Failed to fetch: `https://user:word@index.example/simple/trl/`\n"
        "  Caused by: dns error\n",
        "Failed to fetch: `the package index` Caused by: dns error",
    ),
    "what was run died": (
        """
matrix-x: commands[0]> patchkit verify --output /home/me/.matrix/x.json trl-a
Traceback (most recent call last):
  File "/home/me/lib/python3.11/site-packages/patchkit/cli.py", line 3, in main
ImportError: cannot import name 'x' from 'y' (/home/me/lib/y.py)
matrix-x: exit 1 (0.02 seconds) /home/me/tests> patchkit verify pid=7
""",
        "ImportError: cannot import name 'x' from 'y' (y.py)",
    ),
    "one of ours": (
        "Error: only= names no patch: 'trl-x'. There are: none.\n",
        "only= names no patch: 'trl-x'. There are: none.",
    ),
    "in colours": ("\x1b[31merror\x1b[39m: boom\x1b[0m\n", "boom"),
    "anything": ("matrix-x: venv> uv venv\nboom: bad\n  matrix-x: FAIL code 1\n", "boom: bad"),
    "nothing": ("", "tox failed and said nothing"),
    "nothing but tox": (
        "  matrix-x: FAIL code 1 (0.03 seconds)\n  evaluation failed :( (0.1 seconds)\n",
        "tox failed and said nothing",
    ),
    "too much": (f"error: {'long ' * 100}\n", f"{('long ' * 60)[:299]}…"),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_telling_line(name: str) -> None:
    output, line = OUTPUTS[name]
    assert telling_line(output) == line
