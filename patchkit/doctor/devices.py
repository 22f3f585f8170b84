"""What computes here, in which precision, and whether bitsandbytes works on it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from ..environment import installed_version
from .asking import ask
from .privacy import without_private_data
from .section import Row, Section, Step

NAME, TITLE = "devices", "Devices"
_SUPPORT = {
    "native": "natively",
    "emulated": "by emulation only",
    "works": "computes",
}
_ON_CPU = {**_SUPPORT, "native": "by instructions of the CPU", "emulated": "slowly"}


def check(*, quick: bool) -> Section:
    if installed_version("torch") is None:
        return Section(NAME, TITLE, (Row("", "not asked: torch is not installed"),), None)
    if quick:
        return Section(NAME, TITLE, (Row("", "not asked: --quick leaves torch out"),), None)
    return section(ask())


def section(answers: dict[str, Any], *, nvidia: bool | None = None) -> Section:
    """What the answers of `probing` say.

    Args:
        answers: the answers.
        nvidia: whether the driver of an NVIDIA GPU is installed; looked up if None.
    """
    nvidia = _has_nvidia_driver() if nvidia is None else nvidia
    answers = _public(answers)
    rows, steps = [], []
    for part in (_torch(answers, nvidia), _devices(answers), _bitsandbytes(answers)):
        rows += part[0]
        steps += part[1]
    facts = {"nvidia_driver": nvidia, **answers}
    return Section(NAME, TITLE, tuple(rows), facts, tuple(steps))


_IN_FLOAT16 = """\
SFTConfig(..., fp16=True, bf16=False)
BitsAndBytesConfig(..., bnb_4bit_compute_dtype=torch.float16)"""
_NO_GPU = "No GPU: under fp16 Accelerate gives a CPU neither autocast nor a GradScaler."
_Part = tuple[list[Row], list[Step]]


def _torch(answers: dict[str, Any], nvidia: bool) -> _Part:
    build = answers.get("torch", {"error": f"the process that imports it {answers.get('ended')}"})
    if "error" in build:
        what = f"torch cannot be imported: {build['error']}"
        step = Step(f"{what}.", ("pip install --force-reinstall torch",), wrong=True)
        return [Row("torch", what, alarming=True)], [step]
    builds = {"CUDA": build["cuda"], "ROCm": build["rocm"]}
    made_for = next((f"{name} {version}" for name, version in builds.items() if version), "")
    rows = [Row("torch", f"{build['version']}, built for {made_for or 'no GPU'}")]
    if nvidia and not made_for:
        what = (
            "There is a driver of an NVIDIA GPU here, and torch is a build without CUDA. Choose "
            "the command for your driver at https://pytorch.org/get-started/locally/."
        )
        return rows, [Step(what, ("pip install --force-reinstall torch",), wrong=True)]
    if build["no_cuda_because"]:
        rows.append(Row("", f"finds no GPU: {build['no_cuda_because']}", alarming=nvidia))
        if nvidia:
            what = f"torch finds no GPU: {build['no_cuda_because']}."
            return rows, [Step(what, ("nvidia-smi",), wrong=True)]
    return rows, []


def _devices(answers: dict[str, Any]) -> _Part:
    rows: list[Row] = []
    steps: list[Step] = []
    for one in answers.get("devices", ()):
        words = _ON_CPU if one["device"] == "cpu" else _SUPPORT
        parts = [one["name"], one["capability"] and f"capability {one['capability']}"]
        parts.append(one["memory"] and f"{one['memory'] / 2**30:.1f} GiB")
        rows.append(Row(one["device"], ", ".join(filter(None, parts)) or "no name"))
        for dtype in ("float16", "bfloat16"):
            said = one[dtype]
            fails = said not in words
            rows.append(Row("", f"{dtype}: {words.get(said, f'fails: {said}')}", alarming=fails))
            if fails:
                what = f"{one['device']} cannot compute in {dtype}: {said}."
                where = "https://pytorch.org/get-started/locally/"
                step = Step(f"{what} Builds of torch for other GPUs: {where}", wrong=True)
                steps.append(step)
    if rows and all(one["device"] == "cpu" for one in answers["devices"]):
        rows.append(Row("", _NO_GPU))
    if any(
        one["bfloat16"] == "emulated" and one["device"] != "cpu"
        for one in answers.get("devices", ())
    ):
        steps.append(_train_in_float16())
    return rows, steps


def _train_in_float16() -> Step:
    return Step(
        "This GPU computes bfloat16 only by emulation, which is slow; TRL trains in bf16 if "
        "nothing is said. Train in fp16, and load quantized models for it.",
        (_IN_FLOAT16,),
    )


def _bitsandbytes(answers: dict[str, Any]) -> _Part:
    if installed_version("bitsandbytes") is None:
        return [], []
    found = answers.get("bitsandbytes")
    if found is None:
        ended = answers.get("ended")
        if not ended or "devices" not in answers:
            return [], []
        problem = f"the process that imports it {ended}"
    elif found["error"]:
        problem = f"it cannot be imported: {found['error']}"
    elif found["four_bit"] != "works":
        problem = f"a 4-bit layer fails on {found['device']}: {found['four_bit']}"
    else:
        library = "native library loaded" if found["native_library"] else "no native library"
        return [Row("bitsandbytes", f"{library}; 4-bit layers compute on {found['device']}")], []
    step = Step(
        f"bitsandbytes does not work: {problem}.",
        ("python -m bitsandbytes  # says what it looked for", "pip install -U bitsandbytes"),
        wrong=True,
    )
    return [Row("bitsandbytes", problem, alarming=True)], [step]


def _has_nvidia_driver() -> bool:
    return shutil.which("nvidia-smi") is not None or Path("/proc/driver/nvidia/version").exists()


def _public(answers: Any) -> Any:
    if isinstance(answers, dict):
        return {name: _public(value) for name, value in answers.items()}
    if isinstance(answers, list):
        return [_public(value) for value in answers]
    return without_private_data(answers) if isinstance(answers, str) else answers
