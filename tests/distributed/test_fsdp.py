"""FSDP demands one dtype of a flat group: upstream's cast stays there, and a run keeps working."""

from __future__ import annotations

import types
from pathlib import Path

import pytest

from patchkit.precision.adapters import should_cast_adapters

from ..patches.due import only_if_due

SCRIPT = str(Path(__file__).with_name("fsdp_script.py"))
UNIFORM = "Must flatten tensors with uniform dtype but got torch.bfloat16 and torch.float32"


@only_if_due("trl-adapter-bf16-cast")
@pytest.mark.parametrize(
    ("mode", "outcome"),
    [
        ("upstream", "stepped"),
        ("patched", "stepped"),
        # What would become of the run if the patch did not look for FSDP.
        ("blind", f"ValueError: {UNIFORM}"),
    ],
)
def test_two_processes(two_ranks, tmp_path: Path, mode: str, outcome: str) -> None:
    from patchkit.lab import tiny

    folder = tiny.build_causal_lm(tmp_path / "model", dtype="bfloat16")
    done = two_ranks(SCRIPT, str(folder), mode, env={"ACCELERATE_USE_FSDP": "true"})
    # Two processes write to one pipe: lines may run into each other.
    assert done.stdout.count("OUTCOME ") == 2, done.stderr[-3000:]
    assert done.stdout.count(f"OUTCOME {outcome}") == 2, done.stdout


@pytest.mark.parametrize(
    ("args", "variables", "wanted"),
    [
        ({"bf16": True}, {}, False),
        ({"fp16": True}, {}, False),
        ({}, {}, False),
        ({"bf16": True, "fsdp": True}, {}, True),
        ({"bf16": True, "fsdp": ["full_shard"]}, {}, True),
        ({"bf16": True, "fsdp": []}, {}, False),
        ({"bf16": True}, {"ACCELERATE_USE_FSDP": "true"}, True),
        ({"bf16": True}, {"ACCELERATE_USE_FSDP": "1"}, False),
        ({"fp16": True}, {"ACCELERATE_USE_FSDP": "true"}, True),
        ({"fp16": True}, {"ACCELERATE_USE_FSDP": "true", "FSDP_VERSION": "2"}, False),
        ({"fp16": True, "fsdp": True, "fsdp_plugin_args": {"fsdp_version": 2}}, {}, False),
        ({"bf16": True, "fsdp": True, "fsdp_plugin_args": {"fsdp_version": 2}}, {}, True),
        ({"fsdp": True}, {}, True),
        ({"bf16": True, "deepspeed_plugin": object()}, {}, True),
        ({"bf16": True}, {"ACCELERATE_USE_DEEPSPEED": "true"}, True),
        ({"bf16": True}, {"PATCHKIT_ADAPTER_CAST": "bf16"}, True),
        ({"fp16": True}, {"PATCHKIT_ADAPTER_CAST": "bf16"}, False),
    ],
)
def test_when_upstream_s_cast_stays(monkeypatch, args, variables, wanted: bool) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert should_cast_adapters(types.SimpleNamespace(**args)) is wanted
