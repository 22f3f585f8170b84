"""What people really write: nothing crashes, and what is not old stays byte for byte."""

from __future__ import annotations

import ast
import difflib
import io
import json
import tokenize
from pathlib import Path

import pytest

from patchkit.modernize import files
from patchkit.modernize.errors import ScriptError
from patchkit.modernize.files import ScriptSource
from patchkit.modernize.findings import Modernized, ScriptOutcome

from .releases import DUE

MESSY = Path(__file__).parent / "messy"
TEXTS = sorted(path for path in MESSY.iterdir() if path.suffix in files.ENDINGS)
SCRIPTS = [path for path in TEXTS if path.suffix == ".py" and path.stem != "python_2"]
UNCHANGED = {"blank.py", "empty.py", "only_comments.py", "other.yaml", "own_names.py"}


def modernized(path: Path) -> tuple[ScriptSource, Modernized]:
    source = files.load(path)
    return source, files.modernized(source, DUE)


def again(source: ScriptSource, text: str) -> str:
    return files.modernized(ScriptSource(source.path, source.raw, text, source.encoding), DUE).text


@pytest.mark.parametrize(
    "path", [path for path in TEXTS if path.stem != "python_2"], ids=lambda path: path.name
)
def test_a_second_time_changes_nothing(path: Path) -> None:
    source, result = modernized(path)
    assert again(source, result.text) == result.text
    assert (result.text == source.text) is (path.name in UNCHANGED)
    assert source.encoded(source.text) == source.raw


def test_python_2_is_refused_in_one_line() -> None:
    with pytest.raises(ScriptError) as caught:
        modernized(MESSY / "python_2.py")
    assert str(caught.value).endswith(
        "python_2.py: line 3: no Python source: this is Python 2; run 2to3 over it first"
    )


def parsed(text: str) -> ast.Module:
    return ast.parse(text.removeprefix("\ufeff"))


def comments(text: str) -> list[str]:
    readline = io.StringIO(text.removeprefix("\ufeff"), newline="").readline
    tokens = tokenize.generate_tokens(readline)
    found = [token.string.rstrip() for token in tokens if token.type == tokenize.COMMENT]
    return [comment for comment in found if not comment.startswith("# patchkit: ")]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda it: it.name)
def test_what_is_written_parses_and_keeps_each_comment(path: Path) -> None:
    source, result = modernized(path)
    parsed(result.text)
    assert comments(result.text) == comments(source.text)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda it: it.name)
def test_lines_without_a_finding_stay_byte_for_byte(path: Path) -> None:
    source, result = modernized(path)
    old = source.text.splitlines(keepends=True)
    touched = set().union(
        *(lines_of(source.text, finding.line) for finding in result.findings), set()
    )
    touched |= {
        line
        for node in ast.walk(parsed(source.text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    matcher = difflib.SequenceMatcher(None, old, result.text.splitlines(keepends=True), False)
    for tag, begin, end, _, _ in matcher.get_opcodes():
        if tag in ("replace", "delete"):
            assert set(range(begin + 1, end + 1)) <= touched, old[begin:end]


def lines_of(text: str, line: int) -> set[int]:
    """Return the lines of the innermost statement that a line is in; of a compound one, its head."""
    statements = [
        node
        for node in ast.walk(parsed(text))
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    if not statements:
        return {line}
    inner = min(statements, key=lambda node: (node.end_lineno or 0) - node.lineno)
    body = getattr(inner, "body", None)
    end = body[0].lineno - 1 if body else inner.end_lineno
    return set(range(inner.lineno, max(end or line, line) + 1))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda it: it.name)
def test_line_endings_stay(path: Path) -> None:
    source, result = modernized(path)
    old, new = source.text.count("\r\n"), result.text.count("\r\n")
    if not old:
        assert "\r" not in result.text
    elif source.text.count("\n") == old:
        assert result.text.count("\n") == new


def test_a_notebook_keeps_all_but_sources() -> None:
    source, result = modernized(MESSY / "colab.ipynb")
    old, new = json.loads(source.text), json.loads(result.text)
    for document in (old, new):
        for cell in document["cells"]:
            if cell["cell_type"] == "code":
                del cell["source"]
    assert old == new
    pieces = source.text.split('"source"')
    assert all(piece.split('"execution_count"')[-1] in result.text for piece in pieces)
    told = [finding for finding in result.findings if finding.outcome is ScriptOutcome.REMARKED]
    assert [(finding.cell, finding.old) for finding in told] == [(7, "print 'python 2'")]
