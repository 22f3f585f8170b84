"""`python -m workbench gpu` without its measurements: time, deaths, wheels, its file and its page."""

from __future__ import annotations

import importlib
import json
import textwrap
import zipfile
from pathlib import Path
from typing import Any

import pytest

from workbench import ROOT

from ...processes import Done, run_python

UNITS = ["a", "b", "c"]


@pytest.fixture
def module():
    """`module("running")`: a module of the program."""
    return lambda name: importlib.import_module(f"workbench.gpu.{name}")


@pytest.fixture
def run(module, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Runs a part whose process does what `code` says for each unit, on one side after the other."""
    running, parts = module("running"), module("parts")

    def call(code: str, *, seconds: float = 30, before: str = "", sides=("without",)) -> Any:
        program = f"""
            import json, os, sys, time
            side, work = sys.argv[4], json.loads(sys.argv[5])
            def say(**answer):
                print(json.dumps(answer), flush=True)
            {before}
            say(units={UNITS})
            for unit in {UNITS}:
                if unit in work["done"]:
                    continue
                say(begin=unit)
                {code}
                say(unit=unit, outcome="ok", side=side)
        """
        script = tmp_path / "script.py"
        script.write_text(textwrap.dedent(program))
        monkeypatch.setattr(running, "PROGRAM", script)
        monkeypatch.setattr(running, "BESIDE", 1000)
        part = parts.Part("made-up", "Made up", 1.0, sides=sides)
        told: list[str] = []
        found = running.run(part, seconds, ["*"], {}, told.append)
        assert len(told) == len(
            [row for row in found["rows"] if "status" not in row.get("error", "")]
        )
        return found

    return call


def outcomes(found: dict[str, Any]) -> dict[str, str]:
    return {row["unit"]: row.get("error", row["outcome"]) for row in found["rows"]}


def test_all_is_well(run) -> None:
    found = run("pass", sides=("without", "with"))
    assert [(row["side"], row["unit"]) for row in found["rows"]] == [
        (side, unit) for side in ("without", "with") for unit in UNITS
    ]
    assert (found["state"], found["not_run"], found["logs"]) == ("done", [], {})


def test_a_process_that_dies_is_followed_by_one_for_the_rest(run) -> None:
    found = run("if unit == 'b': print('why', file=sys.stderr); os._exit(7)")
    assert outcomes(found) == {"a": "ok", "b": "the process ended with status 7", "c": "ok"}
    assert found["state"] == "failed"
    assert found["logs"] == {"without": ["why"]}
    assert found["not_run"] == []


def test_one_that_dies_before_it_says_what_it_measures(run) -> None:
    found = run("pass", before="raise SystemExit('no torch here')")
    assert (found["rows"], found["state"]) == ([], "failed")
    assert [row["reason"] for row in found["not_run"]] == ["the process ended with status 1"]
    assert found["logs"] == {"without": ["no torch here"]}


def test_time_is_shared_by_the_sides_and_what_was_measured_stays(run) -> None:
    stuck = "if side == 'without' and unit == 'b': os.spawnlp(os.P_NOWAIT, 'sleep', 'sleep', '99'); time.sleep(99)"
    found = run(stuck, seconds=8, sides=("without", "with"))
    assert found["seconds"] < 30
    assert found["state"] == "out of time"
    assert [(row["side"], row["unit"]) for row in found["rows"]] == [
        ("without", "a"),
        *(("with", unit) for unit in UNITS),
    ]
    assert found["not_run"] == [
        {"side": "without", "unit": unit, "reason": "out of time"} for unit in "bc"
    ]


def test_no_folder_of_the_machine_is_told(run) -> None:
    found = run(
        "sys.exit(f'{unit}: /home/me/site-packages/torch/a.py and /tmp/x/unpacked/trl/b.py')"
    )
    assert all("/home" not in line and "/tmp" not in line for line in found["logs"]["without"])
    assert "torch/a.py and trl/b.py" in found["logs"]["without"][-1]


def test_wheels_are_unpacked_and_not_installed(module, tmp_path: Path) -> None:
    def wheel(name: str, **files: str) -> None:
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            for place, text in files.items():
                archive.writestr(place, text)

    wheel(
        "one-1.0-py3-none-any.whl",
        **{
            "one/__init__.py": "",
            "one-1.0.data/purelib/two.py": "2",
            "one-1.0.data/scripts/run": "",
            "one-1.0.dist-info/METADATA": "Name: one",
        },
    )
    wheel("old-1.0-cp27-cp27m-win32.whl", **{"old.py": ""})
    wheel("out-1.0-py3-none-any.whl", **{"out-1.0.data/purelib/../../out.py": ""})
    (tmp_path / "broken-1.0-py3-none-any.whl").write_text("no archive")
    target = tmp_path / "unpacked"
    found = module("wheels").unpack(tmp_path, target)
    assert found.pop("broken-1.0-py3-none-any.whl").startswith("BadZipFile")
    assert "leads out" in found.pop("out-1.0-py3-none-any.whl")
    assert found == {
        "old-1.0-cp27-cp27m-win32.whl": "for another Python or platform",
        "one-1.0-py3-none-any.whl": "unpacked",
    }
    files = {str(file.relative_to(target)) for file in target.rglob("*") if file.is_file()}
    assert files == {"one/__init__.py", "two.py", "one-1.0.dist-info/METADATA"}
    assert not (tmp_path / "out.py").exists()


def script(*arguments: object) -> Done:
    return run_python(ROOT / "workbench", "gpu", *arguments)


def test_what_does_not_fit_the_budget_is_said(tmp_path: Path) -> None:
    done = script("--output", tmp_path / "gpu.json", "--budget", 1, "--parts", "crashes", "merges")
    results = json.loads((tmp_path / "gpu.json").read_text())
    assert {name: part["state"] for name, part in results["parts"].items()} == dict.fromkeys(
        ("machine", "crashes", "merges"), "the budget was spent"
    )
    assert "crashes: the budget was spent" in done.stdout
    assert results["device"] == "unknown"


def test_the_page_is_up_to_date(module) -> None:
    measured = ROOT / "docs" / "gpu.json"
    results = json.loads(measured.read_text()) if measured.exists() else None
    assert (ROOT / "docs" / "gpu.md").read_text("utf-8") == module("page").page(results)


def row(unit: str, side: str = "without", **facts: Any) -> dict[str, Any]:
    return {"unit": unit, "side": side, "outcome": "ok", **facts}


PARTS = {
    "machine": [row("device", device="NVIDIA X"), row("patchkit", patches={"a": "applied"})],
    "crashes": [
        row("sft in float16", outcome="died", error="NotImplementedError: a|b", step=1, losses=[]),
        row("sft in float16", "with", losses=[4.5, 4.25], peak_mib=31.0),
    ],
    "reproducers": [row("trl-adapter-bf16-cast", outcome="fixed")],
    "precisions": [
        row("bf16", dtypes={"bfloat16": 4}, losses=[4.0, 3.0], median_ms=12.34, peak_mib=9.0)
    ],
    "quant_states": [
        row("64 x 64", ratios={"both": {"forward": 1.5, "backward": 2.0, "memory": 1.0}}),
        row("other", outcome="died", error="RuntimeError: no"),
    ],
    "merges": [row("bfloat16", changed=0.5, logits=0.125, quant_state=None)],
    "evaluation": [
        row(
            "fp16",
            outcome="died",
            error="ValueError: no",
            loss=4.5,
            dtypes=["float16"],
            frequencies=False,
        )
    ],
    "generation": [row("bfloat16", "with", ms_per_token=2.5)],
    "compiled": [row("bfloat16, eager", graphs=1, breaks=0, losses=[1.0], apart=0.0)],
}
SHOWN = (
    "All figures below are from one NVIDIA X, of 2026-01-02, 99 seconds in all.",
    "| sft in float16 | dies in step 1: `NotImplementedError: a/b` | trains, losses 4.5, 4.25, 31 MiB |",
    "| `trl-adapter-bf16-cast` | fixed |",
    "| 64 x 64 | both | 1.50 | 2.00 | 1.00 |",
    "| fp16 | loss 4.5, float16 afterwards, frequencies rounded; then dies: `ValueError: no` |  |",
    "Not run: rloo (with patchkit): out of time.",
)


@pytest.mark.parametrize("device", ["NVIDIA X", "cpu"])
def test_a_page_of_measurements(tmp_path: Path, device: str) -> None:
    parts = {
        name: {"title": name, "state": "done", "rows": rows, "not_run": []}
        for name, rows in PARTS.items()
    }
    parts["crashes"]["not_run"] = [{"unit": "rloo", "side": "with", "reason": "out of time"}]
    results = {"device": device, "date": "2026-01-02", "seconds": 99, "parts": parts}
    (tmp_path / "gpu.json").write_text(json.dumps(results))
    script("--page", tmp_path / "gpu.json", "--output", tmp_path / "gpu.md")
    text = (tmp_path / "gpu.md").read_text("utf-8")
    missing = [line for line in SHOWN[1:] if line not in text]
    assert not missing, text
    assert (SHOWN[0] in text) == (device != "cpu")
    assert ("No GPU has been measured yet" in text) == (device == "cpu")
