"""`patchkit diff`: what would be changed, coloured on a terminal and plain for `patch`."""

from __future__ import annotations

import json
import re
import shutil
import sys

import pytest

from patchkit.patch import Rewrite
from patchkit.rewrite import Matcher, Pattern, Rule, helper, replace

from ..processes import run
from .conftest import invoke, patch, patches, refused

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
    done = run("patch", "-p0", folder=library.folder, fed=text)
    assert done.returncode == 0, done.stdout
    assert "return 1" in (library.package / "trainer.py").read_text()


def test_colours_are_for_terminals(madeup) -> None:
    on_a_terminal = invoke("diff", "madeup-cast", color=True).stdout
    assert "\x1b[32m+        return 1\x1b[0m" in on_a_terminal
    assert "\x1b[31m-        return bug()\x1b[0m" in on_a_terminal
    assert re.sub(r"\x1b\[\d+m", "", on_a_terminal) == CAST
    asked_for = invoke("diff", "madeup-cast", env={"FORCE_COLOR": "1"}).stdout
    assert asked_for == on_a_terminal
    assert "\x1b" in invoke("list", env={"FORCE_COLOR": "1"}).stdout
    assert "\x1b" in invoke("report", env={"FORCE_COLOR": "1"}).stdout
    for switch in ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, {"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert invoke("diff", "madeup-cast", color=True, env=switch).stdout == CAST


def fails() -> Matcher:
    def match(node: object) -> bool:
        raise ZeroDivisionError("oops")

    return match


DRIFTS = {
    "gone": (patch("madeup-cast", "madeup.trainer:Trainer.gone"), "does not define gone"),
    "a rule that raises": (
        patch(
            "madeup-cast", changes=(Rewrite("madeup.trainer:Trainer.train", Rule(fails(), list)),)
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
    assert [bool(diff["drift"]) for diff in given["diffs"]] == [True, False]


def test_an_installed_version_that_does_not_parse(madeup, library) -> None:
    library.release("unknown")
    result = invoke("diff", "madeup-cast")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "madeup-cast: madeup is installed, but its version 'unknown' is not a version; reinstall "
        "madeup\n"
    )


def test_the_json(madeup) -> None:
    given = json.loads(invoke("diff", "madeup-cast", "--json").stdout)
    diff = CAST.partition("\n")[2]
    assert given == {"schema": 1, "diffs": [{"id": "madeup-cast", "drift": [], "diff": diff}]}


def test_unknown(madeup) -> None:
    refused(invoke("diff", "madeup-csat"), "Did you mean 'madeup-cast'")


@pytest.mark.parametrize("names", [(), ("absent-bug",), ("absent",)])
def test_without_the_libraries_nothing_was_looked_at(use, names: tuple[str, ...]) -> None:
    use(patch("absent-bug", "absent:f", affects={"absent": ""}))
    result = invoke("diff", *names)
    assert (result.exit_code, result.stdout) == (69, "")
    assert f"Nothing was looked at: {sys.executable} has none of the libraries" in result.stderr
    assert "(absent)" in result.stderr


def test_nothing_is_due(use) -> None:
    use(patch("madeup-fixed", affects={"madeup": ">=2"}))
    result = invoke("diff")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "No patch is due here" in result.stderr


HELPER = helper("madeup.helpers:in_dtype_of_base")
LONG = Rule(
    Pattern("bug()"), lambda node: [replace(node, f"{HELPER}(x) if is_odd(x) or is_even(x) else x")]
)


def test_a_terminal_gets_the_meaning_first_and_folded_lines(use, library, monkeypatch) -> None:
    # The folded text is for people only: what `patch` reads is as it was.
    use(patch("madeup-long", changes=(Rewrite("madeup.trainer:Trainer.train", LONG),)))
    in_a_pipe = invoke("diff").stdout
    assert f"+        return {HELPER}(x) if" in in_a_pipe
    monkeypatch.setattr("patchkit.cli.diff.is_terminal", lambda: True)
    lines = invoke("diff", env={"COLUMNS": "60"}).stdout.splitlines()
    assert max(map(len, lines)) <= 60
    text = "\n".join(lines)
    assert text.index("#   It asks no more.") < text.index("--- madeup/trainer.py")
    assert text.index("`madeup.helpers.in_dtype_of_base`") < text.index("--- madeup/trainer.py")
    assert "__import__" not in text
    folded = [line for line in lines if line.startswith("+ ")]
    assert " ".join(line[1:].strip() for line in folded) == (
        "return in_dtype_of_base(x) if is_odd(x) or is_even(x) else x"
    )
    assert {line[:12] for line in folded[1:]} == {"+" + " " * 11}
