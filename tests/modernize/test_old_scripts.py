"""All old scripts of the repository, rewritten."""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path

import pytest

from patchkit.modernize.python import modernize

FOLDER = Path(__file__).parents[1] / "legacy" / "scripts"
SCRIPTS = sorted(FOLDER.glob("*/*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_each(rewrite, newest, script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    result = rewrite(text)
    assert set(comments(text)) <= set(comments(result.text))
    assert is_untouched(text, result.text, {finding.line for finding in result.findings})
    on_windows = modernize(text.replace("\n", "\r\n"), newest)
    assert on_windows.text == result.text.replace("\n", "\r\n")


def test_there_are_scripts() -> None:
    assert len(SCRIPTS) >= 45


def comments(text: str) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


def is_untouched(before: str, after: str, told: set[int]) -> bool:
    """Tell whether each statement that no finding is about is still there, in the same order."""
    lines, here = before.splitlines(keepends=True), 0
    for statement in ast.parse(before).body:
        numbers = range(statement.lineno, statement.end_lineno + 1)
        if told & set(numbers) or isinstance(statement, ast.Import | ast.ImportFrom):
            continue
        here = after.find("".join(lines[number - 1] for number in numbers), here)
        if here < 0:
            return False
    return True
