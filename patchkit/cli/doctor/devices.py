"""Check which devices compute here, in which precision, and whether bitsandbytes works."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ...environment import in_range, installed_version, is_version
from ...matrix.records import public_version
from ...reporting.pins import BUILDS
from .privacy import without_private_data
from .probe import probe
from .section import Section, SectionRow, Step

NAME, TITLE = "devices", "Devices"
_SUPPORT = {"native": "natively", "emulated": "by emulation only", "works": "computes"}
_FIRST_ON_CPUS = "0.46.0"
"""The first bitsandbytes whose 4-bit layers compute on a CPU."""
_ON_CPU = {**_SUPPORT, "native": "by instructions of the CPU", "emulated": "slowly"}
_IN_FLOAT16 = """\
SFTConfig(..., fp16=True, bf16=False)
BitsAndBytesConfig(..., bnb_4bit_compute_dtype=torch.float16)"""
_NO_GPU = "No GPU: under fp16 Accelerate gives a CPU neither autocast nor a GradScaler."
_REINSTALL = "pip install --force-reinstall torch"
_BUILDS_OF_TORCH = "https://pytorch.org/get-started/locally/"


def check(*, quick: bool) -> Section:
    if installed_version("torch") is None:
        return Section.of(NAME, TITLE, (), nothing="not checked: torch is not installed")
    if quick:
        return Section.of(NAME, TITLE, (), nothing="not checked: --quick leaves torch out")
    return section(probe())


def section(answers: dict[str, Any], *, nvidia: bool | None = None) -> Section:
    """Describe the answers of `probing`, with the steps that follow from them."""
    nvidia = _has_nvidia_driver() if nvidia is None else nvidia
    answers = _public(answers)
    found = (
        *_torch(answers, nvidia),
        *_devices(answers.get("devices", ())),
        *_torchvision(answers),
        *_bitsandbytes(answers),
    )
    return Section.of(NAME, TITLE, found, {"nvidia_driver": nvidia, **answers})


def _failure(label: str, problem: str, what: str, *do: str) -> tuple[SectionRow, Step]:
    return SectionRow(label, problem, alarming=True), Step(what, do, wrong=True)


def _torch(answers: dict[str, Any], nvidia: bool) -> Iterator[SectionRow | Step]:
    build = answers.get("torch", {"error": f"the process that imports it {answers.get('ended')}"})
    if "error" in build:
        problem = f"torch cannot be imported: {build['error']}"
        yield from _failure("torch", problem, f"{problem}.", _REINSTALL)
        return
    builds = {"CUDA": build["cuda"], "ROCm": build["rocm"]}
    platform = next((f"{name} {version}" for name, version in builds.items() if version), "")
    yield SectionRow("torch", f"{build['version']}, built for {platform or 'no GPU'}")
    if nvidia and not platform:
        yield Step(
            "There is a driver for an NVIDIA GPU here, but torch is a build without CUDA. Choose "
            f"the command for your driver at {_BUILDS_OF_TORCH}.",
            (_REINSTALL,),
            wrong=True,
        )
    elif reason := build["no_cuda_because"]:
        yield SectionRow("", f"finds no GPU: {reason}", alarming=nvidia)
        if nvidia:
            yield Step(f"torch finds no GPU: {reason}.", ("nvidia-smi",), wrong=True)


def _devices(devices: Sequence[dict[str, Any]]) -> Iterator[SectionRow | Step]:
    for device in devices:
        words = _ON_CPU if device["device"] == "cpu" else _SUPPORT
        parts = [device["name"], device["capability"] and f"capability {device['capability']}"]
        parts.append(device["memory"] and f"{device['memory'] / 2**30:.1f} GiB")
        yield SectionRow(device["device"], ", ".join(filter(None, parts)) or "no name")
        for dtype in ("float16", "bfloat16"):
            support = device[dtype]
            if support in words:
                yield SectionRow("", f"{dtype}: {words[support]}")
                continue
            yield from _failure(
                "",
                f"{dtype}: fails: {support}",
                f"{device['device']} cannot compute in {dtype}: {support}. Builds of torch for "
                f"other GPUs: {_BUILDS_OF_TORCH}",
            )
    gpus = [device for device in devices if device["device"] != "cpu"]
    if devices and not gpus:
        yield SectionRow("", _NO_GPU)
    if any(device["bfloat16"] == "emulated" for device in gpus):
        yield Step(
            "This GPU computes bfloat16 only by emulation, which is slow; TRL trains in bf16 "
            "by default. Train in fp16, and load quantized models for it.",
            (_IN_FLOAT16,),
        )


def _torchvision(answers: dict[str, Any]) -> Iterable[SectionRow | Step]:
    error = answers.get("torchvision", {}).get("error")
    if not error:
        return ()
    problem = f"torchvision does not load: {error}"
    build = answers["torch"]
    kind = f"cu{build['cuda'].replace('.', '')}" if build["cuda"] else "cpu"
    version = public_version(installed_version("torchvision") or "")
    # The same release, built for the same devices as torch; torch itself stays.
    install = f"pip install --force-reinstall --no-deps torchvision=={version}"
    commands = [f"{install} --index-url {BUILDS}/{kind}"] if not build["rocm"] else []
    what = f"{problem}. With it, imports of Transformers fail."
    return _failure("torchvision", problem, what, *commands, "pip uninstall torchvision")


def _bitsandbytes(answers: dict[str, Any]) -> Iterable[SectionRow | Step]:
    version = installed_version("bitsandbytes")
    answer, ended = answers.get("bitsandbytes"), answers.get("ended")
    if version is None or (answer is None and not (ended and "devices" in answers)):
        return ()
    if answer is None:
        problem = f"the process that imports it {ended}"
    elif answer["error"]:
        problem = f"it cannot be imported: {answer['error']}"
    elif answer["device"] == "cpu" and _is_before(version, _FIRST_ON_CPUS):
        problem = f"{version}: its 4-bit layers need a GPU; those of {_FIRST_ON_CPUS} do not"
        newer = f"pip install 'bitsandbytes>={_FIRST_ON_CPUS}'"
        return _failure("bitsandbytes", problem, f"bitsandbytes {problem}.", newer)
    elif answer["four_bit"] != "works":
        problem = f"a 4-bit layer fails on {answer['device']}: {answer['four_bit']}"
    else:
        library = "native library loaded" if answer["native_library"] else "no native library"
        text = f"{library}; 4-bit layers compute on {answer['device']}"
        return (SectionRow("bitsandbytes", text),)
    return _failure(
        "bitsandbytes",
        problem,
        f"bitsandbytes does not work: {problem}.",
        "python -m bitsandbytes  # lists the files that it looked for",
        "pip install -U bitsandbytes",
    )


def _is_before(version: str, first: str) -> bool:
    return is_version(version) and in_range(version, f"<{first}")


def _has_nvidia_driver() -> bool:
    return shutil.which("nvidia-smi") is not None or Path("/proc/driver/nvidia/version").exists()


def _public(answers: Any) -> Any:
    if isinstance(answers, dict):
        return {name: _public(value) for name, value in answers.items()}
    if isinstance(answers, list):
        return [_public(value) for value in answers]
    return without_private_data(answers) if isinstance(answers, str) else answers
