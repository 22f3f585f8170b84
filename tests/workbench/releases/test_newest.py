"""What the scheduled workflow runs, on releases that were and on one that was not."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench import ROOT

WORKFLOW = ROOT / ".github" / "workflows" / "new-releases.yml"
DPO = "trl.trainer.dpo_trainer"

pytestmark = [
    pytest.mark.releases,
    pytest.mark.skipif(not WORKFLOW.exists(), reason="a source distribution has no workflows"),
]


@pytest.fixture
def run(tmp_path: Path, run_workbench) -> Callable[[], tuple[int, str]]:
    """Runs the program on the wheels in `wheels`, and reads what it wrote."""

    def call() -> tuple[int, str]:
        where = ["--from", str(tmp_path / "wheels"), "--cache", str(tmp_path / "cache")]
        output = ["--output", str(tmp_path / "finding.md")]
        done = run_workbench("new-releases", *where, *output, folder=tmp_path)
        assert "Traceback" not in done.stderr, done.stderr
        return done.returncode, (tmp_path / "finding.md").read_text()

    return call


@pytest.fixture
def release(tmp_path: Path, modules) -> Callable[..., None]:
    """`release("1.16.0", changed={…})`: a wheel of TRL 1.16.0 under that number."""

    def write(version: str, changed: dict[str, bytes] | None = None) -> None:
        (tmp_path / "wheels").mkdir(exist_ok=True)
        name = tmp_path / "wheels" / f"trl-{version}-py3-none-any.whl"
        with zipfile.ZipFile(name, "w") as wheel:
            sources = {**modules("trl", "1.16.0"), **(changed or {})}
            packages = {module.rpartition(".")[0] for module in sources}
            for module, content in sources.items():
                file = module.replace(".", "/") + ("/__init__" if module in packages else "")
                wheel.writestr(f"{file}.py", content)
            metadata = f"Metadata-Version: 2.1\nName: trl\nVersion: {version}\n"
            wheel.writestr(f"trl-{version}.dist-info/METADATA", metadata)

    return write


def test_a_release_on_which_all_holds(release, run, modules) -> None:
    """Only the newest counts."""
    broken = modules("trl", "1.16.0")[DPO].replace(b"bfloat16", b"float16")
    release("1.15.9", {DPO: broken})
    release("1.16.0")
    status, text = run()
    assert status == 0, text
    assert text.startswith("# Every patch holds on the newest releases\n")
    assert "Sources read: trl 1.16.0." in text


def test_a_site_that_changed_and_a_new_place_with_a_known_bug(release, run, modules) -> None:
    trainer = modules("trl", "1.16.0")[DPO]
    changed = trainer.replace(b"bfloat16", b"float16")
    new = trainer.replace(b"class DPOTrainer", b"class Preparation")
    release("99.0.0", {DPO: changed, "trl.trainer.preparation": new})
    status, text = run()
    assert status == 1
    assert text.splitlines()[0] == "# Drift: trl 99.0.0"
    assert "- `trl-adapter-bf16-cast` drifted: trl.trainer.dpo_trainer:DPOTrainer.__init__" in text
    place = "`trl.trainer.preparation:Preparation.__init__`"
    assert f"- `trl-adapter-bf16-cast` does not name {place}" in text


def test_a_keyword_that_went(release, run, modules) -> None:
    config = "trl.trainer.sft_config"
    renamed = modules("trl", "1.16.0")[config].replace(b"    packing: bool", b"    packed: bool")
    release("1.16.0")
    release("99.0.0", {config: renamed})
    status, text = run()
    assert status == 1
    assert text.splitlines()[0] == "# Drift: trl 99.0.0"
    assert "- `legacy` unknown: `trl.SFTConfig(packing=)`" in text


def test_a_wheel_that_does_not_unpack(tmp_path, run) -> None:
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / "trl-99.0.0-py3-none-any.whl").write_bytes(b"no zip")
    status, text = run()
    assert status == 2
    assert "Not scanned" in text
    assert "trl 99.0.0" in text


def test_nothing_to_scan(tmp_path, run) -> None:
    (tmp_path / "wheels").mkdir()
    status, text = run()
    assert status == 2
    assert text.startswith("# The newest releases could not be scanned\n")


def test_the_workflow_runs_the_script() -> None:
    import yaml

    workflow = yaml.safe_load(WORKFLOW.read_text())
    steps = [step.get("run", "") for step in workflow["jobs"]["scan"]["steps"]]
    (run,) = [step for step in steps if "new-releases" in step]
    assert "python -m workbench new-releases --output finding.md" in run
    assert any("finding.md" in step and "gh issue create" in step for step in steps)
