"""What a preflight returns: a sequence, a mapping, text, HTML, JSON; and what it refuses."""

from __future__ import annotations

import inspect
import json
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

import patchkit
from patchkit import Finding, Findings, PatchError, PreflightError, UsageError
from patchkit.inspection.checks import CHECKS
from patchkit.inspection.findings import Severity, rows
from patchkit.inspection.preflight import check

ERROR = Finding("an-error", Severity.ERROR, "2 <things>", "they clash", "f(\n    x=1)")
WARNING = Finding("a-warning", Severity.WARNING, "slow", "it costs", "g()", repair=lambda: "did")
NOTE = Finding("a-note", Severity.NOTE, "well", "so it is", "nothing")
FIXED = Finding("fixed", Severity.ERROR, "was bad", "it died", "h()", fixed="made it good")
ALL = Findings([NOTE, FIXED, WARNING, ERROR], "a model")


def test_order_and_access() -> None:
    assert ALL.ids == ["an-error", "a-warning", "a-note", "fixed"]
    assert ALL[0] is ERROR is ALL["an-error"]
    assert ALL[1:3] == [WARNING, NOTE]
    assert len(ALL) == 4
    assert "a-note" in ALL
    assert NOTE in ALL
    assert "another" not in ALL
    assert (ALL.errors, ALL.warnings, ALL.notes, ALL.fixed) == ([ERROR], [WARNING], [NOTE], [FIXED])
    assert [ALL.ok, Findings([WARNING, FIXED]).ok, Findings([]).ok] == [False, True, True]
    with pytest.raises(UsageError, match="there is no finding 'another', only an-error, a-warning"):
        ALL["another"]


def test_text() -> None:
    text = str(ALL)
    assert text.startswith(
        "patchkit preflight: 1 error, 1 warning, 1 note, 1 fixed\nlooked at a model"
    )
    assert "error: an-error\n  found:  2 <things>\n  why:    they clash\n" in text
    assert "  change: f(\n              x=1)" in text  # code keeps its indentation
    assert "fixed: fixed" in text
    assert "done:   made it good" in text
    assert text.count("patchkit.preflight(…, fix=True)") == 1
    assert str(Findings([])) == "patchkit preflight: nothing to fix"
    assert repr(ALL) == "<Findings: 1 error, 1 warning, 1 note, 1 fixed>"


def test_lines_are_folded_but_not_code() -> None:
    long = Finding("long", Severity.NOTE, "word " * 60, "word " * 60, "call(" + "x, " * 60 + ")")
    *prose, code = str(long).splitlines()
    assert all(len(line) <= 88 for line in prose)
    assert len(code) > 100


def test_what_is_quoted_is_not_folded() -> None:
    quoted = "`" + "word " * 10 + "`"
    assert quoted in str(Finding("a", Severity.NOTE, "far " * 15 + quoted, "b", "c"))


def test_html_is_escaped() -> None:
    html = ALL._repr_html_()
    assert "2 &lt;things&gt;" in html
    assert "<things>" not in html
    assert html.count("<tr>") == 5


def test_json() -> None:
    content = json.loads(ALL.to_json())
    assert content["schema"] == 1
    assert content["ok"] is False
    assert content["looked_at"] == "a model"
    assert [finding["id"] for finding in content["findings"]] == ALL.ids
    assert content["findings"][1]["fixable"]
    assert content["findings"][3]["fixed"] == "made it good"


def test_the_error_carries_the_text() -> None:
    error = PreflightError(Findings([ERROR]))
    assert isinstance(error, PatchError)
    assert "error: an-error" in str(error)
    assert error.findings[0] is ERROR
    assert "they clash" in str(pickle.loads(pickle.dumps(error)))


def model() -> Any:
    import torch

    return torch.nn.Linear(2, 2)


def optimizer() -> Any:
    import torch

    return torch.optim.SGD(model().parameters(), lr=1.0)


def class_of_arguments() -> Any:
    import transformers

    return transformers.TrainingArguments


