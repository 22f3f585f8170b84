"""`apply` says one line at most, through logging, and nothing where nobody listens."""

from __future__ import annotations

import pytest

from ..madeup_bug import SOURCE
from ..processes import run_python

PROGRAM = """
import sys
sys.path.insert(0, {folder!r})
{before}
from patchkit.catalogue.entries import Catalogue, Entry
from patchkit.patch import Patch, Rewrite
from patchkit.rewrite import Pattern, Rule, replace
from patchkit.engine import session
rule = Rule(Pattern("bug()"), lambda node: [replace(node, "1")])
one = Patch(
    id="a-a", title="x", affects={{"madeup": ""}},
    changes=(Rewrite("madeup.trainer:Trainer.{method}", rule),),
)
session.SESSION = session.Session(Catalogue({{"a-a": Entry(one, "tests", None)}}))
import madeup.trainer
import patchkit
patchkit.apply()
patchkit.apply()
patchkit.revert()
"""
LISTENING = "import logging; logging.basicConfig(level='{level}', format='%(name)s %(message)s')"


@pytest.mark.parametrize(
    ("before", "method", "said"),
    [
        ("", "__init__", []),
        (LISTENING.format(level="WARNING"), "__init__", []),
        (
            LISTENING.format(level="INFO"),
            "__init__",
            [
                "patchkit patchkit: 1 applied",
                "patchkit patchkit: nothing new to do; 1 applied",
                "patchkit patchkit: reverted a-a",
            ],
        ),
        (
            "",
            "step",
            [
                "PatchWarning: patch a-a drifted: expected 1 occurrence of the buggy code in Trainer.step, found 0",
                "patchkit.apply()",
            ],
        ),
    ],
    ids=["nobody listens", "at warnings", "at info", "drift"],
)
def test_what_a_script_says(library, before: str, method: str, said: list[str]) -> None:
    library.write("trainer", SOURCE)
    program = PROGRAM.format(folder=str(library.folder), before=before, method=method)
    script = library.folder / "script.py"
    script.write_text(program)
    done = run_python(script)
    assert (done.returncode, done.stdout) == (0, "")
    lines = [line.rpartition(".py:")[2].lstrip("0123456789: ") for line in done.stderr.splitlines()]
    assert lines == said


def test_a_report_asks_no_session_and_loads_no_verification(fresh) -> None:
    """What a report says is its own: neither the session of the process nor verification."""
    loaded = fresh(
        """
        import sys
        from patchkit.catalogue.entries import load
        from patchkit.engine.session import Session

        report = Session(load()).report()
        import patchkit.engine.session
        patchkit.engine.session.SESSION = None
        str(report), report.to_json(), report._repr_html_()
        names = ("verification", "spawning", "forking", "measurement", "reproduce")
        result = [name for name in names if f"patchkit.{name}" in sys.modules]
        """
    )
    assert loaded == []
