"""How frameworks are started, what is read off their trainings, and the page. No library is needed."""

from __future__ import annotations

import ast
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from patchkit.errors import UsageError
from workbench import ROOT
from workbench.families import modes
from workbench.frameworks import sweep as sweeping
from workbench.frameworks.answers import answers
from workbench.frameworks.command import MARKS, MEASURED
from workbench.frameworks.data import write_datasets
from workbench.frameworks.framework import SCRIPTS, Training
from workbench.frameworks.known import CAUSES, LEFT_OUT, OLDER
from workbench.frameworks.markdown import as_markdown
from workbench.frameworks.records import EXCLUDE, FrameworkCell, FrameworkJournal
from workbench.frameworks.results import results
from workbench.frameworks.running import outcome, told_by_patchkit
from workbench.frameworks.sweep import FrameworkSelection
from workbench.frameworks.tried import FRAMEWORKS
from workbench.sweep.grid import as_table
from workbench.sweep.trial import Trial

SETS = ROOT / "version_sets" / "frameworks"
CELL = FrameworkCell("trl", "sft", "lora", "bf16/4bit", "run")
SELECTION = FrameworkSelection.of((), None, (), modes.QUICK, ())
VERSIONS = {"patchkit": "9", "trl": "1.2.3", "torch": "2.13.0", "absent": None}
ENVIRONMENT = {"versions": VERSIONS, "python": "3.11", "platform": "x"}
HALF = {"losses": [5.0], "grad_norms": [1.0], "dtypes": {"bfloat16": 28}, "weights": "a"}
WHOLE = {**HALF, "losses": [4.5], "dtypes": {"float32": 28}, "weights": "b"}
EVENTS = [
    {"began": True},
    {"loss": 5.0, "grad_norm": 1.0},
    {},
    {"dtypes": {"bfloat16": 28}, "weights": "a"},
]


def judged(without: Trial, with_patchkit: Trial, again: Trial | None = None):
    journal = FrameworkJournal(None)
    journal.begin(ENVIRONMENT)
    for cell, last in ((CELL, with_patchkit), (replace(CELL, way="again"), again)):
        if last is not None:
            journal.add(cell, False, without)
            journal.add(cell, True, last)
    return results([FrameworkJournal(None), journal], SELECTION)


@pytest.mark.parametrize(
    ("without", "with_patchkit", "again", "expected", "status"),
    [
        (HALF, {**HALF, "told": ["patchkit: x"]}, None, "same", 0),
        (HALF, WHOLE, HALF, "differs", 1),
        (HALF, WHOLE, WHOLE, "explained", 0),
        (WHOLE, HALF, WHOLE, "differs", 1),
        (WHOLE, {**WHOLE, "weights": "c"}, WHOLE, "differs", 1),
        (WHOLE, {**WHOLE, "weights": "c"}, {**WHOLE, "weights": "d"}, "explained", 0),
    ],
)
def test_numbers_are_compared_to_the_last_bit(
    without, with_patchkit, again, expected: str, status: int
) -> None:
    second = Trial(figures=again) if again else None
    found = judged(Trial(figures=without), Trial(figures=with_patchkit), second)
    assert [verdict.outcome.name for verdict in found.verdicts] == [expected]
    assert found.exit_status == status


@pytest.mark.parametrize(
    ("without", "with_patchkit", "expected"),
    [
        (Trial("training", "ValueError: no"), Trial(figures=WHOLE), "fixed"),
        (Trial("training", "ValueError: no"), Trial("start", "ValueError: no"), "broken"),
        (Trial("start", "ImportError: no"), Trial("training", "ValueError: no"), "fails"),
        (Trial(figures=HALF), Trial("end", "OSError: no"), "broken"),
    ],
)
def test_how_far_a_training_comes_counts(without, with_patchkit, expected: str) -> None:
    (verdict,) = judged(without, with_patchkit).verdicts
    assert verdict.outcome.name == expected


