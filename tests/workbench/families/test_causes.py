"""Each cell that fails both ways has a cause from a closed list, and results are kept."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from patchkit.errors import UsageError
from patchkit.known.answering import answered
from patchkit.known.reading import read
from workbench.families import kept, known
from workbench.families.command import families
from workbench.families.journal import FamilyJournal
from workbench.families.picture import draw_causes
from workbench.families.records import Build, FamilyCell, ModelSubject
from workbench.families.results import verdicts
from workbench.sweep.trial import Trial, place_of
from workbench.sweep.verdicts import CellVerdict

LLAMA = ModelSubject("causal", "llama")
ENVIRONMENT = {"versions": {"torch": "2.13.0"}, "python": "3.11", "platform": "x"}


@pytest.fixture(scope="module")
def failing() -> list[CellVerdict[FamilyCell]]:
    """The cells that fail both ways in what is kept."""
    return [verdict for verdict in verdicts(kept.load()) if verdict.outcome.name == "fails"]


def test_each_failing_cell_has_a_cause(failing) -> None:
    assert len(failing) > 100
    unknown = Counter(
        f"{verdict.cell.subject.task} {verdict.cell.subject.type}: {verdict.with_patchkit}"
        for verdict in failing
        if known.find_reason(verdict.cell, verdict.with_patchkit) is None
    )
    assert not unknown


def test_causes_are_of_a_closed_list() -> None:
    for rule in known.reasons("fails"):
        assert rule.cause in known.CAUSES, rule
        assert rule.why, rule
        if rule.cause == "bug":
            assert re.fullmatch(r"(transformers|peft|accelerate)/[\w/]+\.py", rule.place), rule


def test_what_preflight_is_said_to_tell_it_can_find() -> None:
    page = (Path(__file__).parents[3] / "docs/preflight.md").read_text(encoding="utf-8")
    told = {rule.told for rule in known.reasons("fails")} - {""}
    assert len(told) > 1
    assert [name for name in told if f"| `{name}`" not in page] == []


def test_preflight_tells_each_cell_that_fails_of_a_dtype_or_packed_weight(failing) -> None:
    causes, told = known.count_causes(failing), known.count_told(failing)
    assert told["dtype"] == causes["dtype"] > 0
    assert told["packed"] == causes["packed"]


def test_each_failing_cell_is_told_or_answered(failing) -> None:
    """By preflight, or by `patchkit explain` where a traceback ends and the model has its name."""
    cases = {
        (traceback(verdict, rule.seen), rule.answer)
        for verdict in failing
        if (rule := known.find_reason(verdict.cell, verdict.with_patchkit)) and not rule.told
    }
    assert len({answer for _, answer in cases}) > 10
    asked = {case: answered(read(case[0]), lambda name: None).answers for case in cases}
    wrong = [case for case, found in asked.items() if not found or found[0].id != case[1]]
    assert wrong == []


def traceback(verdict: CellVerdict[FamilyCell], seen: str) -> str:
    """Return what a user pastes of a failing cell: the model, the last line and the error."""
    trial = verdict.with_patchkit
    file, _, line = trial.place.partition(":")
    frame = f'  File "site-packages/{file}", line {line}, in {trial.step}\n    call()\n'
    above = f"Traceback (most recent call last):\n{frame}" if file and not seen else ""
    return f"{verdict.cell.subject.type}\n{above}{seen or trial.error}"


def test_each_type_without_a_tiny_model_has_a_reason() -> None:
    unbuilt = [build for build in kept.load().builds.values() if build.error]
    assert [build for build in unbuilt if not known.reason_unbuilt(build)] == []


def test_the_picture_and_the_page_are_of_what_is_kept(tmp_path: Path, failing) -> None:
    """Measured again, they are written again by the same command."""
    docs = Path(__file__).parents[3] / "docs"
    picture = tmp_path / "families.svg"
    done = CliRunner().invoke(
        families,
        [
            *("--show", "--task", "all", "--mode", "all", "--method", "all"),
            *("--format", "markdown", "--picture", str(picture)),
        ],
    )
    assert done.exit_code == 0, done.output
    assert done.stdout == (docs / "families.md").read_text(encoding="utf-8")
    assert picture.read_text(encoding="utf-8") == (docs / "families.svg").read_text("utf-8")
    counts = known.count_causes(failing)
    told, answered = known.count_told(failing), known.count_answered(failing)
    assert sum(counts.values()) == len(failing)
    for name, number in counts.items():
        numbers = f"{number} | {told[name]} | {answered[name]}"
        assert f"| {known.CAUSES[name]} | {numbers} |" in done.stdout
        assert f">{number}</text>" in picture.read_text(encoding="utf-8")


def test_a_picture_draws_what_it_says() -> None:
    drawn = draw_causes({"dtype": 30, "bug": 15})
    widths = re.findall(r'width="(\d+)" height="18"', drawn)
    assert int(widths[0]) == 2 * int(widths[1]) > 0
    assert set(widths[2:]) == {"0"}
    assert drawn.index("a dtype") < drawn.index("a bug that is not of precision")


def journal() -> FamilyJournal:
    found = FamilyJournal(None)
    found.begin(ENVIRONMENT)
    found.environment["date"] = "d"
    found.add_build(Build(LLAMA, parameters=9))
    found.add_build(Build(ModelSubject("causal", "blt"), error="ValueError: no"))
    for method, without, with_patchkit in (
        ("full", Trial("step", "ValueError: no", place="peft/a.py:3"), Trial()),
        ("lora", Trial(figures={"losses": [1.5]}), Trial(figures={"losses": [1.25]})),
        ("dora", Trial(figures={"losses": [1.5]}), Trial(figures={"losses": [1.5]})),
    ):
        cell = FamilyCell(LLAMA, "bf16/none", method)
        found.add(cell, False, without)
        found.add(cell, True, with_patchkit)
    return found


def test_what_is_kept_has_the_same_verdicts(tmp_path: Path) -> None:
    file = tmp_path / "kept.jsonl"
    kept.save(journal(), file)
    again = kept.load(file)
    assert again.builds == journal().builds

    def said(found: FamilyJournal) -> dict[FamilyCell, tuple[str, str, str]]:
        return {v.cell: (v.outcome.name, v.note, v.without.place) for v in verdicts(found)}

    assert said(again) == said(journal())
    assert {outcome for outcome, *_ in said(again).values()} == {"fixed", "differs", "same"}
    kept.save(again, tmp_path / "twice.jsonl")
    assert (tmp_path / "twice.jsonl").read_bytes() == file.read_bytes()


def test_what_is_measured_again_takes_the_place_of_what_was_kept(tmp_path: Path) -> None:
    kept.save(journal(), tmp_path / "kept.jsonl")
    newer = FamilyJournal(None)
    newer.begin(ENVIRONMENT)
    newer.environment["date"] = "e"
    cell = FamilyCell(LLAMA, "bf16/none", "full")
    newer.add(cell, False, Trial())
    newer.add(cell, True, Trial())
    kept.take_in(newer, tmp_path / "kept.jsonl")
    both = kept.load(tmp_path / "kept.jsonl")
    assert both.environment["date"] == "d to e"
    assert len(list(both.cells())) == 3
    assert [v.outcome.name for v in verdicts(both) if v.cell == cell] == ["same"]


def test_another_file_is_not_read_as_what_is_kept(tmp_path: Path) -> None:
    (tmp_path / "other").write_text('{"schema": 1}\n')
    with pytest.raises(UsageError, match="cannot read the kept results"):
        kept.load(tmp_path / "other")


def test_the_place_of_an_error_is_the_line_of_a_library(tmp_path: Path) -> None:
    folder = tmp_path / "site-packages" / "peft"
    folder.mkdir(parents=True)
    code = compile("def fail():\n    raise ValueError('no')\n", str(folder / "a.py"), "exec")
    names: dict[str, object] = {}
    exec(code, names)
    for call, place in ((names["fail"], "peft/a.py:2"), (lambda: int("no"), "")):
        with pytest.raises(ValueError, match="no") as raised:
            call()
        assert place_of(raised.value) == place
