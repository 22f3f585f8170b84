"""The command line: exit status, what goes where, and one line for what went wrong."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

import pytest

import patchkit

from .conftest import invoke, refused


def is_installed(distribution: str) -> bool:
    try:
        version(distribution)
    except PackageNotFoundError:
        return False
    return True


@pytest.mark.parametrize(
    "arguments", [["--help"], ["-h"], ["report", "-h"], ["matrix", "scan", "-h"]]
)
def test_help(arguments: list[str]) -> None:
    result = invoke(*arguments)
    assert result.exit_code == 0
    assert result.stdout.startswith("Usage: patchkit")


def test_version() -> None:
    result = invoke("--version")
    assert (result.exit_code, result.stdout) == (0, f"patchkit, version {patchkit.__version__}\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reprot"], "No such command 'reprot'. Did you mean 'report'?"),
        (["zzz"], "No such command 'zzz'"),
        (["report", "--jsno"], "No such option"),
        (["report", "no-such-patch"], "IDS names no patch: 'no-such-patch'"),
        (["verify", "no-such-patch"], "IDS names no patch: 'no-such-patch'"),
        (["verify", "trl-adapter-bf16-cats"], "Did you mean 'trl-adapter-bf16-cast'"),
        (["verify", "zzz-*", "--json"], "IDS names no patch: 'zzz-*'"),
        (["matrix", "scna"], "No such command 'scna'. Did you mean 'scan'?"),
        (["verify", "--jobs", "0"], "0 is not in the range x>=1"),
        (["matrix", "scan", "--file", "."], "is a directory"),
        (["demo", "--trainer", "ppo"], "'ppo' is not one of 'sft', 'dpo', 'reward', 'kto', 'grpo'"),
        (["demo", "--precision", "fp8"], "'fp8' is not one of 'fp16', 'bf16', 'fp32'"),
        (["demo", "--quantization", "2bit"], "'2bit' is not one of '4bit', '8bit', 'none'"),
        (["demo", "--steps", "0"], "0 is not in the range 1<=x<=1000"),
        (["demo", "--steps", "-1"], "-1 is not in the range"),
        (["demo", "--steps", "1001"], "1001 is not in the range"),
        (["demo", "--steps", "1.5"], "'1.5' is not a valid integer"),
        (["demo", "--steps"], "Option '--steps' requires an argument"),
    ],
)
def test_bad_command(tmp_path, monkeypatch, arguments: list[str], message: str) -> None:
    monkeypatch.chdir(tmp_path)
    refused(invoke(*arguments), message)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(is_installed("trl"), reason="trl is there")
def test_demo_without_the_libraries() -> None:
    result = invoke("demo")
    refused(result, "the demo trains for real and needs ")
    assert "trl" in result.stderr
    assert "pip install trl transformers peft accelerate" in result.stderr


def test_bad_environment(monkeypatch) -> None:
    monkeypatch.setenv("PATCHKIT_ADAPTER_CAST", "bfloat")
    assert invoke("report").exit_code == 1


def test_help_loads_no_library(loaded_of) -> None:
    heavy = ("torch", "numpy", "transformers", "trl", "wrapt", "rich", "yaml", "packaging")
    assert loaded_of("--help", *heavy) == []


def test_report_loads_no_library(loaded_of) -> None:
    assert loaded_of("report", "torch", "numpy", "transformers", "trl", "accelerate") == []