BAD = {
    "nothing": (lambda m: ((), {}), "nothing to check"),
    "a name for a model": (
        lambda m: (("meta-llama/Llama-3",), {}),
        "AutoModelForCausalLM.from_pretrained('meta-llama/Llama-3')",
    ),
    "a number for a model": (lambda m: ((7,), {}), "model= must be a torch.nn.Module or a trainer"),
    "a class for a model": (lambda m: ((type(model()),), {}), "not the class Linear itself"),
    "arguments for a model": (lambda m: ((m.args(),), {}), "which belongs to args="),
    "a model for arguments": (lambda m: ((model(), model()), {}), "not a Linear"),
    "a dictionary for arguments": (lambda m: ((model(), {"fp16": True}), {}), "not a dict"),
    "a string for arguments": (lambda m: ((None, "fp16"), {}), "args= must be training arguments"),
    "the class of arguments": (
        lambda m: ((None, class_of_arguments()), {}),
        "the class TrainingArguments itself",
    ),
    "parameters for an optimizer": (
        lambda m: ((model(), None, model().parameters()), {}),
        "optimizer= must be a torch.optim.Optimizer, not a generator",
    ),
    "a name for an optimizer": (lambda m: ((model(), None, "adamw"), {}), "not a str"),
    "fix not a bool": (
        lambda m: ((model(),), {"fix": "yes"}),
        "fix= must be True or False, not 'yes'",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(make, case: str) -> None:
    build, message = BAD[case]
    given, options = build(make)
    with pytest.raises(UsageError) as caught:
        patchkit.preflight(*given, **options)
    assert message in str(caught.value)


@pytest.mark.parametrize(("name", "value"), [("args", "args"), ("optimizer", "optimizer")])
def test_a_trainer_comes_alone(make, name: str, value: str) -> None:
    given = {"args": make.args(), "optimizer": optimizer()}[value]
    with (
        make.trainer(make.model("float32")) as trainer,
        pytest.raises(UsageError, match=f"leave {name}= out"),
    ):
        patchkit.preflight(trainer, **{name: given})


def test_each_may_come_alone(make) -> None:
    for given in ({"model": model()}, {"args": make.args()}, {"optimizer": optimizer()}):
        findings = patchkit.preflight(**given)
        assert findings.ok, findings
        assert type(next(iter(given.values()))).__name__ in findings.looked_at


def test_an_accelerator_in_place_of_arguments(make, monkeypatch) -> None:
    from accelerate import Accelerator

    from patchkit.lab import cuda_fp16

    with cuda_fp16.cuda_fp16_on_cpu():
        accelerator = Accelerator(mixed_precision="fp16", cpu=True)
    assert patchkit.preflight(make.model("float16"), accelerator).errors[0].id == (
        "half-trainable-under-scaler"
    )
    assert patchkit.preflight(make.model("float32"), accelerator).ok


def test_a_check_that_fails_is_a_note_and_stops_no_other(make, monkeypatch, caplog) -> None:
    from patchkit.inspection import checks
    from patchkit.inspection.facts import gather
    from patchkit.inspection.subject import subject

    def broken(facts: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(checks, "CHECKS", (broken, *CHECKS))
    args = make.args()
    args.fp16 = args.bf16 = True
    found = {finding.id: finding for finding in check(gather(subject(None, args, None)))}
    assert found["unchecked-broken"].severity is Severity.NOTE
    assert "ZeroDivisionError: oops" in found["unchecked-broken"].found
    assert "both-fp16-and-bf16" in found
    assert "Traceback" in caplog.text


def test_every_check_is_registered_once() -> None:
    """A check is a public function of a module of checks that takes the facts."""
    import importlib
    import pkgutil

    from patchkit.inspection import checks

    modules = [
        importlib.import_module(f"{checks.__name__}.{found.name}")
        for found in pkgutil.iter_modules(checks.__path__)
    ]
    written = {
        function
        for module in modules
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
    }
    assert written == set(CHECKS)
    assert len(CHECKS) == len(set(CHECKS))


def test_patches_that_make_findings_moot_exist() -> None:
    from patchkit.catalogue import entries as catalogue
    from patchkit.inspection import superseding_patches

    named = {value for name, value in vars(superseding_patches).items() if name.isupper()}
    assert named <= set(catalogue.load().entries)


def test_every_finding_is_documented() -> None:
    """Where the checkout is at hand."""
    page = Path(__file__).parents[2] / "docs" / "preflight.md"
    if not page.exists():
        pytest.skip("the documentation is not installed")
    text = page.read_text()
    assert len(rows()) >= len(CHECKS)
    for name in rows():
        assert f"`{name.partition(' ')[0]}`" in text, name


def test_each_row_is_of_a_check() -> None:
    folder = Path(inspect.getfile(CHECKS[0])).parent
    source = "".join(file.read_text() for file in folder.glob("*.py"))
    begun = set(re.findall(r'found\(\s*f?"([^"{ ]*)', source))
    assert "{other}-model-in-{facts.mixed_precision}-training" in source
    ids = {name.partition(" ")[0] for name in rows() if "-model-in-" not in name}
    assert ids == begun - {""}
    for name in (name for name in rows() if " " in name):
        assert name in source or f"' {name.partition(' ')[2]}' if" in source, name


MOOT = {
    "bitsandbytes-trainable-bias": "quantized-bias-trained",
    "bitsandbytes-8bit-overflow": "int8-activations",
    "bitsandbytes-compute-dtype-frozen": "compute-dtype-unset",
    "transformers-full-eval-dtype": "full-eval-casts",
    "transformers-lm-head-dtype": "head-of-another-dtype",
}


@pytest.mark.parametrize("patch_id", MOOT)
def test_nothing_is_said_of_what_an_applied_patch_fixes(make, patch_id: str) -> None:
    """Five things are wrong at once; each patch takes one of them away."""
    from patchkit.inspection.facts import gather
    from patchkit.inspection.subject import subject

    eight = make.lora("bfloat16", "8bit", bias="all", config={"attention_bias": True})
    four = make.model("bfloat16", "4bit")
    for module in eight.modules():
        if hasattr(module, "state"):
            module.state.threshold = 0.0
    for module in four.modules():
        if hasattr(module, "compute_dtype"):
            module.compute_dtype = None
    eight.also = four
    eight.get_output_embeddings().float()
    subjects = subject(eight, make.args(fp16_full_eval=True), None)
    without = {finding.id for finding in check(gather(subjects))}
    with_patch = {finding.id for finding in check(gather(subjects, applied=frozenset({patch_id})))}
    assert without >= set(MOOT.values())
    assert without - with_patch == {MOOT[patch_id]}


@pytest.mark.parametrize("name", rows())
def test_texts_of_a_finding_have_the_same_cases(name: str) -> None:
    texts = rows()[name].values()
    assert len({tuple(text) for text in texts if isinstance(text, dict)}) <= 1
