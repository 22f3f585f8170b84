"""Run commands one after another, and write down what they print and when, as an asciicast."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from .. import ROOT

HERE = Path(__file__).resolve().parent
HOME = "~/train"
"""What the film calls the folder that the commands run in."""
COLUMNS = 100
ROWS = 24
PROMPT = f"{HOME} $ "
TRAIN, OLD = "train.py", "train_2024.py"
PATH_OF_A_MACHINE = re.compile(r"(?<![\w.~/<])/(?:\w[\w.+-]*/)+")
_QUIET = {
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "PYTHONWARNINGS": "ignore",
    "OMP_NUM_THREADS": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_ROOT_USER_ACTION": "ignore",
    "COLUMNS": str(COLUMNS),
}


_MODEL_AND_DATA = """
from pathlib import Path
import datasets
from patchkit.lab import tiny, trainers
tiny.build_causal_lm(Path("model"), dtype="bfloat16")
datasets.Dataset.from_list(trainers.find("sft").rows() * 8).to_json("data.jsonl")
"""


class FilmError(Exception):
    """The film cannot be made; the text says why, and what to do."""


@dataclass(frozen=True)
class Scene:
    """A command of the film.

    Args:
        command: as it is typed.
        shows: what its output must contain.
    """

    command: str
    shows: str = ""


def scenes(wheel: str) -> tuple[Scene, ...]:
    """Return the commands of the film, in order."""
    return (
        Scene(f"python {TRAIN} 2>&1 | tail -n 1", "not implemented for 'BFloat16'"),
        Scene(f"pip install -q {wheel}"),
        Scene(f"patchkit run -- python {TRAIN}", "step 5: loss"),
        Scene(f"python {OLD} 2>&1 | tail -n 1", "unexpected keyword argument 'max_seq_length'"),
        Scene(f"patchkit run --legacy -- python {OLD}", "step 5: loss"),
    )


def record(environment: Path, folder: Path, cast: Path) -> None:
    """Run the commands of the film, and write what they print, and when.

    Args:
        environment: a virtual environment with pip, TRL and all that QLoRA needs; patchkit is
            taken out of it first, and put into it by the film.
        folder: an empty folder to run the commands in.
        cast: the file to write, in the format asciicast v2.

    Raises:
        FilmError: an output is not what it should be, or names a folder of the machine.
    """
    wheel = _prepare(environment / "bin" / "python", folder)
    start = time.monotonic()
    lines: list[object] = [{"version": 2, "width": COLUMNS, "height": ROWS, "title": "patchkit"}]

    def add(text: str) -> None:
        lines.append([round(time.monotonic() - start, 3), "o", text])

    for scene in scenes(wheel):
        add(f"{PROMPT}{scene.command}\n")
        printed = ""
        for text in _output(scene.command, environment, folder):
            check_paths(text)
            add(text)
            printed += text
        if scene.shows not in printed:
            raise FilmError(
                f"{scene.command!r} should print {scene.shows!r}, and printed:\n{printed}"
            )
    add(PROMPT)
    cast.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


def _prepare(python: Path, folder: Path) -> str:
    """Fill the folder with scripts, model, data and a wheel; return the name of the wheel."""
    pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    _check_call([*pip, "uninstall", "--yes", "patchkit-trl"])
    _check_call([*pip, "wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT)])
    for script in (TRAIN, OLD):
        shutil.copy(HERE / "train" / script, folder)
    _check_call([str(python), "-c", _MODEL_AND_DATA], cwd=folder, env={"PYTHONPATH": str(ROOT)})
    (wheel,) = folder.glob("*.whl")
    return wheel.name


def _check_call(
    command: list[str], cwd: Path | None = None, env: Mapping[str, str] = MappingProxyType({})
) -> None:
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise FilmError(f"{' '.join(command)} failed:\n{done.stderr}")


def _output(command: str, environment: Path, folder: Path) -> Iterator[str]:
    """Yield each line that a command prints, as soon as it does."""
    env = {
        **os.environ,
        **_QUIET,
        "PATH": f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(HERE / "emulated"),
        "FILM_CHECKOUT": str(ROOT),
    }
    with subprocess.Popen(
        command,
        shell=True,
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            yield line.replace(str(folder), HOME)


def check_paths(text: str) -> None:
    """Raise FilmError if a text names a folder of the machine."""
    if found := PATH_OF_A_MACHINE.search(text):
        raise FilmError(f"a folder of this machine would be in the film: {found[0]!r} in {text!r}")
