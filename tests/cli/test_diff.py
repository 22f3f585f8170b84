"""`patchkit diff`: what would be changed, coloured on a terminal and plain for `patch`."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest

from patchkit.patch import Rewrite
from patchkit.rewrite import Matcher, Rule

from .conftest import invoke, patch, patches

CAST = f"""\
# madeup-cast: {patches()[0].title}
--- madeup/trainer.py
+++ <patchkit>/madeup/trainer.py
@@ -1,3 +1,3 @@
 class Trainer:
     def train(self):
-        return bug()
+        return 1
"""


def test_what_is_due_by_default(madeup) -> None:
    result = invoke("diff")
    assert (result.exit_code, result.stderr) == (0, "")
    assert re.findall("^# ([a-z-]+): ", result.stdout, re.MULTILINE) == [
        "madeup-cast",
        "madeup-asked",
        "madeup-wrap",
    ]
    assert result.stdout.startswith(CAST)
    assert "# madeup.trainer:Trainer.train is wrapped by madeup.helpers.around\n" in result.stdout


def test_not_due(madeup) -> None:
    result = invoke("diff", "madeup-cast", "madeup-fixed", "absent-bug")
    assert (result.exit_code, result.stdout) == (0, CAST)
    assert result.stderr == (
        "madeup-fixed is not due: madeup 1.2.0 does not have this bug; >=2 has\n"
        "absent-bug is not due: absent is not installed\n"
    )


@pytest.mark.skipif(not shutil.which("patch"), reason="there is no `patch`")
def test_patch_can_read_it(madeup, library) -> None:
    text = invoke("diff", "madeup-cast", "madeup-wrap").stdout
    done = subprocess.run(
        ["patch", "-p0"],
        cwd=library.folder,
        input=text,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "return 1" in (library.package / "trainer.py").read_text()


def test_colours_are_for_terminals(madeup) -> None:
    on_a_terminal = invoke("diff", "madeup-cast", color=True).stdout
    assert "\x1b[32m+        return 1\x1b[0m" in on_a_terminal
    assert "\x1b[31m-        return bug()\x1b[0m" in on_a_terminal
    assert re.sub(r"\x1b\[\d+m", "", on_a_terminal) == CAST
    for switch in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert invoke("diff", "madeup-cast", color=True, env=switch).stdout == CAST


def fails() -> Matcher:
    def match(node: object) -> bool:
        raise ZeroDivisionError("oops")

    return match


DRIFTS = {
    "gone": (patch("madeup-cast", "madeup.trainer:Trainer.gone"), "does not define gone"),
    "a rule that raises": (
        patch(
            "madeup-cast",
            changes=(Rewrite("madeup.trainer:Trainer.train", Rule(fails(), list)),),
        ),
        "ZeroDivisionError: oops",
    ),
}


@pytest.mark.parametrize("case", DRIFTS)
def test_drift(use, case: str) -> None:
    drifting, message = DRIFTS[case]
    use(drifting, patch("madeup-well"))
    result = invoke("diff")
    assert result.exit_code == 1
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("# drift: ")]
    assert message in line
    assert "+        return 1" in result.stdout
    given = json.loads(invoke("diff", "--json").stdout)
    assert [bool(one["drift"]) for one in given["diffs"]] == [True, False]


def test_an_installed_version_that_does_not_parse(madeup, library) -> None:
    library.release("unknown")
    result = invoke("diff", "madeup-cast")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "madeup-cast: 'unknown' is not a version\n"


def test_the_json(madeup) -> None:
    given = json.loads(invoke("diff", "madeup-cast", "--json").stdout)
    diff = CAST.partition("\n")[2]
    assert given == {"schema": 1, "diffs": [{"id": "madeup-cast", "drift": [], "diff": diff}]}


def test_unknown(madeup) -> None:
    result = invoke("diff", "madeup-csat")
    assert (result.exit_code, result.stdout) == (64, "")
    assert "Did you mean 'madeup-cast'" in result.stderr
