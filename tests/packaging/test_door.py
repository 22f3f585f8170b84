"""What somebody from outside meets: what CI runs, the forms for issues, the hooks for pre-commit."""

from __future__ import annotations

import configparser
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from ..cli.conftest import command_of
from ..processes import run_python

ROOT = Path(__file__).parents[2]
WORKFLOWS = ROOT / ".github" / "workflows"
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))


def read(file: Path) -> dict[str, Any]:
    # A reader of YAML 1.1 takes the key `on` for True.
    found: dict[Any, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return {"on" if key is True else key: value for key, value in found.items()}


@pytest.fixture(scope="module")
def workflow() -> dict[str, Any]:
    return read(WORKFLOWS / "ci.yml")


def commands(job: dict[str, Any]) -> list[str]:
    """Return the commands of a job, once for each of its rows."""
    matrix = job.get("strategy", {}).get("matrix", {})
    rows = matrix.get("include") or [
        {key: value} for key, values in matrix.items() for value in values
    ]
    lines = [step["run"] for step in job["steps"] if "run" in step]
    return [
        re.sub(r"\$\{\{ matrix\.(\w+) \}\}", lambda found, row=row: str(row[found[1]]), line)
        for row in rows or [{}]
        for line in lines
    ]


def test_it_runs_on_pull_requests_and_may_only_read(workflow) -> None:
    assert "pull_request" in workflow["on"]
    assert "pull_request_target" not in workflow["on"]  # which would have secrets
    assert workflow["permissions"] == {"contents": "read"}
    assert not any("permissions" in job for job in workflow["jobs"].values())
    assert workflow["concurrency"]["cancel-in-progress"] is True
    assert workflow["env"]["UV_TORCH_BACKEND"] == "cpu"


def test_it_runs_each_python_of_the_classifiers(workflow) -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    supported = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', text)
    rows = workflow["jobs"]["quick"]["strategy"]["matrix"]["include"]
    assert [row["python"] for row in rows] == supported
    for row in rows:
        number = row["python"].replace(".", "")
        assert row["environment"] == ("unit" if number == "311" else f"py{number}")


def test_every_command_is_an_environment_of_tox(workflow) -> None:
    run = [command for job in workflow["jobs"].values() for command in commands(job)]
    environments = [shlex.split(command)[2] for command in run]
    assert all(command.startswith("./test.sh -e ") for command in run)
    assert {"lint", "docs", "unit", "trl-0.24", "trl-1.16"} <= set(environments)
    tox = configparser.ConfigParser(interpolation=None)
    tox.read(ROOT / "tox.ini", encoding="utf-8")
    known = set().union(
        *(
            _expanded(name.removeprefix("testenv:"))
            for name in tox.sections()
            if name.startswith("testenv:")
        )
    )
    assert set(environments) <= known
    sets = re.findall(r"trl-([\d.]+)", tox["tox"]["env_list"])
    assert environments[-1] == f"trl-{max(sets, key=_number)}"


def _expanded(name: str) -> set[str]:
    """Return the names that one with braces stands for."""
    found = re.search(r"\{([^{}]*)\}", name)
    if found is None:
        return {name}
    before, after = name[: found.start()], name[found.end() :]
    return set().union(
        *(_expanded(f"{before}{part.strip()}{after}") for part in found[1].split(","))
    )


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def test_actions_have_the_versions_of_the_other_workflows(workflow) -> None:
    def used(file: Path) -> set[str]:
        return set(re.findall(r"uses: (\S+)", file.read_text(encoding="utf-8")))

    others = {
        action for file in WORKFLOWS.glob("*.yml") if file.name != "ci.yml" for action in used(file)
    }
    assert used(WORKFLOWS / "ci.yml") <= others


def test_contributing_says_what_ci_runs(workflow) -> None:
    for name, job in workflow["jobs"].items():
        assert f"| `{name}` |" in CONTRIBUTING
        for command in commands(job):
            environment = shlex.split(command)[2]
            assert re.search(rf"\b{re.escape(environment)}\b", CONTRIBUTING), environment


@pytest.mark.parametrize("file", FORMS, ids=lambda file: file.name)
def test_a_form_is_as_the_code_host_reads_it(file: Path) -> None:
    form = read(file)
    if file.name == "config.yml":
        assert form == {"blank_issues_enabled": True}
        return
    assert {"name", "description", "body"} <= set(form)
    ids = [part["id"] for part in form["body"] if part["type"] != "markdown"]
    assert len(ids) == len(set(ids))
    for part in form["body"]:
        assert part["type"] in ("markdown", "textarea", "input", "dropdown", "checkboxes")
        assert part["attributes"].get("label") or part["type"] == "markdown"
        # A yes that YAML takes for True is refused there.
        assert all(isinstance(option, str) for option in part["attributes"].get("options", []))


def test_a_bug_asks_for_what_the_doctor_says() -> None:
    first = read(ROOT / ".github" / "ISSUE_TEMPLATE" / "bug.yml")["body"][0]
    assert "patchkit doctor" in first["attributes"]["label"]
    assert first["validations"]["required"] is True


@pytest.mark.parametrize(
    "file",
    [*FORMS, ROOT / ".github" / "pull_request_template.md", ROOT / "SECURITY.md"],
    ids=lambda file: file.name,
)
def test_the_commands_that_a_form_names_exist(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for text in re.findall(r"`patchkit ([a-z][^`]*)`", file.read_text(encoding="utf-8")):
        words = shlex.split(text)
        command, _ = command_of(words)
        for parameter in command.params:
            monkeypatch.setattr(parameter, "required", False)  # it may be mentioned without
        command.make_context(command.name, words)


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_a_hook_is_a_command_that_takes_files(hook: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("libcst")
    assert hook["language"] == "python"
    script = tmp_path / "train.py"
    script.write_text("from trl import SFTConfig\n\nSFTConfig(max_seq_length=512)\n")
    assert re.search(hook["files"], script.name)
    name, *words = shlex.split(hook["entry"])
    assert name == "patchkit"
    command = ("-m", "patchkit", *words, script)
    done = run_python(*command, folder=tmp_path, PYTHONPATH=str(ROOT))
    writes = hook["id"] == "patchkit-modernize"
    assert (done.returncode == 0) is writes, done.stderr
    assert ("max_length=512" in script.read_text()) is writes
    assert f"{script}" in done.stdout


def test_hooks_concern_what_modernize_reads_and_bring_libcst() -> None:
    from patchkit.modernize.files import ENDINGS

    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (needed,) = re.findall(r"^modernize = (\[.*\])$", text, re.MULTILINE)
    for hook in HOOKS:
        assert hook["additional_dependencies"] == yaml.safe_load(needed)
        for ending in ENDINGS:
            assert re.search(hook["files"], f"recipes/train{ending}")
        for other in ("train.pyc", "train.json", "py", "train.sh.txt"):
            assert not re.search(hook["files"], other)
