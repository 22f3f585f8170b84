"""What is made of the results of ranks: one of two, verdicts, tables. No library is needed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from patchkit.errors import UsageError
from workbench.families import modes
from workbench.ranks.markdown import as_markdown
from workbench.ranks.records import RankCell, RankJournal
from workbench.ranks.results import results
from workbench.ranks.strategies import STRATEGIES
from workbench.ranks.sweep import RankSelection, merged
from workbench.sweep.trial import Trial

CELL = RankCell("ddp", "sft", "bf16/4bit", "lora")
SELECTION = RankSelection.of((), (), modes.QUICK, ())
HALF = {"trained": [{"bfloat16": 28}] * 2, "losses": [[5.25], [5.0]]}
WHOLE = {"trained": [{"float32": 28}] * 2, "losses": [[5.25], [5.125]]}


def judged(without: Trial, with_patchkit: Trial, path: Path | None = None):
    journal = RankJournal(path)
    journal.begin({"versions": {"torch": "2.13.0"}, "python": "3.11", "platform": "x"})
    journal.add(CELL, False, without)
    journal.add(CELL, True, with_patchkit)
    return results(journal, SELECTION)


def test_a_cell_has_the_figures_of_all_ranks() -> None:
    both = merged([Trial(figures={"losses": [1.0]}), Trial(figures={"losses": [2.0]}, seconds=3)])
    assert both == Trial(figures={"losses": [[1.0], [2.0]]}, seconds=3)


def test_the_rank_that_failed_by_itself_counts() -> None:
    gone = Trial("step", "RuntimeError: [pair.cc:553] Connection closed by peer [127.0.0.1]:8923.")
    died = Trial("process", "died with exit code -11")
    assert merged([gone, died]).error == died.error
    assert merged([died, gone]).step == "process"
    assert merged([Trial(), gone]).step == "step"


@pytest.mark.parametrize(
    ("without", "with_patchkit", "outcome", "status"),
    [
        (Trial(figures=HALF), Trial(figures=HALF), "same", 0),
        # Adapters that stay float32 have other numbers; others have none to have.
        (Trial(figures=HALF), Trial(figures=WHOLE), "explained", 0),
        (Trial(figures=WHOLE), Trial(figures=HALF), "differs", 1),
        (Trial(figures=HALF), Trial("save", "OSError: no"), "broken", 1),
        (Trial("reload", "OtherLogits: far"), Trial("backward", "ValueError: no"), "broken", 1),
        (Trial("backward", "ValueError: no"), Trial("reload", "OtherLogits: far"), "fails", 0),
        (Trial("step", "ValueError: no"), Trial(figures=WHOLE), "fixed", 0),
    ],
)
def test_verdicts(without: Trial, with_patchkit: Trial, outcome: str, status: int) -> None:
    found = judged(without, with_patchkit)
    assert [verdict.outcome.name for verdict in found.verdicts] == [outcome]
    assert found.exit_status == status


def test_results_are_read_again(tmp_path: Path) -> None:
    path = tmp_path / "ranks.jsonl"
    found = judged(Trial(figures=HALF), Trial(figures=WHOLE), path)
    assert json.dumps(results(RankJournal(path), SELECTION).to_dict()) == json.dumps(
        found.to_dict()
    )
    (tmp_path / "families.jsonl").write_text('{"schema": 1, "environment": {}}\n')
    with pytest.raises(UsageError, match="something else"):
        RankJournal(tmp_path / "families.jsonl")


def test_a_section_has_the_table_and_what_happened() -> None:
    page = as_markdown(judged(Trial("step", "ValueError: no"), Trial(figures=WHOLE))).splitlines()
    for line in (
        "Measured on",
        "| strategy | trainer | bf16<br>4bit<br>lora |",
        "| DDP: each rank has all weights | sft | `+` |",
        "| `step: ValueError: no` | ddp bf16/4bit lora (sft) |  |",
    ):
        assert any(text.startswith(line) for text in page), page


def test_selections() -> None:
    cells = list(SELECTION.cells())
    assert len(cells) == len(STRATEGIES) * 4 * 6  # packed weights are not trained themselves
    assert list(
        RankSelection.of(("zero?",), ("s*",), modes.select(("bf16/none",)), ("full",)).cells()
    ) == [
        RankCell("zero2", "sft", "bf16/none", "full"),
        RankCell("zero3", "sft", "bf16/none", "full"),
    ]
    for wrong in ((("zero4",), (), ()), ((), ("ppo",), ()), ((), (), ("dora",))):
        strategies, trainers, methods = wrong
        with pytest.raises(
            UsageError, match=r"no (strategy 'zero4'|trainer 'ppo'|method 'dora'); "
        ):
            RankSelection.of(strategies, trainers, modes.QUICK, methods)


def test_sharded_packed_weights_have_one_dtype() -> None:
    packed, plain = (modes.find_mode(f"fp16-of-bf16/{name}") for name in ("4bit", "none"))
    fsdp2, ddp = STRATEGIES["fsdp2"], STRATEGIES["ddp"]
    assert (fsdp2.dtype(packed), fsdp2.storage(packed)) == ("float16", "float16")
    assert (ddp.dtype(packed), ddp.storage(packed)) == ("bfloat16", "uint8")
    assert fsdp2.dtype(plain) == "bfloat16"
