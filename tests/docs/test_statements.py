"""What the pages name exists: commands and options, patches, variables, files, headings, Python."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import shlex
import textwrap
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import patchkit
from patchkit import settings
from patchkit.catalogue import entries
from patchkit.cli.commands import COMMANDS, main
from patchkit.cli.group import LazyGroup

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    file
    for folder in (".", "docs", "benchmarks", "examples", "workbench/reliability")
    for file in (ROOT / folder).glob("*.md")
    if file.name != "CHANGELOG.md"  # it tells of what was
)
TEXTS = {file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in PAGES}
CATALOGUE = entries.load()
IDS = {entry.patch.id for entry in CATALOGUE}
GENERATED = {"patches/index.md", "known-errors.md", "benchmarks.md", "changelog.md"} | {
    f"patches/{name}.md" for name in IDS
}
"""Pages that docs_site/ makes."""
MADE_UP = {"trl-lib", "trl-my-bug", "trl-some-bug", "trl-lookout", "nemo-automodel"}
"""What looks like the id of a patch: examples, and names of others."""
ENVIRONMENTS = {"trl-0", "trl-1"}
"""Beginnings of tox's, such as `trl-1.16`."""

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SPAN = re.compile(r"(?<!`)`([^`\n]+(?:\n[^`\n]+)?)`(?!`)")
COMMAND = re.compile(
    r"(?:\$ |[A-Z_]+=\S+ )*(?:\S*/python3? -m |python3? -m |\S*/)?patchkit ([a-z-]+(?!:)\b.*)"
)
STAND_IN = re.compile(r"…|\bCOMMAND\b|\bFILE\b|\bSCRIPT\b|\bNAME\b")


def _blocks(*kinds: str) -> Iterator[tuple[str, str]]:
    for page, text in TEXTS.items():
        yield from ((page, body) for kind, body in BLOCK.findall(text) if kind in kinds)


def _spans() -> Iterator[tuple[str, str]]:
    """Yield what stands in backticks within sentences and tables."""
    for page, text in TEXTS.items():
        prose = BLOCK.sub("", text)
        yield from ((page, " ".join(span.split())) for span in SPAN.findall(prose))


def _commands() -> Iterator[tuple[str, str]]:
    for page, body in _blocks("console", ""):
        for line in body.splitlines():
            if found := COMMAND.fullmatch(line.partition(" && ")[2] or line):
                yield page, found[1]
    for page, span in _spans():
        found = COMMAND.fullmatch(span)
        if found and found[1].split()[0] in COMMANDS and not STAND_IN.search(span):
            yield page, found[1]


def _python() -> Iterator[tuple[str, str]]:
    yield from _blocks("python")


