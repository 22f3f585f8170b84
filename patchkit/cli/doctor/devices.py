"""Check which devices compute here, in which precision, and whether bitsandbytes works."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from ...environment import in_range, installed_version, is_version
from ...matrix.records import public_version
from ...reporting.pins import BUILDS
from .privacy import without_private_data
from .probe import probe
from .section import Section, SectionRow, Step

NAME, TITLE = "devices", "Devices"
_SUPPORT = {
    "native": "natively",
    "emulated": "by emulation only",
    "works": "computes",
}
_FIRST_ON_CPUS = "0.46.0"
"""The first bitsandbytes whose 4-bit layers compute on a CPU."""
_ON_CPU = {**_SUPPORT, "native": "by instructions of the CPU", "emulated": "slowly"}


def check(*, quick: bool) -> Section:
    if installed_version("torch") is None:
        return Section(NAME, TITLE, (SectionRow("", "not checked: torch is not installed"),), None)
    if quick:
        return Section(
            NAME, TITLE, (SectionRow("", "not checked: --quick leaves torch out"),), None
        )
    return section(probe())


def section(answers: dict[str, Any], *, nvidia: bool | None = None) -> Section:
    """Describe the answers of `probing`, with the steps that follow from them."""
    nvidia = _has_nvidia_driver() if nvidia is None else nvidia
    answers = _public(answers)
    rows, steps = [], []
    for part in (
        _torch(answers, nvidia),
        _devices(answers),
        _torchvision(answers),
        _bitsandbytes(answers),
    ):
        rows += part[0]
        steps += part[1]
    facts = {"nvidia_driver": nvidia, **answers}
    return Section(NAME, TITLE, tuple(rows), facts, tuple(steps))


_IN_FLOAT16 = """\
SFTConfig(..., fp16=True, bf16=False)
BitsAndBytesConfig(..., bnb_4bit_compute_dtype=torch.float16)"""
_NO_GPU = "No GPU: under fp16 Accelerate gives a CPU neither autocast nor a GradScaler."
_Part = tuple[list[SectionRow], list[Step]]


def _torch(answers: dict[str, Any], nvidia: bool) -> _Part:
    build = answers.get("torch", {"error": f"the process that imports it {answers.get('ended')}"})
    if "error" in build:
        problem = f"torch cannot be imported: {build['error']}"
        step = Step(f"{problem}.", ("pip install --force-reinstall torch",), wrong=True)
        return [SectionRow("torch", problem, alarming=True)], [step]
    builds = {"CUDA": build["cuda"], "ROCm": build["rocm"]}
    platform = next((f"{name} {version}" for name, version in builds.items() if version), "")
    rows = [SectionRow("torch", f"{build['version']}, built for {platform or 'no GPU'}")]
    if nvidia and not platform:
        problem = (
            "There is a driver for an NVIDIA GPU here, but torch is a build without CUDA. Choose "
            "the command for your driver at https://pytorch.org/get-started/locally/."
        )
        return rows, [Step(problem, ("pip install --force-reinstall torch",), wrong=True)]
    if build["no_cuda_because"]:
        rows.append(SectionRow("", f"finds no GPU: {build['no_cuda_because']}", alarming=nvidia))
        if nvidia:
            problem = f"torch finds no GPU: {build['no_cuda_because']}."
            return rows, [Step(problem, ("nvidia-smi",), wrong=True)]
    return rows, []


def _devices(answers: dict[str, Any]) -> _Part:
    rows: list[SectionRow] = []
    steps: list[Step] = []
    for device in answers.get("devices", ()):
        words = _ON_CPU if device["device"] == "cpu" else _SUPPORT
        parts = [device["name"], device["capability"] and f"capability {device['capability']}"]
        parts.append(device["memory"] and f"{device['memory'] / 2**30:.1f} GiB")
        rows.append(SectionRow(device["device"], ", ".join(filter(None, parts)) or "no name"))
        for dtype in ("float16", "bfloat16"):
            support = device[dtype]
            fails = support not in words
            rows.append(
                SectionRow(
                    "", f"{dtype}: {words.get(support, f'fails: {support}')}", alarming=fails
                )
            )
            if fails:
                problem = f"{device['device']} cannot compute in {dtype}: {support}."
                where = "https://pytorch.org/get-started/locally/"
                step = Step(f"{problem} Builds of torch for other GPUs: {where}", wrong=True)
                steps.append(step)
    if rows and all(device["device"] == "cpu" for device in answers["devices"]):
        rows.append(SectionRow("", _NO_GPU))
    if any(
        device["bfloat16"] == "emulated" and device["device"] != "cpu"
        for device in answers.get("devices", ())
    ):
        steps.append(
            Step(
                "This GPU computes bfloat16 only by emulation, which is slow; TRL trains in bf16 "
                "by default. Train in fp16, and load quantized models for it.",
                (_IN_FLOAT16,),
            )
        )
    return rows, steps


def _torchvision(answers: dict[str, Any]) -> _Part:
    error = answers.get("torchvision", {}).get("error")
    if not error:
        return [], []
    problem = f"torchvision does not load: {error}"
    build = answers["torch"]
    kind = f"cu{build['cuda'].replace('.', '')}" if build["cuda"] else "cpu"
    version = public_version(installed_version("torchvision") or "")
    # The same release, built for the same devices as torch; torch itself stays.
    install = f"pip install --force-reinstall --no-deps torchvision=={version}"
    commands = [f"{install} --index-url {BUILDS}/{kind}"] if not build["rocm"] else []
    what = f"{problem}. With it, imports of Transformers fail."
    step = Step(what, (*commands, "pip uninstall torchvision"), wrong=True)
    return [SectionRow("torchvision", problem, alarming=True)], [step]


def _bitsandbytes(answers: dict[str, Any]) -> _Part:
    version = installed_version("bitsandbytes")
    if version is None:
        return [], []
    answer = answers.get("bitsandbytes")
    if answer is None:
        ended = answers.get("ended")
        if not ended or "devices" not in answers:
            return [], []
        problem = f"the process that imports it {ended}"
    elif answer["error"]:
        problem = f"it cannot be imported: {answer['error']}"
    elif answer["device"] == "cpu" and _is_before(version, _FIRST_ON_CPUS):
        return _only_on_gpus(version)
    elif answer["four_bit"] != "works":
        problem = f"a 4-bit layer fails on {answer['device']}: {answer['four_bit']}"
    else:
        library = "native library loaded" if answer["native_library"] else "no native library"
        return [
            SectionRow("bitsandbytes", f"{library}; 4-bit layers compute on {answer['device']}")
        ], []
    step = Step(
        f"bitsandbytes does not work: {problem}.",
        (
            "python -m bitsandbytes  # lists the files that it looked for",
            "pip install -U bitsandbytes",
        ),
        wrong=True,
    )
    return [SectionRow("bitsandbytes", problem, alarming=True)], [step]


def _is_before(version: str, first: str) -> bool:
    return is_version(version) and in_range(version, f"<{first}")


def _only_on_gpus(version: str) -> _Part:
    problem = f"{version}: its 4-bit layers need a GPU; those of {_FIRST_ON_CPUS} do not"
    step = Step(
        f"bitsandbytes {problem}.", (f"pip install 'bitsandbytes>={_FIRST_ON_CPUS}'",), wrong=True
    )
    return [SectionRow("bitsandbytes", problem, alarming=True)], [step]


def _has_nvidia_driver() -> bool:
    return shutil.which("nvidia-smi") is not None or Path("/proc/driver/nvidia/version").exists()


def _public(answers: Any) -> Any:
    if isinstance(answers, dict):
        return {name: _public(value) for name, value in answers.items()}
    if isinstance(answers, list):
        return [_public(value) for value in answers]
    return without_private_data(answers) if isinstance(answers, str) else answers
