"""`apply(explain=True)`, and the cells of IPython."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

import patchkit

MESSAGE = "Attempting to unscale FP16 gradients."
DYING = f"raise ValueError({MESSAGE!r})"
CAUSE = "patchkit: What is trained is float16"


def died(source: str, **env: str) -> str:
    """Run a script that dies, and return what it said of that."""
    import os

    given = {name: value for name, value in os.environ.items() if name != "PATCHKIT_EXPLAIN"}
    done = subprocess.run(
        [sys.executable, "-c", f"import patchkit\n{textwrap.dedent(source)}\n{DYING}"],
        capture_output=True,
        text=True,
        check=False,
        env={**given, **env},
    )
    assert done.returncode == 1
    assert f"ValueError: {MESSAGE}" in done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("source", "env", "is_said"),
    [
        ("", {}, False),
        ("", {"PATCHKIT_EXPLAIN": "1"}, False),
        ("patchkit.apply()", {}, False),
        ("patchkit.apply(explain=None)", {}, False),
        ("patchkit.apply()", {"PATCHKIT_EXPLAIN": "1"}, True),
        ("patchkit.apply()", {"PATCHKIT_EXPLAIN": "0"}, False),
        ("patchkit.apply(explain=True)", {}, True),
        ("patchkit.apply(explain=True)", {"PATCHKIT_EXPLAIN": "0"}, True),
        ("patchkit.apply(explain=True); patchkit.apply()", {}, True),
        ("patchkit.apply(explain=True); patchkit.apply(explain=True)", {}, True),
        ("patchkit.apply(explain=True); patchkit.apply(explain=False)", {}, False),
        ("patchkit.apply(explain=False)", {"PATCHKIT_EXPLAIN": "1"}, False),
        ("patchkit.apply(explain=True); patchkit.revert()", {}, False),
        ("patchkit.apply(explain=True); patchkit.revert('trl-*')", {}, True),
    ],
)
def test_apply(source: str, env: dict[str, str], is_said: bool) -> None:
    assert died(source, **env).count(CAUSE) == is_said


def test_a_call_that_is_refused_changes_nothing() -> None:
    source = """
        for wrong in ({"explain": 1}, {"explain": True, "only": "no-such-patch"}):
            try:
                patchkit.apply(**wrong)
            except patchkit.PatchError as error:
                print(error)
            else:
                raise SystemExit("accepted")
        """
    assert CAUSE not in died(source)


def test_a_block_cannot_have_it() -> None:
    with pytest.raises(patchkit.UsageError, match="its block ends before the program dies"):
        patchkit.patched(explain=True)


def test_nothing_is_imported(fresh) -> None:
    """Neither before the death nor for the answer, but the standard library and patchkit."""
    before, after = fresh(
        f"""
        import sys
        import patchkit
        patchkit.apply(explain=True)
        loaded = set(sys.modules)
        before = [name for name in loaded if name.startswith("patchkit.known")]
        try:
            {DYING}
        except ValueError as error:
            from patchkit.known.unasked import answer_lines
            assert answer_lines(error)
        new = {{name.partition(".")[0] for name in set(sys.modules) - loaded}}
        result = [sorted(before), sorted(new - set(sys.stdlib_module_names) - {{"packaging"}})]
        """
    )
    assert before == ["patchkit.known", "patchkit.known.out_of_sight", "patchkit.known.unasked"]
    assert after == ["patchkit"]


CELLS = """
import sys
from IPython.core.interactiveshell import InteractiveShell
from IPython.core import debugger

shell = InteractiveShell.instance()
shell.run_line_magic("colors", "NoColor")

def run(cell):
    print("cell", cell.replace(chr(10), " "), file=sys.stderr, flush=True)
    shell.run_cell(cell)
    sys.stdout.flush()

{cells}
"""


def cells(*run: str, more: str = "", **env: str) -> dict[str, str]:
    """Run cells in an IPython, and return what each said on standard error."""
    pytest.importorskip("IPython")
    import os

    code = CELLS.format(cells="\n".join([more, *(f"run({cell!r})" for cell in run)]))
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "IPYTHONDIR": os.devnull + "-none", **env},
    )
    assert done.returncode == 0, done.stderr
    parts = done.stderr.split("cell ")[1:]
    return {cell: part.partition("\n")[2] for cell, part in zip(run, parts, strict=True)} | {
        "": done.stdout
    }


@pytest.mark.parametrize(
    "start", ["%load_ext patchkit", "import patchkit; patchkit.apply(explain=True)"]
)
def test_cells(start: str, tmp_path) -> None:
    (tmp_path / "script.py").write_text(DYING)
    script = f"%run {tmp_path}/script.py"
    said = cells(
        "raise ValueError()",
        DYING,
        start,
        DYING,
        "1 + 1",
        script,
        "1/0",
        "2",
        f"try:\n    {DYING}\nexcept ValueError: pass",
    )
    assert [cell for cell, text in said.items() if cell and CAUSE in text] == [DYING, script]
    assert said[""].count(f"ValueError: {MESSAGE}") == 3
    stop = {"%load_ext patchkit": "%unload_ext patchkit"}.get(start, "patchkit.revert()")
    said = cells(start, stop, DYING, stop)
    assert CAUSE not in said[DYING]


def test_cells_without_it() -> None:
    assert CAUSE not in cells("import patchkit; patchkit.apply()", DYING)[DYING]
    assert CAUSE not in cells("%load_ext patchkit", DYING, PATCHKIT_EXPLAIN="0")[DYING]


def test_the_debugger_of_ipython_and_handlers_of_others() -> None:
    look = "import sys; print('seen', sys.last_value, sys.last_traceback.tb_next is not None)"
    handler = """
def handler(shell, kind, error, traceback, tb_offset=None):
    print("handled", error)
    shell.showtraceback((kind, error, traceback), tb_offset=tb_offset)

shell.set_custom_exc((ValueError,), handler)
"""
    said = cells("%load_ext patchkit", DYING, look, more=handler)
    assert f"handled {MESSAGE}" in said[""]
    assert f"seen {MESSAGE}" in said[""]
    assert CAUSE in said[DYING]