def test_what_came_of_a_command() -> None:
    assert outcome(0, "", EVENTS, 9) == Trial(figures=HALF)
    error = "Traceback\nValueError: no\nsubprocess.CalledProcessError: exit status 1"
    assert outcome(1, error, [], 9).step == "start"
    assert str(outcome(1, error, EVENTS[:2], 9)) == "training: ValueError: no"
    assert str(outcome(2, error, EVENTS, 9)) == "end: ValueError: no"
    assert outcome(-1, "", EVENTS[:1], 9).limited
    assert str(outcome(0, "all well", [], 9)) == "start: trained nothing, and said nothing"
    assert str(outcome(0, f"{error}\nall well", [], 9)) == "start: ValueError: no"


def test_the_lines_of_patchkit_are_read_off_an_output() -> None:
    output = """
        patchkit: /some/where/train.py:3: TrainingArguments(x=) has been gone; write y=
        {'loss': 5.0}
        patchkit: /an/other/train.py:3: TrainingArguments(x=) has been gone; write y=
        patchkit run: process 77: old spellings work
          File "/env/patchkit/engine.py", line 3
        /env/a.py:7: PatchWarning: drifted
        11/23/2026 20:00:58 - WARNING - patchkit -   patchkit: 21 parameters were in half precision
    """
    assert told_by_patchkit(output) == [
        "patchkit: train.py:3: TrainingArguments(x=) has been gone; write y=",
        "patchkit run: : old spellings work",
        "a.py:7: PatchWarning: drifted",
        "patchkit: 21 parameters were in half precision",
    ]


def test_numbers_that_differ_are_tried_again_and_plain_ones_only_once() -> None:
    started: list[str] = []

    def attempt(way: str) -> Trial:
        started.append(way)
        return Trial(figures=WHOLE if way == "legacy" else HALF)

    journal = FrameworkJournal(None)
    journal.begin(ENVIRONMENT)
    for way in ("run", "legacy"):
        sweeping._try(replace(CELL, way=way), journal, attempt)
    assert started == ["plain", "run", "legacy", "plain", f"{EXCLUDE}{LEFT_OUT[0]}"]
    assert [verdict.outcome.name for verdict in results([journal], SELECTION).verdicts] == [
        "same",
        "explained",
    ]


def test_the_page_of_made_up_results() -> None:
    died = Trial("training", "NotImplementedError: a|b")
    told = {"told": ["patchkit: x.py:1: a has been gone", "patchkit run: : 1 met"]}
    lines = as_markdown(judged(died, Trial(figures={**WHOLE, **told}))).splitlines()
    assert [line for line in lines if "gone" in line or "1 met" in line] == [
        "| TRL's command line | `x.py:1: a has been gone` |"
    ]
    assert "| framework | task | method | bf16<br>4bit<br>`run` |" in lines
    assert "| TRL's command line | sft | lora | `+` |" in lines
    (row,) = (line for line in lines if "NotImplementedError" in line)
    place = "TRL's command line sft lora (bf16/4bit `run`)"
    assert row == f"| `training: NotImplementedError: a/b` | {place} |  |"
    assert lines[-1] == "| TRL's command line | trl 1.2.3, torch 2.13.0 |  |"


@pytest.mark.parametrize("tried", range(1, len(LEFT_OUT) + 2))
def test_numbers_that_differ_are_tried_without_the_fixes_that_change_them(tried: int) -> None:
    other = {**HALF, "losses": [4.0]}
    ways = ["plain", "run", "plain", *(f"{EXCLUDE}{patches}" for patches in LEFT_OUT)]
    culprit = ways[2 + tried] if tried <= len(LEFT_OUT) else "none of them"
    journal = FrameworkJournal(None)
    journal.begin(ENVIRONMENT)
    started: list[str] = []

    def attempt(way: str) -> Trial:
        started.append(way)
        return Trial(figures=HALF if way in ("plain", culprit) else other)

    for _ in range(2):
        sweeping._try(CELL, journal, attempt)
    assert started == ways[: 3 + tried]
    (verdict,) = results([journal], SELECTION).verdicts
    if tried > len(LEFT_OUT):
        assert (verdict.outcome.name, verdict.note) == ("differs", "other losses")
    else:
        assert verdict.outcome.name == "explained"
        assert verdict.note.startswith("more than one of") == (tried == len(LEFT_OUT))
        assert all(patch in verdict.note for patch in LEFT_OUT[tried - 1].split(","))


DIED = Trial("training", "NotImplementedError: no")
HALVED, WHOLLY = Trial(figures=HALF), Trial(figures=WHOLE)


