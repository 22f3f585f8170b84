"""`python -m workbench names`: which release brought a name of a library, and which lost it.

`releases` reads every release of the libraries that the legacy layer knows. For others that errors
ask for names of, one wheel of each minor release is enough, and only what came or went is kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import click
from packaging.utils import parse_wheel_filename
from packaging.version import Version

from patchkit.known import history
from patchkit.known.rows import SINCE
from patchkit.modernize.history import shipped

from .archive import Archive
from .exports import exported
from .modules import modules, names_in
from .sources import Sources

FILE = Path(__file__).parents[2] / "patchkit" / SINCE
ASKED_FOR = re.compile(r"(?:utils|constants|errors|file_download|loaders|models|training_utils)?$")
"""Modules that others import what is new from; the empty text is the library itself."""
DEEP = re.compile(
    r"^_|\..*\.|dummy_|^(?:commands|cli|inference|packaged_modules|experimental|pipelines|schedulers"
    r"|modular_pipelines)\b"
)
"""Modules that only their own library imports from, or that hand on the names of all others."""
ONLY_FILES = re.compile(r"(?:models|loaders)\.")
"""Modules of which it is enough to know that they came or went: they import most of their names."""
BEFORE = re.compile(r"(?:models\.)?(?!(?:modeling|tokenization|commands)_(?:tf|flax)_)\w*$")
"""Modules of the releases before those that the history has; the empty text is the library."""
HAS_NAMES = re.compile(
    r"(?:utils|(?:file|modeling|tokenization|configuration|generation|image|trainer|pytorch)_utils"
    r"|image_processing_utils|trainer_(?:pt_utils|callback|seq2seq)|training_args|optimization)?$"
)
"""Those of them whose names are written down."""
_MODELS = "llama|mistral|bert|gpt2|opt|bloom|t5|clip|whisper|gpt_neox|gptj|bart|roberta|falcon|mpt"
IMPORTED = re.compile(rf"modeling_outputs$|models\.({_MODELS})\.modeling_\1$")
"""Files of Transformers from which other code imports helpers and layers, private ones, too."""
_DEFINED = re.compile(r"^(?:def|class) (\w+)", re.MULTILINE)
WITHOUT_MODULES = ("sentence_transformers",)
"""Libraries whose old modules can be imported, though no file has their name."""


@click.command()
@click.option(
    "--from",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Take the wheels of each library from the folder of its name in this one.",
)
@click.option(
    "--earlier",
    is_flag=True,
    help="Take them for the releases before those that are known, with the first of these.",
)
def names(folder: Path, earlier: bool) -> None:
    """Write into `known/since.json` which releases brought and lost the names of libraries.

    Of those that have a history, which has their own names, only the names in their modules.

    \b
    The wheels come from pip, one of each minor release:
      pip download --no-deps -d WHEELS/diffusers diffusers==0.30.3
      python -m workbench names --from WHEELS
    """
    known = json.loads(FILE.read_text(encoding="utf-8"))
    for wheels in sorted(path for path in folder.iterdir() if path.is_dir()):
        there, releases = _there(wheels)
        if earlier:
            is_always_there = partial(history.is_always_there, wheels.name)
            known["earlier"][wheels.name] = _joined(_earlier(there, releases, is_always_there))
        else:
            found = _came_and_went(there, releases)
            known["names"][wheels.name] = _joined(
                place for place in found if place[1] or wheels.name not in shipped().libraries
            )
    FILE.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _there(wheels: Path) -> tuple[dict[str, list[str]], list[str]]:
    """Return the releases with each module and name of a library, and all releases.

    Args:
        wheels: a folder with wheels of the library whose name it has.
    """
    library = wheels.name
    there: dict[str, list[str]] = {}
    releases = []
    for version, file in sorted(_wheels(wheels)):
        release = f"{version.major}.{version.minor}"
        releases.append(release)
        for place in set(_places(Sources(Archive(file, (library,))), library)):
            there.setdefault(place, []).append(release)
    return there, releases


def _came_and_went(
    there: Mapping[str, list[str]], releases: Sequence[str]
) -> Iterator[tuple[str, str, str]]:
    """Yield the bounds of what came or went, its module, and its name.

    A module that came or went itself stands there without names: importing it fails by its name.
    """
    for place, among in sorted(there.items()):
        bounds = _bounds(among, releases)
        if not bounds:
            continue
        module, _, name = place.partition(":")
        if DEEP.search(module) or (name and ONLY_FILES.match(module)):
            continue
        if bounds.endswith("-") and not ASKED_FOR.match(module):
            continue
        if not _goes_without_saying(module, name, there):
            yield bounds, module, name


def _earlier(
    there: Mapping[str, list[str]], releases: Sequence[str], is_always_there: Callable[[str], bool]
) -> Iterator[tuple[str, str, str]]:
    """Yield the same for the releases before those that the history has.

    Names of a model that came with its package are not written down; packages are there since
    Transformers 4.0, and names since long before.

    Args:
        there: the releases with each place.
        releases: all of them.
        is_always_there: tells whether all later releases have a name; of the others the history
            knows all there is to say.
    """
    packages = {
        place.partition(":")[0]: among
        for place, among in there.items()
        if place.startswith("models.") and among[0] != history.FIRST_PACKAGES
    }
    for place, among in sorted(there.items()):
        module, _, name = place.partition(":")
        bounds = _bounds(among, releases)
        if name and IMPORTED.match(module):
            began = "-" if among[0] == there[f"{module}:"][0] else bounds.partition(" ")[0]
            bounds = f"{began} {bounds.partition(' ')[2]}" if bounds else ""
            if bounds.strip(" -"):
                yield bounds, module, name
            continue
        if not bounds or not BEFORE.match(module) or (name and not HAS_NAMES.match(module)):
            continue
        if _goes_without_saying(module, name, there):
            continue
        if not module and bounds.endswith("-") and not is_always_there(name):
            continue
        if module or packages.get(history.package_of(name, packages), []) != among:
            yield bounds, module, name


def _goes_without_saying(module: str, name: str, there: Mapping[str, list[str]]) -> bool:
    """Tell whether a name is there with its module, or a module beside a function of its name."""
    if not name:
        return f":{module}" in there
    return there.get(f"{module}:") == there[f"{module}:{name}"]


def _bounds(among: Sequence[str], releases: Sequence[str]) -> str:
    """Return the first release with a name and the first without it; empty if all have it."""
    first, after = releases.index(among[0]), releases.index(among[-1]) + 1
    if (first == 0 and after == len(releases)) or after - first != len(among):
        return ""
    gone = releases[after] if after < len(releases) else "-"
    return f"{among[0] if first else '-'} {gone}"


def _joined(places: Iterable[tuple[str, str, str]]) -> dict[str, dict[str, str]]:
    """Return the names of a library by module, and these by the releases with and without them."""
    found: dict[str, dict[str, list[str]]] = {}
    for bounds, module, name in places:
        found.setdefault(bounds, {}).setdefault(module, []).extend([name] if name else [])
    return {
        bounds: {module: " ".join(named) for module, named in below.items()}
        for bounds, below in found.items()
    }


def _wheels(folder: Path) -> Iterator[tuple[Version, Path]]:
    for file in folder.glob("*.whl"):
        yield parse_wheel_filename(file.name)[1], file


def _places(sources: Sources, library: str) -> Iterator[str]:
    """Yield the modules of a release, each with a colon, and what can be imported from them."""
    for module in sources:
        if library == "transformers" and IMPORTED.match(inside := module.partition(".")[2]):
            defined = _DEFINED.findall(sources.text(module))
            yield from (f"{inside}:{name}" for name in ("", *defined))
    for module, named in modules(sources, library).items():
        if module and library in WITHOUT_MODULES:
            continue
        if module:
            yield f"{module}:"
            package = f"{library}.{module}"
            lazy = package in sources and "_import_structure" in sources.text(package)
            named = [*named, *exported(sources, package)] if lazy else named
        else:
            named = [*named, *names_in(sources, library, library, frozenset())]
        yield from (f"{module}:{name}" for name in named if not name.startswith(("_", "logg")))
