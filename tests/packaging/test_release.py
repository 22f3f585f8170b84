"""The release workflow, and what must agree before a tag is pushed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from patchkit.about import __version__

ROOT = Path(__file__).parents[2]
FILE = ROOT / ".github" / "workflows" / "release.yml"


@pytest.fixture(scope="module")
def workflow() -> dict[str, Any]:
    # A reader of YAML 1.1 takes the key `on` for True.
    read: dict[Any, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return {"on" if key is True else key: value for key, value in read.items()}


def commands(job: dict[str, Any]) -> str:
    return "\n".join(step.get("run", "") for step in job["steps"])


def uses(job: dict[str, Any], action: str) -> list[dict[str, Any]]:
    return [step for step in job["steps"] if step.get("uses", "").startswith(action)]


def test_a_tag_starts_it_and_nothing_else(workflow) -> None:
    assert workflow["on"] == {"push": {"tags": ["v*"]}}


def test_what_is_built_once_is_tested_and_published(workflow) -> None:
    jobs = workflow["jobs"]
    assert [(name, job.get("needs")) for name, job in jobs.items()] == [
        ("build", None),
        ("test", "build"),
        ("publish", "test"),
    ]
    assert [name for name in jobs if "python -m build" in commands(jobs[name])] == ["build"]
    (uploaded,) = uses(jobs["build"], "actions/upload-artifact")
    for name in ("test", "publish"):
        (downloaded,) = uses(jobs[name], "actions/download-artifact")
        assert downloaded["with"]["name"] == uploaded["with"]["name"]
        assert not uses(jobs[name], "actions/checkout")
    assert "--installpkg dist/*.whl" in commands(jobs["test"])


def test_only_the_upload_has_an_identity_and_nobody_a_password(workflow) -> None:
    jobs = workflow["jobs"]
    assert workflow["permissions"] == {"contents": "read"}
    assert {name: job["permissions"] for name, job in jobs.items() if "permissions" in job} == {
        "publish": {"id-token": "write"}
    }
    assert jobs["publish"]["environment"]
    assert not re.search(r"secrets\.|password|api-token", FILE.read_text(encoding="utf-8"))


def test_tox_has_the_environments(workflow) -> None:
    text = (ROOT / "tox.ini").read_text(encoding="utf-8")
    rows = workflow["jobs"]["test"]["strategy"]["matrix"]["include"]
    named = {name for row in rows for name in row["environment"].split(",")}
    assert named == {"py310", "py314", "unit", "legacy-1.16", "trl-1.16"}
    assert "[testenv:py3{10,12,13,14}]" in text
    assert "[testenv:unit]" in text
    assert "env_list = trl-1.16, unit, " in text


def test_the_version_is_the_newest_of_the_changelog() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## \[(.+?)\](?: - (\d{4}-\d{2}-\d{2}))?$", text, re.MULTILINE)
    assert headings[0] == ("Unreleased", "")
    assert headings[1][0] == __version__
    assert headings[1][1]
