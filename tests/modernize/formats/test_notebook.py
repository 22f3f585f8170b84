"""Notebooks: cells in Python and lines for the shell, and everything else as it was."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchkit.modernize.errors import ScriptError
from patchkit.modernize.findings import Modernized, ScriptOutcome
from patchkit.modernize.formats import notebook
from patchkit.modernize.formats.edits import edited
from patchkit.modernize.formats.magics import held, released, shell_view
from patchkit.modernize.formats.notebook_json import rewritten, sources

from ..releases import DUE

OUTPUT = {"output_type": "stream", "name": "stdout", "text": ["no_cuda\n", "é\u2028"]}
ARGUMENTS = "args = TrainingArguments('out', no_cuda=True)"
TODAY = "args = TrainingArguments('out', use_cpu=True)"


def notebook_of(*cells: Any, **layout: Any) -> str:
    document = {
        "cells": [
            {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [OUTPUT], "source": cell}
            for cell in cells
        ],
        "metadata": {"kernelspec": {"language": "python", "name": "x"}},
        "nbformat": 4,
    }
    return json.dumps(document, **{"indent": 1, **layout})


def modernized(*cells: Any) -> tuple[list[Any], Modernized]:
    before = notebook_of(*cells)
    result = notebook.modernize(before, DUE)
    assert notebook.modernize(result.text, DUE).text == result.text
    return [cell["source"] for cell in json.loads(result.text)["cells"]], result


def test_names_of_one_cell_in_another() -> None:
    cells, result = modernized(
        "from transformers import TrainingArguments",
        "!nvidia-smi\n%matplotlib inline\nTrainingArguments?",
        ["# ü\n", ARGUMENTS + "\n", "args"],
    )
    assert cells[:2] == [
        "from transformers import TrainingArguments",
        "!nvidia-smi\n%matplotlib inline\nTrainingArguments?",
    ]
    assert cells[2] == ["# ü\n", TODAY + "\n", "args"]
    assert [(finding.cell, finding.line) for finding in result.findings] == [(3, 2)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("%%time\nno = 1\n" + ARGUMENTS, "%%time\nno = 1\n" + TODAY),
        ("if x:\n    !ls \\\n      -l\n" + ARGUMENTS, "if x:\n    !ls \\\n      -l\n" + TODAY),
        ("files = !ls\n" + ARGUMENTS + "\n", "files = !ls\n" + TODAY + "\n"),
        ("x = '''\n!ls\n%a\n'''\n" + ARGUMENTS, "x = '''\n!ls\n%a\n'''\n" + TODAY),
        ("x = (1\n% 2)\n" + ARGUMENTS, "x = (1\n% 2)\n" + TODAY),
        ("pip install -q trl\n" + ARGUMENTS, "pip install -q trl\n" + TODAY),
        ("!trl sft --no_cuda", "!trl sft --use_cpu"),
        ("  x = !trl sft \\\n  --bf16 # a", "  x = !trl sft \\\n  --bf16 True # a"),
        ("%%bash\ntrl sft --no_cuda\n", "%%bash\ntrl sft --use_cpu\n"),
        ("%%writefile a.py\nimport trl\ntrl.SFTConfig(no_cuda=True)", None),
        ("%%html\n<b>no_cuda=True</b>", "%%html\n<b>no_cuda=True</b>"),
        ("", ""),
    ],
)
def test_magics(before: str, after: str | None) -> None:
    cells, _ = modernized("from transformers import TrainingArguments", before)
    assert cells[1] == (before.replace("no_cuda", "use_cpu") if after is None else after)


def test_a_script_that_a_cell_writes_and_another_starts() -> None:
    script = "%%writefile train.py\nfrom trl import SFTConfig, TrlParser\nTrlParser(SFTConfig)\n"
    cells, result = modernized(script, "!python train.py --no_cuda --max_prompt_length 3 --bf16")
    assert cells == [script, "!python train.py --use_cpu --max_prompt_length 3 --bf16 True"]
    assert {finding.cell for finding in result.findings} == {2}


def test_a_remark_stands_before_the_sign() -> None:
    cells, result = modernized("if x:\n    !trl dpo --reference_free True")
    first, second, third = cells[0].split("\n")
    assert (first, third) == ("if x:", "    !trl dpo --reference_free True")
    assert second.startswith("    # patchkit: --reference_free has been gone since TRL 0.29.0.")
    assert result.findings[0].line == 2


def test_a_cell_that_is_no_python_is_left_and_told() -> None:
    cells, result = modernized(
        "from transformers import TrainingArguments", "x = 1\nprint 'no'", ARGUMENTS
    )
    assert cells[1:] == ["x = 1\nprint 'no'", TODAY]
    told = result.findings[0]
    assert (told.cell, told.line, told.outcome) == (2, 2, ScriptOutcome.REMARKED)
    assert "not Python" in told.because


def test_notebooks_in_other_languages_are_left() -> None:
    text = notebook_of("library(trl); no_cuda <- TRUE").replace('"python"', '"R"')
    assert notebook.modernize(text, DUE).text == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: no notebook: Expecting value"),
        ('{"cells": [\n}', "line 2: no notebook: "),
        ("[]", "it is JSON without cells"),
        ('{"nbformat": 4}', "it is JSON without cells"),
        ('{"cells": {}}', "it is JSON without cells"),
        ('{"cells": []}', "a notebook without cells"),
        ('{"worksheets": []}', "a notebook of format 3; convert it"),
        ("[" * 100_000, "no notebook"),
    ],
)
def test_no_notebook(text: str, message: str) -> None:
    with pytest.raises(ScriptError) as caught:
        notebook.modernize(text, DUE)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@given(
    indent=st.sampled_from([None, 1, 2, "\t"]),
    ascii_only=st.booleans(),
    separators=st.sampled_from([None, (",", ":"), (" , ", " : ")]),
    as_list=st.booleans(),
    end=st.sampled_from(["", "\n", "\r\n"]),
    escaped=st.booleans(),
)
def test_everything_else_stays(
    indent: int | str | None,
    ascii_only: bool,
    separators: tuple[str, str] | None,
    as_list: bool,
    end: str,
    escaped: bool,
) -> None:
    source = f"from transformers import TrainingArguments\n# é <b>\n{ARGUMENTS}\nx = '\U0001f600'"
    cell = source.splitlines(keepends=True) if as_list else source
    layout = {"indent": indent, "ensure_ascii": ascii_only, "separators": separators}
    before = notebook_of("# first", cell, **layout) + end
    if escaped:
        before = before.replace("<b>", "\\u003cb\\u003e")
    result = notebook.modernize(before, DUE)
    assert result.text == before.replace("no_cuda=True", "use_cpu=True")


TEXTS = st.text(alphabet="a'\"\\\n#!%?=([{}]) é\u2028\U0001f600\r\t", max_size=60)


@given(TEXTS)
def test_magics_come_back(source: str) -> None:
    lines: list[str] = []
    text = held(source, lines)
    assert released(text, lines) == source
    assert text.count("\n") == source.count("\n")
    assert len(shell_view(source)) == len(source)


@given(st.lists(st.one_of(TEXTS, st.lists(TEXTS)), min_size=1), TEXTS, st.booleans())
def test_places_of_cells(cells: list[Any], today: str, ascii_only: bool) -> None:
    text = notebook_of(*cells, ensure_ascii=ascii_only)
    found = sources(text)
    assert [found[number].text for number in range(len(cells))] == [
        cell if isinstance(cell, str) else "".join(cell) for cell in cells
    ]
    result = edited(text, [rewritten(text, found[0], today)])
    new = json.loads(result)["cells"][0]["source"]
    assert ("".join(new) if isinstance(new, list) else new) == today
