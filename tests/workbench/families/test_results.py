"""What is made of results: verdicts, a file that continues, tables. No library is needed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from patchkit.errors import UsageError
from workbench.families import methods, modes, sweep
from workbench.families.command import families
from workbench.families.journal import FamilyJournal
from workbench.families.known import reason
from workbench.families.markdown import as_markdown
from workbench.families.quantizer_notes import NOTES
from workbench.families.quantizers import QUANTIZERS
from workbench.families.quantizers_markdown import as_quantizers_page
from workbench.families.records import Build, FamilyCell, ModelSubject
from workbench.families.results import judge, results, verdicts
from workbench.families.sweep import FamilySelection
from workbench.sweep import processes
from workbench.sweep.trial import Trial
from workbench.sweep.verdicts import OUTCOMES

LLAMA = ModelSubject("causal", "llama")
CELL = FamilyCell(LLAMA, "bf16/none", "lora")
WORKED = Trial(figures={"losses": [1.5, 1.25]})
OTHER = Trial(figures={"losses": [1.5, 1.2500001]})
ENVIRONMENT = {
    "versions": {"torch": "2.13.0"},
    "python": "3.11",
    "platform": "x",
    "avx512-bf16": True,
}
SELECTION = FamilySelection(("causal",), (), modes.ALL, ("full", "lora", "dora"))


def failed(step: str, error: str = "ValueError: no") -> Trial:
    return Trial(step, error)


@pytest.mark.parametrize(
    ("without", "with_patchkit", "outcome"),
    [
        (WORKED, WORKED, "same"),
        (WORKED, OTHER, "differs"),
        (WORKED, failed("merge"), "broken"),
        (failed("step"), WORKED, "fixed"),
        (failed("step"), failed("step"), "fails"),
        (failed("forward"), failed("merge"), "fails"),
        (failed("merge"), failed("forward"), "broken"),
        (failed("step"), failed("process", "died with exit code -6"), "broken"),
        (failed("step", "needs more than 4 GiB"), WORKED, "limited"),
        (WORKED, failed("process", "took more than 60 s"), "limited"),
    ],
)
def test_verdicts(without: Trial, with_patchkit: Trial, outcome: str) -> None:
    assert judge(CELL, without, with_patchkit, {}).outcome.name == outcome


def test_only_known_differences_are_explained() -> None:
    known = FamilyCell(LLAMA, "bf16/4bit", "road")
    assert judge(known, WORKED, OTHER, {}).outcome.name == "explained"
    figures = {"changed": 3}
    assert judge(known, Trial(figures=figures), WORKED, {}).outcome.name == "differs"


@pytest.mark.parametrize(
    ("version", "outcome"), [("0.46.1", "differs"), ("0.48.2", "explained"), ("0.49.0", "differs")]
)
def test_an_explanation_may_be_about_some_releases(version: str, outcome: str) -> None:
    merged = [Trial(figures={"logits to merge": number}) for number in (1.5, 1.25)]
    journal = FamilyJournal(None)
    journal.begin({**ENVIRONMENT, "versions": {"bitsandbytes": version}})
    cell = FamilyCell(LLAMA, "bf16/4bit", "lora")
    for patched, trial in enumerate(merged):
        journal.add(cell, bool(patched), trial)
    assert [verdict.outcome.name for verdict in verdicts(journal)] == [outcome]


def filled(path: Path | None) -> FamilyJournal:
    journal = FamilyJournal(path)
    journal.begin(ENVIRONMENT)
    journal.add_build(Build(LLAMA, parameters=9))
    journal.add_build(Build(ModelSubject("causal", "blt"), error="needs more than 4 GiB"))
    journal.add(CELL, False, WORKED)
    journal.add(CELL, True, OTHER)
    return journal


def test_a_journal_continues(tmp_path: Path) -> None:
    path = tmp_path / "families.jsonl"
    journal = filled(path)
    again = FamilyJournal(path)
    assert (again.builds, again.trials) == (journal.builds, journal.trials)
    assert again.has(CELL)

    torn = path.read_text()[:-20]
    path.write_text(torn)
    again = FamilyJournal(path)
    assert not again.has(CELL)
    again.begin(ENVIRONMENT)
    again.add(CELL, True, OTHER)
    assert FamilyJournal(path).trials == journal.trials


def test_a_journal_of_other_versions_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "families.jsonl"
    filled(path)
    with pytest.raises(UsageError, match=r"other versions \(versions\)"):
        FamilyJournal(path).begin({**ENVIRONMENT, "versions": {"torch": "2.14.0"}})


@pytest.mark.parametrize("text", ["hello\n", "[]\n", '{"schema": 9, "environment": {}}\n'])
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "other").write_text(text)
    with pytest.raises(UsageError):
        FamilyJournal(tmp_path / "other")


def test_what_differs_decides_the_exit_status() -> None:
    found = results(filled(None), SELECTION)
    assert [(outcome.name, number) for outcome, number in found.counts()] == [("differs", 1)]
    assert found.exit_status == 1
    assert json.loads(json.dumps(found.to_dict()))["cells"][0]["note"] == "other losses"
    others = FamilySelection(("causal",), ("gpt*",), modes.ALL, ("lora",))
    assert results(filled(None), others).exit_status == 0


def test_a_page_has_types_methods_and_what_could_not_be_built() -> None:
    journal = filled(None)
    journal.add(FamilyCell(LLAMA, "bf16/none", "dora"), False, failed("merge"))
    journal.add(FamilyCell(LLAMA, "bf16/none", "dora"), True, WORKED)
    page = as_markdown(results(journal, SELECTION))
    for line in (
        "| type | bf16<br>none<br>lora |",
        "| llama | `?` |",
        "| llama, dora | `+` |",
        "| `merge: ValueError: no` | llama (bf16/none dora) |  |",
        "| blt | causal | `needs more than 4 GiB` |  |",
    ):
        assert line in page.splitlines(), page


def test_a_page_says_in_short_where_something_happens() -> None:
    journal = filled(None)
    for name in ("gpt2", "opt"):
        for mode in ("fp16/8bit", "bf16/8bit", "bf16/4bit"):
            cell = FamilyCell(ModelSubject("causal", name), mode, "lora")
            journal.add(cell, False, failed("forward"))
            journal.add(cell, True, failed("forward"))
    journal.add(FamilyCell(LLAMA, "fp16/4bit", "lora"), False, WORKED)
    journal.add(FamilyCell(LLAMA, "fp16/4bit", "lora"), True, WORKED)
    page = as_markdown(results(journal, SELECTION))
    line = "| `forward: ValueError: no` | gpt2, opt (*/8bit lora, bf16/4bit lora) |  |"
    assert line in page.splitlines(), page


def test_a_page_of_several_tasks_says_which() -> None:
    journal = filled(None)
    cell = FamilyCell(ModelSubject("vision", "llava"), "bf16/none", "lora")
    for patched in (False, True):
        journal.add(cell, patched, failed("forward"))
    tasks = FamilySelection(("causal", "vision"), (), modes.ALL, ("lora",))
    lines = as_markdown(results(journal, tasks)).splitlines()
    assert "| `forward: ValueError: no` | llava (vision: bf16/none lora) |  |" in lines


@pytest.mark.parametrize(
    ("task", "mode", "outcome"),
    [
        ("classification", "bf16/none", "explained"),
        ("causal", "bf16/none", "differs"),
        ("reward", "bf16/none", "explained"),  # the head, as above
        ("dpo", "bf16/none", "differs"),
        ("dpo", "bf16/4bit", "explained"),  # the adapters, which TRL casts if the model is packed
        ("dpo", "fp16/4bit", "differs"),
    ],
)
def test_what_is_trained_in_float32_explains_other_numbers(
    task: str, mode: str, outcome: str
) -> None:
    cell = FamilyCell(ModelSubject(task, "bert"), mode, "lora")
    assert judge(cell, WORKED, OTHER, {}).outcome.name == outcome


BEYOND = "what was trained predicts numbers that are not finite"


@pytest.mark.parametrize(
    ("name", "mode", "method", "trial", "why"),
    [
        ("arcee", "plain-fp16/none", "full", Trial("predict", f"Unsuitable: {BEYOND}"), "AdamW"),
        ("arcee", "bf16/none", "full", Trial("reload", "OtherLogits: far"), ""),
        ("llama", "bf16/4bit", "pissa", failed("adapt", "Please initialize PiSSA under"), "packed"),
    ],
)
def test_reasons_are_for_the_cells_that_they_name(
    name: str, mode: str, method: str, trial: Trial, why: str
) -> None:
    found = reason(FamilyCell(ModelSubject("causal", name), mode, method), trial)
    assert (why in found) if why else not found


def test_a_page_says_why_there_is_no_tiny_model() -> None:
    journal = filled(None)
    error = "ImportError: it requires the timm library"
    journal.add_build(Build(ModelSubject("causal", "gemma3n"), error=error))
    lines = as_markdown(results(journal, SELECTION)).splitlines()
    why = "it needs timm and pillow, which were not installed"
    assert f"| gemma3n | causal | `{error}` | {why} |" in lines


def test_several_files_are_shown_as_one(tmp_path: Path) -> None:
    first, second = filled(tmp_path / "a"), FamilyJournal(tmp_path / "b")
    second.begin(ENVIRONMENT)
    vision = FamilyCell(ModelSubject("vision", "llava"), "bf16/none", "lora")
    second.add(vision, False, WORKED)
    second.add(vision, True, WORKED)
    text = (tmp_path / "a").read_text()
    first.join(second)
    assert first.has(CELL)
    assert first.has(vision)
    assert (tmp_path / "a").read_text() == text

    other = FamilyJournal(tmp_path / "c")
    other.begin({**ENVIRONMENT, "python": "3.13"})
    with pytest.raises(UsageError, match=r"c has results of other versions \(python\)"):
        first.join(other)


def test_results_are_kept_in_one_file() -> None:
    done = CliRunner().invoke(families, ["llama", "--output", "a", "--output", "b"])
    assert isinstance(done.exception, UsageError)
    assert "several are for --show" in str(done.exception)


def test_selections() -> None:
    assert modes.select(()) == modes.QUICK
    assert modes.select(("all",)) == modes.ALL
    assert [mode.name for mode in modes.select(("bf16/*", "fp16/4bit"))] == [
        "fp16/4bit",
        "bf16/4bit",
        "bf16/8bit",
        "bf16/none",
    ]
    assert methods.select((), ("full",)) == ("full",)
    assert methods.select(("*dora", "lora"), ()) == ("lora", "dora")
    for select in (modes.select, lambda globs: methods.select(globs, ())):
        with pytest.raises(UsageError, match="zzz"):
            select(("zzz*",))


def test_types_are_names_and_globs() -> None:
    known = {"causal": ["gpt2", "gpt_neo", "llama"], "vision": ["llava"]}

    def chosen(*types: str, tasks: tuple[str, ...] = ("causal",)) -> list[str]:
        subjects = FamilySelection(tasks, types, modes.ALL, ("lora",)).subjects(known)
        return [subject.type for subject in subjects]

    assert chosen() == known["causal"]
    assert chosen("gpt*") == ["gpt2", "gpt_neo"]
    assert chosen("ll*", tasks=("causal", "vision")) == ["llama", "llava"]
    with pytest.raises(UsageError, match="no model type 'lama' for causal"):
        chosen("llama", "lama")


def test_packed_weights_are_not_trained_themselves() -> None:
    cells = FamilySelection(("causal",), (), modes.select(("bf16/*",)), ("full", "lora")).cells(
        LLAMA
    )
    assert [(cell.mode, cell.method) for cell in cells if cell.method == "full"] == [
        ("bf16/none", "full")
    ]
    assert len(cells) == 4


def test_glyphs_are_distinct_and_plain() -> None:
    glyphs = [outcome.glyph for outcome in OUTCOMES.values()]
    assert len(set(glyphs)) == len(glyphs)
    assert "".join(glyphs).isascii()


def test_quantizers_other_than_bitsandbytes_are_named_apart() -> None:
    """What named modes before there were others names the same ones."""
    assert modes.select(("all",)) == modes.ALL
    assert not any(mode.quantizer for mode in modes.select(("quick",)))
    assert [mode.name for mode in modes.select(("bf16/*",))] == [
        "bf16/4bit",
        "bf16/8bit",
        "bf16/none",
    ]
    (one,) = modes.select(("bf16/hqq-4bit",))
    assert one.quantizer is not None
    assert not one.allows("full")
    assert {mode.quantization for mode in modes.select(("*/torchao-*",))} == {
        "torchao-int8",
        "torchao-int8-dynamic",
        "torchao-float8",
        "torchao-int4",
    }
    assert all(mode.precision.autocast for mode in modes.select(("quantizers",)))
    with pytest.raises(UsageError, match="hqq-4bit"):
        modes.select(("bf16/nothing",))


def test_what_is_not_installed_is_no_failure() -> None:
    missing = failed("load", "Untried: not installed: hqq")
    verdict = judge(FamilyCell(LLAMA, "bf16/hqq-4bit", "lora"), missing, missing, {})
    assert (verdict.outcome.name, verdict.note) == ("untried", "not installed: hqq")
    assert not verdict.outcome.trouble


def test_the_page_of_quantizers() -> None:
    journal = FamilyJournal(None)
    journal.begin(ENVIRONMENT)
    merging = failed("merge", "ValueError: no | merge")
    missing = failed("load", "Untried: not installed: gptqmodel")
    for quantizer, trial in (("hqq-4bit", WORKED), ("awq", merging), ("gptq", missing)):
        for kind in ("llama", "qwen2"):
            for patched in (False, True):
                cell = FamilyCell(ModelSubject("causal", kind), f"bf16/{quantizer}", "lora")
                journal.add(cell, patched, trial)
    selection = FamilySelection(("causal",), (), modes.select(("quantizers",)), ("lora",))
    page = as_quantizers_page(results(journal, selection))
    assert "| hqq-4bit | bf16, lora | llama, qwen2 |  | works | same |" in page
    assert (
        "| awq | bf16, lora | llama, qwen2 |  | trains; merge: `ValueError: no / merge` |" in page
    )
    assert "not installed" not in page.partition("## What happens")[2]


def test_each_quantizer_has_a_note() -> None:
    names = [name for note in NOTES for name in note.names]
    assert sorted(names) == sorted(QUANTIZERS)


class KilledServer:
    """A fork server that the machine has ended for want of memory."""

    ended = True

    def __init__(self, *preparation: str, **options: object) -> None:
        """Take what a `ForkServer` takes."""

    def call(self, function: str, arguments: object, **options: object) -> dict[str, object]:
        if function.endswith("names_by_task"):
            return {"causal": ["llama"]}
        if function.endswith("environment"):
            return ENVIRONMENT
        return {"outcome": "error", "message": "the fork server died with exit code -9"}

    def stop(self) -> None:
        """End nothing."""


def test_that_the_machine_ends_the_server_is_no_result_of_a_type(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(processes, "ForkServer", KilledServer)
    journal = FamilyJournal(tmp_path / "families.jsonl")
    with pytest.raises(sweep.SweepError, match=r"exit code -9.*the same command goes on"):
        sweep.sweep(SELECTION, journal, limits=sweep.SweepLimits(4, 60), jobs=1)
    assert not journal.builds
    assert not journal.trials


class Forks:
    """A fork server that answers as it is told, by what a fork does and the memory it has."""

    ended = False
    answers: dict[str, dict[str, object]]
    """By the function's name, then `limited` or `unlimited`."""

    def __init__(self, *preparation: str, **options: object) -> None:
        """Take what a `ForkServer` takes."""

    def call(self, function: str, arguments: dict[str, object], **options: object) -> object:
        if function.endswith("names_by_task"):
            return {"causal": ["llama"]}
        if function.endswith("environment"):
            return ENVIRONMENT
        if function.endswith("build"):
            return {"parameters": 10}
        return self.answers["limited" if arguments["memory"] else "unlimited"]

    def stop(self) -> None:
        """End nothing."""


