"""Each piece of advice that names a switch, tried in an interpreter of its own."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from patchkit.catalogue import entries
from patchkit.catalogue.explanation import explain

from ..installed import distribution
from ..processes import python_path, run
from . import old_library

ROOT = Path(__file__).resolve().parents[2]
CALL = re.compile(r"(?:patchkit\.)?(?:apply|revert)\([^()`{}]*=[^()`{}]*\)")
VARIABLE = re.compile(r"PATCHKIT_[A-Z_]+=[^\s`,;){}]+")
RUN = re.compile(r"patchkit run (?:(?!--? |`).)*--(?= |`)|patchkit run --[\w-]+(?: [a-z]+)?(?=`)")
NOT_SWITCHES = ("PATCHKIT_CACHE", "PATCHKIT_TEST_PROCESSES")
EXAMPLES = {
    # what stands for something of the reader's
    "only=…, exclude=…": 'only="trl-*", exclude="peft-*"',
    "only=…": 'only="trl-*"',
    "exclude=…": 'exclude="trl-*"',
    "exclude=...": 'exclude="trl-*"',
    "patches=…": 'patches="patches"',
    "dtype=…": 'dtype="fp16"',
    "dtype=...": 'dtype="fp16"',
    "adapter_cast=…": 'adapter_cast="bf16"',
    "legacy=…": "legacy=True",
    "torch.float16": '"float16"',
    "torch.float32": '"float32"',
    "PATCHKIT_DISABLE=id": "PATCHKIT_DISABLE=trl-adapter-bf16-cast",
    "/folder": "patches",
    "=folder": "=patches",
}
LOOKOUT = """
from patchkit.patch import Patch, Wrap

PATCH = Patch(
    id="trl-lookout",
    title="somebody looks",
    affects={"transformers": ">=1"},
    changes=(Wrap("transformers.training_args:TrainingArguments.look", "looking:look"),),
    opt_in="lookout",
)
"""
TELL = (
    old_library.SEE
    + """
found, report = see(), patchkit.report()
undone = "disabled", "available", "not-affected", "untested", "not-installed"
taken = [record.id for record in report if record.status not in undone]
print(found + "o" * (report["trl-lookout"].status == "applied"), *taken)
print(*[record.id for record in report if record.status == "disabled"])
"""
)
OPT_IN = {entry.patch.opt_in for entry in entries.load()} - {""}
ON = {f"PATCHKIT_{name.upper()}": "1" for name in {*OPT_IN, "legacy", "lookout"}}
LETTERS = {"preflight": "p", "legacy": "l", "lookout": "o", "written-for": "l"}


def texts() -> Iterator[str]:
    """Yield what users read: strings of the sources, and pages."""
    for folder in ("patchkit", "patches"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            templates = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
            parts = {id(part) for template in templates for part in ast.walk(template)}
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and id(node) not in parts:
                    yield from [node.value] if isinstance(node.value, str) else ()
    for file in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        yield file.read_text(encoding="utf-8")


def advice() -> Iterator[str]:
    """Yield all pieces that name a switch, with examples for what stands for the reader's."""
    for text in texts():
        for piece in (*CALL.findall(text), *VARIABLE.findall(text), *RUN.findall(text)):
            if piece.startswith(NOT_SWITCHES) or not re.search("=|--[a-z]", piece):
                continue
            for placeholder, example in EXAMPLES.items():
                piece = piece.replace(placeholder, example)
            yield piece.removeprefix("patchkit.").removesuffix(" --")


def explained() -> Iterator[tuple[str, bool]]:
    """Yield what the explanations of patches say; of one form only once, and of opt-in patches."""
    known: dict[tuple[str, bool], str] = {}
    for entry in entries.load():
        found = explain(entry)
        ways = [(way, True) for way in found.switch_on] + [(way, False) for way in found.switch_off]
        for way, on in ways:
            form = way.replace(found.id, "ID"), bool(found.opt_in)
            if known.setdefault(form, way) == way:
                yield way, on


ADVICE = sorted(dict.fromkeys(advice()))
EXPLAINED = sorted(dict.fromkeys(explained()))


