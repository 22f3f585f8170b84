"""Write down from which classes those of the libraries derive: `python -m workbench parents`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from patchkit.legacy.versions.releases import releases
from patchkit.matrix.file import replace_text
from patchkit.matrix.scan import wheels
from patchkit.modernize.reading.kinship import FILE

from .archive import Archive
from .exports import exported
from .modules import declared
from .sources import Sources
from .timeline import UNASKED

Parents = dict[str, tuple[str, ...]]
"""Class to the nearest public classes that it derives from; both with their library."""

_LARGE = "transformers"
"""The library from which classes of the others derive."""
_MODELS, _AUTO = f"{_LARGE}.models.", f"{_LARGE}.models.auto."
_CLASS = re.compile(r"^class (\w+)(?:\(((?:[^()]|\([^()]*\))*)\))?:", re.MULTILINE)
_ALIAS = re.compile(r"^([A-Z]\w+) = ([A-Z]\w+)$", re.MULTILINE)
_BASE = re.compile(r"(?:^|,)\s*(?:\w+\.)*(\w+)\s*(?=\[|,|$)")
"""A class without the modules in front of it, and not `metaclass=…`."""
_UNASKED = re.compile(rf"_|TF|Flax|(?!\w*EncoderDecoderModel$)(?:{UNASKED.pattern})")
"""Names that no script for training with PyTorch asks for."""
_INNER = frozenset({"BaseTrainer", "_BaseTrainer"})
"""Between TRL's trainers and that of Transformers in some releases; rows name the trainers."""


class Classes:
    """The classes of a release.

    Files are searched as text, as it would take minutes to parse thousands of models, and bases
    are looked up by name alone: few names stand for two classes.

    Args:
        sources: the modules.
        library: its name.
        others: the classes of Transformers, for another library.
    """

    def __init__(self, sources: Sources, library: str, others: Classes | None = None) -> None:
        self._library = library
        self._others = others
        self._bases: dict[str, list[str]] = {}
        self._of_models: set[str] = set()
        self._public = set(exported(sources, library))
        for module in sources:
            text = sources.text(module)
            is_model = module.startswith(_MODELS) and not f"{module}.".startswith(_AUTO)
            if module.startswith(_MODELS):
                self._public.update(declared(text))
            for name, to in [*_CLASS.findall(text), *_ALIAS.findall(text)]:
                bases = [base for base in _BASE.findall(to) if base != name]
                self._bases.setdefault(name, []).extend(bases)
                if is_model:
                    self._of_models.add(name)

    def parents(self) -> Parents:
        """Return the known bases of the classes that scripts can name."""
        return {
            f"{self._library}.{name}": tuple(dict.fromkeys(self._nearest(name, ())))
            for name in self._bases
            if (name in self._public or name not in self._of_models) and not _UNASKED.match(name)
        }

    def _nearest(self, name: str, seen: tuple[str, ...]) -> Iterator[str]:
        for base in self._bases.get(name, ()):
            if base in seen:
                continue
            if self._is_kept(base):
                yield f"{self._library}.{base}"
            elif base in self._bases:
                yield from self._nearest(base, (*seen, name))
            elif self._others is not None and self._others._is_kept(base):
                yield f"{_LARGE}.{base}"

    def _is_kept(self, name: str) -> bool:
        """Tell whether scripts or the table speak of a class from which others derive."""
        if name not in self._bases or name in self._of_models or name in _INNER:
            return False
        known = self._library != _LARGE and not name.startswith("_")
        return known or name in self._public or name == "_BaseAutoModelClass"


def newest_of_each_minor(versions: Iterable[str]) -> Iterator[str]:
    """Yield the last release of each minor one, the oldest first."""
    last = {tuple(version.split(".")[:2]): version for version in versions}
    return iter(last.values())


def read(cache: Path) -> dict[str, dict[str, str]]:
    """Return by library which classes derive from which: parents to children, with blanks between.

    A class derives from what it derived from in the newest release that has it.

    Args:
        cache: keeps the sources.

    Raises:
        ScanError: a release cannot be downloaded.
    """
    newest: Classes | None = None
    found: dict[str, dict[str, str]] = {}
    for library in sorted(releases(), key=lambda library: library != _LARGE):
        known: Parents = {}
        for version in newest_of_each_minor(releases()[library]):
            wheel = wheels.Wheel(cache, library, version)
            wheel.fetch()
            archive = Archive(wheel.file, (wheels.file_stem(library),))
            classes = Classes(Sources(archive), library, newest)
            known.update(classes.parents())
        newest = newest or classes
        groups: dict[str, list[str]] = {}
        for name in sorted(known):
            if known[name]:
                groups.setdefault(" ".join(known[name]), []).append(name.partition(".")[2])
        found[library] = {parents: " ".join(groups[parents]) for parents in sorted(groups)}
    return found


@click.command()
@click.option(
    "--cache",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep sources in this folder.  [default: PATCHKIT_CACHE, or patchkit among your caches]",
)
def parents(cache: Path | None) -> None:
    """Write from which classes those of the libraries derive, for `patchkit modernize`.

    The last release of each minor one is read; pip fetches what is not cached.
    """
    replace_text(FILE, json.dumps(read(cache or wheels.default_folder()), indent=0) + "\n")
