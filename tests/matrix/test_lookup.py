"""What a report says of the matrix that came with the installation."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import patchkit
from patchkit.catalogue import definitions
from patchkit.matrix import lookup
from patchkit.matrix.file import write
from patchkit.matrix.records import Environment, Matrix, Result, Scan

from ..installed import distribution

PATCH = "trl-adapter-bf16-cast"
HERE = Environment({"trl": "1.16.0", "peft": "0.21.2"}, "3.11.7", "linux", "cpu", "2026-02-03")
ONE = Result(PATCH, "fixed", HERE)
MATRIX = Matrix(
    (
        ONE,
        Result("trl-generation-cast", "error", replace(HERE, versions={"trl": "1.6.0"})),
        replace(ONE, environment=replace(HERE, versions={"trl": "1.15.0", "peft": "0.9"})),
        replace(ONE, outcome="not-fixed", environment=replace(HERE, device="NVIDIA T4")),
    ),
    (Scan("trl", "1.14.0", "2026-02-03", {PATCH: "drifted"}),),
)


@pytest.fixture
def shipped(tmp_path, fresh) -> Any:
    """Runs code with a copy of patchkit whose shipped matrix is this."""

    def run(content: str | bytes | None, code: str) -> Any:
        folder = tmp_path / "site"
        without = shutil.ignore_patterns("__pycache__", "patches", "compat_matrix.yaml")
        package = folder / "patchkit"
        shutil.copytree(Path(patchkit.__file__).parent, package, ignore=without)
        shutil.copytree(definitions.shipped_package().__path__[0], package / "patches")
        if content is not None:
            data = content if isinstance(content, bytes) else content.encode()
            (package / "compat_matrix.yaml").write_bytes(data)
        code = f"import patchkit\nassert patchkit.__file__.startswith({str(folder)!r})\n{code}"
        return fresh(code, env={"PYTHONPATH": f"{folder}:{tmp_path}"})

    return run


def test_tested(shipped, tmp_path) -> None:
    """What is installed is TRL 1.16.0, by its metadata alone."""
    distribution(tmp_path, "trl", "1.16.0")
    write(tmp_path / "m.yaml", MATRIX)
    by_id, others = shipped(
        (tmp_path / "m.yaml").read_text(),
        "from patchkit.matrix.lookup import look_up\n"
        "def of(**installed):\n"
        f"    return look_up({PATCH!r}, 'trl', installed).to_dict()\n"
        "result = {patch['id']: patch['tested'] for patch in patchkit.report().to_dict()['patches']}, [\n"
        "    of(trl='1.16.0', peft='0.21.2'), of(trl='1.16.0', peft='0.21.2+local'),\n"
        "    of(trl='1.16.0', peft='0.21.2', torch='2.14'), of(trl='1.15.0', peft='0.21.2'),\n"
        "    of(trl='1.14.0'), of(trl='1.2.0'), of(trl='1.17.0'), of(peft='0.21.2'),\n"
        "    of(trl='main')]",
    )
    if by_id[PATCH]["level"] != "combination":  # another environment has other libraries as well
        assert by_id[PATCH]["level"] == "version"
    assert by_id[PATCH]["outcomes"] == ["fixed", "not-fixed"]
    assert by_id["trl-generation-cast"]["detail"] == (
        "not measured on trl 1.16.0; the newest measured is 1.6.0"
    )
    both = ["fixed", "not-fixed"]
    assert [(other["level"], other["outcomes"]) for other in others] == [
        ("combination", both),
        ("combination", both),
        ("version", both),
        ("version", ["fixed"]),
        ("scanned", ["drifted"]),
        ("none", []),
        ("none", []),
        ("none", []),
        ("none", []),
    ]
    assert [other["detail"] for other in others][2:] == [
        "measured on trl 1.16.0, beside other versions (no torch): fixed, not-fixed",
        "measured on trl 1.15.0, beside other versions (peft 0.9): fixed",
        "not run on trl 1.14.0; its sources were read: drifted",
        "not measured on trl 1.2.0",
        "not measured on trl 1.17.0; the newest measured is 1.16.0",
        "not measured",
        "not measured on trl main",
    ]


@pytest.mark.parametrize(
    ("measured", "here", "level", "others"),
    [
        (["2.13.0+cpu"], "2.13.0+cu130", "combination", ""),
        (["2.13.0+cpu"], "2.6.0+cu124", "version", " (torch 2.13.0)"),
        (["2.6.0+cu124"], "2.13.0", "version", " (torch 2.6.0)"),
        (["2.6.0+cu124", "2.13.0+cpu"], "2.13.0", "combination", ""),
        (["2.6.0+cu124"], None, "version", " (torch 2.6.0)"),
    ],
)
def test_torch_belongs_to_a_combination(
    monkeypatch, measured: list[str], here: str | None, level: str, others: str
) -> None:
    versions = {"trl": "1.16.0", "peft": "0.21.2"}
    results = [
        replace(ONE, environment=replace(HERE, versions={**versions, "torch": torch}))
        for torch in measured
    ]
    monkeypatch.setattr(lookup, "_shipped", lambda: Matrix(tuple(results)))
    installed = {**versions, **({"torch": here} if here else {})}
    found = lookup.look_up(PATCH, "trl", installed)
    assert (found.level, found.outcomes) == (level, ("fixed",))
    assert others in found.detail
    assert ("beside other versions" in found.detail) == (level == "version")
    assert lookup.measured_versions("torch") == sorted(
        (torch.partition("+")[0] for torch in measured), key=lambda torch: int(torch.split(".")[1])
    )


@pytest.mark.parametrize("content", [b"\x80\x81\xff", "schema: 1\nruns: [1]\n", "{", None])
def test_a_damaged_matrix_stops_nobody(shipped, library, content: str | bytes | None) -> None:
    result = shipped(
        content,
        "report = patchkit.apply()\n"
        "str(report), report._repr_html_()\n"
        "again = patchkit.report()\n"
        "result = [patch['tested'] for patch in again.to_dict()['patches']]\n"
        "assert again.to_json()\n"
        "patchkit.revert()",
    )
    assert result
    for tested in result:
        assert tested["level"] == "unknown"
        assert tested["detail"].startswith("unknown: ")
        assert "compat_matrix.yaml" in tested["detail"]