@pytest.mark.parametrize(
    ("trials", "fp16", "bf16", "start"),
    [
        ({"sft lora fp16-of-bf16/4bit run": (HALVED, HALVED)}, "sft: trains", "", ""),
        (
            {
                "sft lora fp16-of-bf16/4bit run": (DIED, HALVED),
                "sft full fp16-of-bf16/none run": (HALVED, HALVED),
                "dpo lora fp16-of-bf16/4bit run": (DIED, HALVED),
                "kto lora bf16/none run": (HALVED, HALVED),
            },
            "sft lora 4bit, dpo: dies, and trains with `patchkit run`; sft full: trains",
            "kto: trains",
            "",
        ),
        (
            {
                "sft lora bf16/none run": (DIED, DIED),
                "sft lora bf16/none legacy": (DIED, HALVED),
                "dpo lora fp16-of-bf16/4bit run": (DIED, DIED),
            },
            "dpo: dies, with patchkit, too",
            "sft: dies, and trains with `patchkit run --legacy`",
            "--legacy ",
        ),
        (
            {
                "sft lora bf16/none run": (HALVED, HALVED),
                "sft lora bf16/none legacy": (HALVED, DIED),
                "dpo lora bf16/none run": (WHOLLY, HALVED),
                "kto lora bf16/none run": (HALVED, WHOLLY),
                "kto lora bf16/none again": (HALVED, WHOLLY),
            },
            "",
            "sft, dpo: worse with patchkit; "
            "kto: trains, with patchkit with [other numbers](#other-numbers-and-why)",
            "",
        ),
    ],
)
def test_whether_a_framework_works(trials, fp16: str, bf16: str, start: str) -> None:
    journal = FrameworkJournal(None)
    journal.begin(ENVIRONMENT)
    for name, (without, with_patchkit) in trials.items():
        cell = FrameworkCell("trl", *name.split())
        journal.add(cell, False, without)
        journal.add(cell, True, with_patchkit)
    (answer,) = answers(results([journal], SELECTION))
    assert (answer.fp16, answer.bf16) == (fp16, bf16)
    assert answer.start == f"patchkit run {start}-- trl sft …"


@pytest.mark.parametrize("part", CAUSES)
def test_what_needs_a_gpu_does_not_count_as_dead(part: str) -> None:
    died = Trial("training", f"AttributeError: {part}", {"losses": []})
    (answer,) = answers(judged(died, died))
    assert answer.bf16 == "sft: cannot be trained without a GPU"


@pytest.mark.parametrize(
    ("error", "legacy", "expected"),
    [
        ("ImportError: old", HALVED, OLDER),
        ("ImportError: old", DIED, ""),
        (f"RuntimeError: {next(iter(CAUSES))} was", DIED, next(iter(CAUSES.values()))),
    ],
)
def test_what_fails_both_ways_has_its_cause(error: str, legacy: Trial, expected: str) -> None:
    journal = FrameworkJournal(None)
    journal.begin(ENVIRONMENT)
    died = Trial("start", error)
    for way, with_patchkit in (("run", died), ("legacy", legacy)):
        cell = replace(CELL, way=way)
        journal.add(cell, False, died)
        journal.add(cell, True, with_patchkit)
    lines = as_markdown(results([journal], SELECTION)).splitlines()
    start = lines.index("## What fails both ways")
    assert lines[start + 4].endswith(f"| {expected} |")


def test_the_table_of_a_terminal() -> None:
    died = Trial("training", "NotImplementedError: no")
    console = Console(file=io.StringIO(), width=80)
    console.print(*as_table(judged(died, Trial(figures=WHOLE))), sep="\n")
    lines = [" ".join(line.split()) for line in console.file.getvalue().splitlines()]
    assert lines[:4] == ["bf16", "4bit", "framework task method run", "trl sft lora +"]
    assert "trl sft lora bf16/4bit run: training: NotImplementedError: no" in lines
    console = Console(file=io.StringIO(), width=80)
    console.print(*as_table(judged(Trial(figures=HALF), Trial(figures=HALF))), sep="\n")
    assert console.file.getvalue().rstrip().endswith("to the last digit")