DIED = {"outcome": "error", "message": "died with exit code 127"}
ONEDNN = {"step": "generate", "error": "RuntimeError: could not create a primitive"}
FINE = {"step": "", "error": "", "figures": {}}
PLAIN_ERROR = {"step": "step", "error": "ValueError: no"}


@pytest.mark.parametrize(
    ("limited", "unlimited", "step", "error"),
    [
        (DIED, FINE, "process", "needs more than 4 GiB"),
        (DIED, DIED, "process", "died with exit code 127"),
        (ONEDNN, FINE, "generate", "needs more than 4 GiB"),
        (ONEDNN, ONEDNN, "generate", "RuntimeError: could not create a primitive"),
        (ONEDNN, PLAIN_ERROR, "step", "ValueError: no"),
        (PLAIN_ERROR, FINE, "step", "ValueError: no"),
    ],
)
def test_lack_of_memory_is_told_from_other_failures(
    tmp_path, monkeypatch, limited, unlimited, step: str, error: str
) -> None:
    """Native code dies of it, or says something else; whether it was that, no limit shows."""
    monkeypatch.setattr(processes, "ForkServer", Forks)
    monkeypatch.setattr(
        Forks, "answers", {"limited": limited, "unlimited": unlimited}, raising=False
    )
    journal = FamilyJournal(tmp_path / "families.jsonl")
    selection = FamilySelection(("causal",), (), modes.select(("bf16/none",)), ("lora",))
    sweep.sweep(selection, journal, limits=sweep.SweepLimits(4, 60), jobs=1)
    trial = journal.trials[CELL, True]
    assert (trial.step, trial.error) == (step, error)
    assert trial.limited == error.startswith("needs")