class World:
    """A folder with a library and patches, in which advice is tried.

    Args:
        folder: where it is.
        outside: makes forks of a process that has imported what patchkit needs, if anybody does.
    """

    def __init__(self, folder: Path, outside: Any) -> None:
        self.folder, self.outside = folder, outside
        library = old_library.write(folder / "library")
        arguments = library / "transformers" / "training_args.py"
        method = "\n    def look(self):\n        return 1\n"
        arguments.write_text(arguments.read_text(encoding="utf-8") + method, encoding="utf-8")
        looking = "def look(wrapped, instance, args, kwargs):\n    return wrapped()\n"
        (library / "looking.py").write_text(looking, encoding="utf-8")
        for name, version in {"trl": "1.16.0", "accelerate": "1.14.0"}.items():
            distribution(library, name, version)
        (folder / "patches").mkdir()
        (folder / "patches" / "lookout.py").write_text(LOOKOUT, encoding="utf-8")
        self.environment = {
            **{name: text for name, text in os.environ.items() if "PATCHKIT" not in name},
            "PYTHONPATH": python_path(library),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PATCHKIT_PATCHES": str(folder / "patches"),
        }

    def on(self, piece: str, variables: dict[str, str]) -> tuple[set[str], list[str], list[str]]:
        """Follow a piece of advice: the letters of what is on, the ids taken, and those left out."""
        environment, program = {**self.environment, **variables}, "apply()"
        command = [sys.executable, "-c"]
        if piece.startswith("PATCHKIT_"):
            name, _, value = shlex.split(piece)[0].partition("=")
            environment[name] = value
        elif piece.startswith("patchkit run"):
            options = shlex.split(piece.removeprefix("patchkit run").partition(" -- ")[0])
            command = [sys.executable, "-m", "patchkit", "run", *options, "--", *command]
            program = "None"
        else:
            program = f"apply(), {piece}" if "revert" in piece else piece
        code = f"import patchkit\nfrom patchkit import apply, revert\n{program}\n{TELL}"
        if self.outside and len(command) == 2:
            done = subprocess.CompletedProcess(
                command, *self.outside.run(self.folder, environment, argv=["-c"], code=code)
            )
        else:
            done = run(*command, code, folder=self.folder, env=environment)
        if "strict" in piece:  # the made-up libraries have not what the patches need
            assert done.returncode == (78 if "--strict" in piece else 1)
            assert " drifted: " in done.stderr
            return set(), [], []
        assert done.returncode == 0, f"{piece}: {done.stderr[-3000:]}"
        first, disabled = done.stdout.splitlines()[-2:]
        letters, _, taken = first.partition(" ")
        return set(letters), taken.split(), disabled.split()


@pytest.fixture(scope="module")
def world(tmp_path_factory, outside) -> World:
    return World(tmp_path_factory.mktemp("advice"), outside)


def promised(piece: str, variables: dict[str, str]) -> set[str]:
    """Return the letters of what a piece says is on, beside what variables say."""
    letters = {
        letter for name, letter in LETTERS.items() if f"PATCHKIT_{name.upper()}" in variables
    }
    for name, letter in LETTERS.items():
        if re.search(
            rf"\b{name}=(?!False)|--{name}\b|--opt-in {name}|PATCHKIT_{name.upper()}=1", piece
        ):
            letters.add(letter)
        if re.search(rf"\b{name}=False|--no-{name}|--opt-out {name}", piece):
            letters.discard(letter)
    if "trl-lookout" in piece:
        letters.add("o")
    return letters


@pytest.mark.parametrize("piece", ADVICE)
def test_what_texts_advise(world, piece: str) -> None:
    """It is accepted, and what it switches on or off is on or off."""
    variables = ON if re.search("False|--no-|--opt-out", piece) else {}
    on, _, disabled = world.on(piece, variables)
    if "DISABLE=all" in piece:
        assert "transformers-preflight" in disabled
    else:
        assert on == promised(piece, variables)
    for name in re.findall(r"(?:exclude=|--exclude |DISABLE=)['\"]?([\w*-]+)", piece):
        if name.startswith("trl-"):
            assert "trl-adapter-bf16-cast" in disabled


@pytest.mark.parametrize(("way", "on"), EXPLAINED)
def test_what_explanations_advise(world, way: str, on: bool) -> None:
    """`switch_on` from nothing, `switch_off` against the variable."""
    letters, taken, disabled = world.on(way, {} if on else ON)
    (patch,) = [
        entry.patch
        for entry in entries.load()
        if way in explain(entry).switch_on or way in explain(entry).switch_off
    ][:1]
    assert (patch.id in taken) is on
    if patch.opt_in == "preflight":
        assert ("p" in letters) is on
    elif not patch.opt_in and "revert" not in way:
        assert patch.id in disabled


def test_the_advice_is_found() -> None:
    """A look that finds nothing would test nothing."""
    for piece in (
        "apply(preflight=True)",
        "apply(preflight=False)",
        "apply(legacy=False)",
        "PATCHKIT_LEGACY=1",
        "PATCHKIT_DISABLE=all",
        "patchkit run --opt-out lookout",
        "patchkit run --no-legacy",
        "patchkit run --exclude 'trl-*'",
    ):
        assert piece in ADVICE
    ids = "|".join(entry.patch.id for entry in entries.load())
    forms = {(re.sub(ids, "ID", way), on) for way, on in EXPLAINED}
    assert forms >= {
        ("patchkit.apply(preflight=True)", True),
        ("patchkit.apply(preflight=False)", False),
        ("PATCHKIT_DISABLE=ID", False),
        ('patchkit.revert(only="ID")', False),
    }
    # Those of one kind of patch have one form; a keyword stands in three of them.
    assert len(forms) < 11 + 3 * len(OPT_IN)