def test_the_page_in_the_documentation_is_made_of_the_recorded_results() -> None:
    journals = [FrameworkJournal(file) for file in sorted(MEASURED.glob("*.jsonl"))]
    assert journals
    text = (ROOT / "docs" / "frameworks.md").read_text(encoding="utf-8")
    begin, end = MARKS
    _, _, rest = text.partition(f"{begin}\n")
    assert rest.partition(end)[0] == as_markdown(results(journals, SELECTION)) + "\n"


def test_a_selection() -> None:
    selection = FrameworkSelection.of(("open-*", "trl"), None, ("gr*",), modes.QUICK, ("run",))
    assert {(cell.framework, cell.task, cell.way) for cell in selection.cells()} == {
        ("open-r1", "grpo", "run"),
        ("trl", "grpo", "run"),
    }
    alone = FrameworkSelection.of((), "axolotl", (), modes.QUICK, ())
    assert alone.frameworks == ("axolotl",)
    assert not any(cell.method == "full" and "4bit" in cell.mode for cell in alone.cells())
    for names, version_set, message in (
        (("trk",), None, "no framework 'trk'"),
        ((), "old", "no set 'old'"),
        (("trl",), "axolotl", "no framework has that task, or that set"),
    ):
        with pytest.raises(UsageError, match=message):
            FrameworkSelection.of(names, version_set, (), modes.QUICK, ())


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_every_training_has_its_precision_and_a_command(name: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    write_datasets(data)
    framework = FRAMEWORKS[name]
    for task, methods in framework.tasks.items():
        found = set()
        for number, (method, mode) in enumerate(
            (method, mode) for method in methods for mode in modes.QUICK if mode.allows(method)
        ):
            folder = tmp_path / f"{task}-{number}"
            folder.mkdir()
            model = tmp_path / mode.precision.checkpoint
            command = framework.command(Training(task, method, mode, model, data, folder))
            files = (file for file in folder.rglob("*") if file.is_file())
            told = " ".join([*command, *(file.read_text("utf-8") for file in files)])
            assert str(model) in told
            assert mode.precision.autocast in told.lower() or name == "setfit"
            found.add(told.replace(str(folder), ""))
        assert len(found) == number + 1  # each is told something else


def test_datasets_have_the_columns_of_their_names(tmp_path: Path) -> None:
    write_datasets(tmp_path)
    chats = [json.loads(line) for line in (tmp_path / "chats.jsonl").read_text().splitlines()]
    assert len(chats) == 16
    assert [turn["role"] for turn in chats[0]["messages"]] == ["user", "assistant"]
    pair = json.loads((tmp_path / "pairs.jsonl").read_text().splitlines()[0])
    assert set(pair) == {"prompt", "chosen", "rejected"}
    write_datasets(tmp_path / "again")
    assert (tmp_path / "again" / "pairs.jsonl").read_text() == (
        tmp_path / "pairs.jsonl"
    ).read_text()


def test_scripts_are_started_and_parse() -> None:
    text = (ROOT / "workbench" / "frameworks" / "tried" / "scripts.py").read_text("utf-8")
    assert {file.stem for file in SCRIPTS.glob("*.py")} == set(
        re.findall(r'_start\(\s*"(\w+)"', text)
    )
    for file in SCRIPTS.glob("*.py"):
        ast.parse(file.read_text("utf-8"), feature_version=(3, 10))


def test_each_set_pins_its_frameworks_and_tox_has_an_environment() -> None:
    sets = {framework.version_set for framework in FRAMEWORKS.values()}
    assert {file.stem for file in SETS.glob("*.txt")} - {"overrides"} == sets
    for framework in FRAMEWORKS.values():
        pins = (SETS / f"{framework.version_set}.txt").read_text("utf-8").split()
        assert all(re.fullmatch(r"[\w-]+==[\w.]+", pin) for pin in pins)
        assert {*framework.distributions, "torch"} <= {pin.partition("==")[0] for pin in pins}
    tox = (ROOT / "tox.ini").read_text("utf-8")
    (label,) = re.findall(r"^ +frameworks = frameworks-\{(.*)\}$", tox, re.MULTILINE)
    (section,) = re.findall(r"^\[testenv:frameworks-\{(.*)\}\]$", tox, re.MULTILINE)
    assert set(label.split(", ")) == set(section.split(", ")) == sets
