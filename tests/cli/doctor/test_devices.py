"""What follows from the answers about devices; no GPU is needed to read them."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from patchkit.cli.doctor import devices, probe
from patchkit.reporting.pins import pins_here

CPU = {
    "device": "cpu",
    "name": "AMD EPYC",
    "capability": None,
    "memory": None,
    "float16": "emulated",
    "bfloat16": "native",
}
T4 = {
    "device": "cuda:0",
    "name": "Tesla T4",
    "capability": "7.5",
    "memory": 15 * 2**30,
    "float16": "native",
    "bfloat16": "emulated",
}
H200 = {**T4, "name": "NVIDIA H200", "capability": "9.0", "bfloat16": "native"}
TOO_OLD = {**T4, "float16": "AcceleratorError: no kernel image is available"}
WORKS = {"device": "cpu", "native_library": True, "four_bit": "works", "error": ""}
BUILD = {"version": "2.13.0", "cuda": None, "rocm": None, "no_cuda_because": ""}
FOR_CUDA = {**BUILD, "cuda": "12.8"}
NO_DRIVER = {**FOR_CUDA, "no_cuda_because": "RuntimeError: the driver is too old"}


@pytest.mark.parametrize(
    ("answers", "nvidia", "wrong", "said"),
    [
        pytest.param({"torch": BUILD, "devices": [CPU]}, False, None, "No GPU", id="cpu"),
        pytest.param(
            {"torch": BUILD, "devices": [{**CPU, "bfloat16": "emulated"}]},
            False,
            None,
            "bfloat16: slowly",
            id="a CPU without instructions for bfloat16",
        ),
        pytest.param(
            {"torch": FOR_CUDA, "devices": [H200]}, True, None, "bfloat16: natively", id="H200"
        ),
        pytest.param({"torch": FOR_CUDA, "devices": [T4]}, True, False, "fp16=True", id="T4"),
        pytest.param(
            {"torch": FOR_CUDA, "devices": [H200, {**T4, "device": "cuda:1"}]},
            True,
            False,
            "fp16=True",
            id="one of two is old",
        ),
        pytest.param(
            {"torch": FOR_CUDA, "devices": [TOO_OLD]},
            True,
            True,
            "cannot compute in float16: AcceleratorError",
            id="no kernels for this GPU",
        ),
        pytest.param(
            {"torch": BUILD, "devices": [CPU]}, True, True, "without CUDA", id="a GPU and no CUDA"
        ),
        pytest.param(
            {"torch": NO_DRIVER, "devices": [CPU]}, True, True, "driver is too old", id="old driver"
        ),
        pytest.param(
            {"torch": NO_DRIVER, "devices": [CPU]},
            False,
            None,
            "driver is too old",
            id="CUDA and no GPU",
        ),
        pytest.param(
            {"torch": {"error": "OSError: libcudart.so.12"}},
            False,
            True,
            "cannot be imported: OSError: libcudart.so.12",
            id="torch does not load",
        ),
        pytest.param(
            {"ended": "was ended by SIGSEGV"},
            False,
            True,
            "ended by SIGSEGV",
            id="torch ends the process",
        ),
    ],
)
def test_torch(
    installation, answers: dict[str, Any], nvidia: bool, wrong: bool | None, said: str
) -> None:
    section = devices.section(answers, nvidia=nvidia)
    expected = [] if wrong is None else [wrong]
    assert sorted({step.wrong for step in section.steps}, reverse=True)[:1] == expected
    assert said in repr(section)


def test_nothing_private_in_the_answers(installation) -> None:
    answers = {"torch": {"error": "OSError: /opt/alice/lib.so: no such file"}}
    section = devices.section(answers, nvidia=False)
    assert "lib.so" in repr(section)
    assert "alice" not in repr(section)


@pytest.mark.parametrize(
    ("bitsandbytes", "ended", "problem"),
    [
        (WORKS, "", ""),
        ({**WORKS, "native_library": False}, "", ""),
        ({**WORKS, "four_bit": "RuntimeError: no library"}, "", "4-bit layer fails on cpu"),
        ({**WORKS, "error": "OSError: libcudart"}, "", "cannot be imported: OSError: libcudart"),
        (None, "was ended by SIGSEGV", "the process that imports it was ended by SIGSEGV"),
        (None, "took more than 180 s", "took more than 180 s"),
    ],
)
def test_bitsandbytes(installation, bitsandbytes: Any, ended: str, problem: str) -> None:
    installation.add("bitsandbytes", "0.50.2")
    answers: dict[str, Any] = {"torch": BUILD, "devices": [CPU]}
    if bitsandbytes:
        answers["bitsandbytes"] = bitsandbytes
    if ended:
        answers["ended"] = ended
    section = devices.section(answers, nvidia=False)
    assert [step.wrong for step in section.steps] == [True] * bool(problem)
    assert problem in repr(section.steps)


@pytest.mark.parametrize(("device", "said"), [("cpu", "need a GPU"), ("cuda:0", "fails on cuda:0")])
def test_bitsandbytes_from_before_it_knew_cpus(installation, device: str, said: str) -> None:
    installation.add("bitsandbytes", "0.45.0")
    answer = {**WORKS, "device": device, "four_bit": "AssertionError"}
    answers = {"torch": BUILD, "devices": [CPU], "bitsandbytes": answer}
    (step,) = devices.section(answers, nvidia=False).steps
    assert said in step.what
    assert (step.do == ("pip install 'bitsandbytes>=0.46.0'",)) == (device == "cpu")


def test_bitsandbytes_that_is_not_installed(installation) -> None:
    answers = {"torch": BUILD, "devices": [CPU]}
    assert "bitsandbytes" not in repr(devices.section(answers, nvidia=False))


@pytest.mark.parametrize(("torch", "said"), [("2.13.0", "--quick"), ("", "torch is not installed")])
def test_torch_is_not_asked(installation, monkeypatch, torch: str, said: str) -> None:
    monkeypatch.setattr(devices, "probe", lambda: pytest.fail("asked"))
    if torch:
        installation.add("torch", torch)
    section = devices.check(quick=bool(torch))
    assert said in section.rows[0].text


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("print('{\"torch\": 1}')", {"torch": 1}),
        ("print('{\"torch\": 1}'); print('{\"devi')", {"torch": 1}),
        ("print('noise'); print('{\"a\": 1}'); print('{\"b\": 2}')", {"a": 1, "b": 2}),
        (
            "import os, signal; print('{\"a\": 1}', flush=True); os.kill(os.getpid(), signal.SIGABRT)",
            {"a": 1, "ended": "was ended by SIGABRT"},
        ),
        (
            "import sys; print('no such library', file=sys.stderr); sys.exit(3)",
            {"ended": "ended with status 3: no such library"},
        ),
    ],
)
def test_answers(program: str, expected: dict[str, Any]) -> None:
    assert probe.probe((sys.executable, "-c", program)) == expected


def test_answers_that_do_not_come(monkeypatch) -> None:
    monkeypatch.setattr(probe, "TIMEOUT", 1)
    program = "import time; print('{\"a\": 1}', flush=True); time.sleep(60)"
    found = probe.probe((sys.executable, "-c", program))
    assert found == {"a": 1, "ended": "took more than 1 s"}


@pytest.mark.parametrize(
    ("build", "requires", "commands"),
    [
        (
            BUILD,
            [],
            [
                "pip install --force-reinstall --no-deps --index-url "
                "https://download.pytorch.org/whl/cpu torchvision==0.28.0",
                "pip uninstall torchvision",
            ],
        ),
        (
            FOR_CUDA,
            ["torchvision>=0.19"],
            [
                "pip install --force-reinstall --no-deps --index-url "
                "https://download.pytorch.org/whl/cu128 torchvision==0.28.0"
            ],
        ),
        ({**BUILD, "rocm": "7.0"}, [], ["pip uninstall torchvision"]),
    ],
)
def test_torchvision_that_does_not_load(
    installation, build: dict[str, Any], requires: list[str], commands: list[str]
) -> None:
    installation.add("torchvision", "0.28.0+other")
    installation.add("framework", "1.0", requires)
    error = "RuntimeError: operator torchvision::nms does not exist"
    answers = {"torch": build, "devices": [CPU], "torchvision": {"error": error}}
    (step,) = devices.section(answers, nvidia=False).steps
    step = step.within(pins_here())
    assert (
        step.what == f"torchvision does not load: {error}. With it, imports of Transformers fail."
    )
    assert [command.replace(" \\\n   ", "") for command in step.do] == commands
    assert not devices.section({**answers, "torchvision": {"error": ""}}, nvidia=False).steps