@pytest.mark.parametrize(("page", "line"), sorted(set(_commands())))
def test_a_command_parses(page: str, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = shlex.split(line, comments=True)
    words = words[: next((i for i, word in enumerate(words) if word in ("|", ">")), len(words))]
    command: click.Command = main
    context = None
    while isinstance(command, LazyGroup) and words:
        context = click.Context(command, parent=context, **command.context_settings)
        found = command.get_command(context, words.pop(0))
        assert found is not None
        command = found
    for parameter in command.params:
        if isinstance(parameter.type, click.Path):
            monkeypatch.setattr(parameter.type, "exists", False)
        if not words:  # it is only mentioned
            monkeypatch.setattr(parameter, "required", False)
    monkeypatch.setenv("PATCHKIT_PATCHES", "")  # --patches sets it
    command.make_context(command.name, words, parent=context)


@pytest.mark.parametrize(
    "page", [page for page in TEXTS if page.startswith(("docs/", "README"))], ids=str
)
def test_the_patches_that_it_names_exist(page: str) -> None:
    libraries = "|".join(sorted({entry.patch.library for entry in CATALOGUE} | {"unsloth"}))
    named = re.findall(rf"(?<![\w/.*-])(?:{libraries})(?:-[a-z0-9]+)+(?![\w*(-])", TEXTS[page])
    others = ENVIRONMENTS | MADE_UP
    unknown = {name for name in named if name not in IDS and name not in others}
    assert unknown == set()


def test_the_variables_exist() -> None:
    known = {setting.variable for setting in CATALOGUE.settings}
    keywords = [*CATALOGUE.opt_ins, *inspect.signature(patchkit.apply).parameters]
    known |= set(map(settings.variable_name, keywords))
    code = "\n".join(
        file.read_text(encoding="utf-8")
        for folder in ("patchkit", ".")
        for file in (ROOT / folder).glob("*.py" if folder == "." else "**/*.py")
    )
    for page, text in TEXTS.items():
        for name in re.findall(r"\bPATCHKIT_[A-Z_]+\b", text):
            example = page == "docs/writing-a-patch.md" and name == "PATCHKIT_LOOKOUT"
            assert name in known or f'"{name}"' in code or example, (page, name)


def test_every_setting_is_on_the_page_of_variables() -> None:
    missing = [
        setting.variable
        for setting in CATALOGUE.settings
        if setting.variable not in TEXTS["docs/command-line.md"]
    ]
    assert missing == []


FOLDERS = {path.name for path in ROOT.iterdir() if path.is_dir() and path.name[0] != "."}


@pytest.mark.parametrize("page", TEXTS)
def test_the_files_that_it_names_exist(page: str) -> None:
    absent = []
    for found, span in _spans():
        name = span.split()[-1] if span.startswith("python ") else span
        if found != page or not re.fullmatch(r"[\w.]+(/[\w.*-]+)+/?", name):
            continue
        top = name.partition("/")[0]
        if top in FOLDERS and "some_bug" not in name and not list(ROOT.glob(name.rstrip("/"))):
            absent.append(name)
    assert absent == []


@pytest.mark.parametrize("page", TEXTS)
def test_its_links_lead_somewhere(page: str) -> None:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", BLOCK.sub("", TEXTS[page])):
        if re.match(r"\w+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (ROOT / page).parent / name if name else ROOT / page
        if name in GENERATED and page.startswith("docs/"):
            continue
        if not file.exists() or (
            anchor and anchor not in _anchors(file.read_text(encoding="utf-8"))
        ):
            broken.append(target)
    assert broken == []


def _anchors(text: str) -> set[str]:
    """Return the anchors of headings, as code hosts and the site make them."""
    headings = re.findall(r"^#+ (.+)$", BLOCK.sub("", text), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in plain}


@pytest.mark.parametrize(("page", "code"), sorted(set(_python())))
def test_python_names_what_there_is(page: str, code: str) -> None:
    goes_on = re.match(r" +\w+=.*,\n\)", code)  # with a call that an earlier block began
    tree = ast.parse(f"Patch(\n{code}" if goes_on else textwrap.dedent(code))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id == "patchkit" and "mark" not in ast.unparse(node):
                assert node.attr in patchkit.__all__, ast.unparse(node)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("patchkit"):
            module = importlib.import_module(str(node.module))
            for alias in node.names:
                assert hasattr(module, alias.name), ast.unparse(node)


@pytest.mark.parametrize(
    ("page", "line"),
    sorted(
        {
            (page, line)
            for page, body in _blocks("console", "")
            for line in re.findall(r"\bpython ((?:\w+/)+\w+\.py[^#\n]*)", body)
        }
        | {
            (page, span.removeprefix("python "))
            for page, span in _spans()
            if re.match(r"(python )?(benchmarks|examples)/\w+\.py --", span)
        }
    ),
)
def test_a_script_of_the_repository_takes_these_options(page: str, line: str) -> None:
    name, *words = shlex.split(line)
    file = ROOT / name
    assert file.is_file()
    # Parts of a script lie in a folder beside it, and in what it imports of patchkit.
    beside = [file, *file.parent.glob("*.py"), *file.parent.glob("*/*.py")]
    text = "\n".join(one.read_text(encoding="utf-8") for one in beside)
    text += "\n".join(one.read_text("utf-8") for one in (ROOT / "patchkit" / "lab").glob("*.py"))
    for word in words:
        if word.startswith("--"):
            option = word.partition("=")[0]
            assert f'"{option}"' in text or f'"--{option.removeprefix("--no-")}"' in text, option
