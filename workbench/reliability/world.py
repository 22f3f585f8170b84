"""A made-up library with bugs, the patches of it, and how each of its functions behaves."""

from __future__ import annotations

import contextlib
import importlib
import importlib.machinery
import logging
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from patchkit.catalogue.entries import Catalogue, Entry
from patchkit.engine.choices import Choices
from patchkit.engine.session import Session
from patchkit.patch import Patch, Rewrite, Wrap
from patchkit.reporting.report import Report
from patchkit.rewrite import Pattern, Rule, replace

from . import madeup_notes

PACKAGE = "madeup"

BUG = Rule(Pattern("bug()"), lambda node: [replace(node, "'fixed'")], names=("bug",))
OTHER_BUG = Rule(Pattern("other_bug()"), lambda node: [replace(node, "'fixed too'")])

_BUGS = """
def bug():
    return "bug"

def other_bug():
    return "other bug"
"""
_NOTED = f"\n__import__({madeup_notes.__name__!r}, fromlist=['note']).note(__name__)\n"

SOURCES = {
    "trainer": """
class Trainer:
    def __init__(self):
        self.value = bug()

    def step(self, size=1, *, by=1):
        return size * by

    @classmethod
    def load(cls, size=1):
        return size

    @staticmethod
    def count(size=1):
        return size

    def untouched(self):
        return bug()

class Child(Trainer):
    pass

def size(n=1):
    return n

length = len
""",
    "several": """
def first():
    "Say what there is."
    assert bug is not None, "an assertion"
    return bug()

def second(n=1):
    return n

def third():
    return bug()
""",
    "shared": """
def both():
    return [bug(), other_bug()]
""",
    "small_model": """
class Net:
    def forward(self):
        return bug()
""",
    "large_model": """
class Net:
    def forward(self):
        return bug()
""",
    "drifted": """
def good():
    return bug()

def fine():
    return 1
""",
}


def double(wrapped: Any, instance: Any, args: Any, kwargs: Any) -> Any:
    return 2 * wrapped(*args, **kwargs)


@dataclass(frozen=True)
class MadeUpPlace:
    """A function of the library that patches fix.

    Args:
        patch: the id of the patch.
        target: where it is.
        call: calls it, given its module.
        plain: what it answers without the patch.
        fixed: what it answers with it.
        certain: whether it is a target whenever its module is loaded; if not, a wildcard finds it.
    """

    patch: str
    target: str
    call: Callable[[ModuleType], Any]
    plain: Any
    fixed: Any
    certain: bool = True

    @property
    def wrapped(self) -> bool:
        """True where a wrapper fixes it, not an edit."""
        return isinstance(self.fixed, int)

    @property
    def module(self) -> str:
        return self.target.partition(":")[0]

    @property
    def qualname(self) -> str:
        return self.target.partition(":")[2]


def _step(module: ModuleType) -> Any:
    return module.Trainer.step(object.__new__(module.Trainer), 3)


PLACES = (
    MadeUpPlace(
        "madeup-rewrite",
        "madeup.trainer:Trainer.__init__",
        lambda module: module.Trainer().value,
        "bug",
        "fixed",
    ),
    MadeUpPlace("madeup-method", "madeup.trainer:Trainer.step", _step, 3, 6),
    MadeUpPlace(
        "madeup-classmethod",
        "madeup.trainer:Trainer.load",
        lambda module: module.Trainer.load(3),
        3,
        6,
    ),
    MadeUpPlace(
        "madeup-staticmethod",
        "madeup.trainer:Trainer.count",
        lambda module: module.Trainer.count(3),
        3,
        6,
    ),
    MadeUpPlace("madeup-function", "madeup.trainer:size", lambda module: module.size(3), 3, 6),
    MadeUpPlace("madeup-c", "madeup.trainer:length", lambda module: module.length("abc"), 3, 6),
    MadeUpPlace(
        "madeup-several", "madeup.several:first", lambda module: module.first(), "bug", "fixed"
    ),
    MadeUpPlace("madeup-several", "madeup.several:second", lambda module: module.second(3), 3, 6),
    MadeUpPlace(
        "madeup-several", "madeup.several:third", lambda module: module.third(), "bug", "fixed"
    ),
    MadeUpPlace(
        "madeup-shared", "madeup.shared:both", lambda module: module.both()[0], "bug", "fixed"
    ),
    MadeUpPlace(
        "madeup-shared-too",
        "madeup.shared:both",
        lambda module: module.both()[1],
        "other bug",
        "fixed too",
    ),
    *(
        MadeUpPlace(
            "madeup-wild",
            f"madeup.{size}_model:Net.forward",
            lambda module: module.Net().forward(),
            "bug",
            "fixed",
            certain=False,
        )
        for size in ("small", "large")
    ),
    MadeUpPlace(
        "madeup-drifted", "madeup.drifted:good", lambda module: module.good(), "bug", "fixed"
    ),
    MadeUpPlace("madeup-drifted", "madeup.drifted:fine", lambda module: module.fine(), 1, None),
)

_CHANGES: dict[str, tuple[Rewrite | Wrap, ...]] = {
    "madeup-rewrite": (Rewrite("madeup.trainer:Trainer.__init__", BUG),),
    "madeup-method": (Wrap("madeup.trainer:Trainer.step", double, parameters=("size",)),),
    "madeup-classmethod": (Wrap("madeup.trainer:Trainer.load", double),),
    "madeup-staticmethod": (Wrap("madeup.trainer:Trainer.count", double),),
    "madeup-function": (Wrap("madeup.trainer:size", double),),
    "madeup-c": (Wrap("madeup.trainer:length", double),),
    "madeup-several": (
        Rewrite("madeup.several:first", BUG),
        Wrap("madeup.several:second", double),
        Rewrite("madeup.several:third", BUG),
    ),
    "madeup-shared": (Rewrite("madeup.shared:both", BUG),),
    "madeup-shared-too": (Rewrite("madeup.shared:both", OTHER_BUG),),
    "madeup-wild": (Rewrite("madeup.*_model:Net.forward", BUG),),
    "madeup-drifted": (Rewrite("madeup.drifted:good", BUG), Rewrite("madeup.drifted:fine", BUG)),
    "madeup-not-due": (Rewrite("madeup.trainer:Trainer.untouched", BUG),),
}
KINDS = {
    "rewrites": ("madeup-rewrite", "madeup-several", "madeup-drifted", "madeup-not-due"),
    "shared": ("madeup-shared", "madeup-shared-too"),
    "wraps": (
        "madeup-method",
        "madeup-classmethod",
        "madeup-staticmethod",
        "madeup-function",
        "madeup-c",
    ),
    "wildcards": ("madeup-wild",),
}
EVERYTHING = tuple(_CHANGES)
DRIFTED = "madeup-drifted"
NOT_DUE = "madeup-not-due"


def patch(patch_id: str) -> Patch:
    affects = ">=9" if patch_id == NOT_DUE else ">=1"
    return Patch(
        id=patch_id, title="it is fixed", affects={PACKAGE: affects}, changes=_CHANGES[patch_id]
    )


class World:
    """The library in a folder on `sys.path`, and a session of some of its patches.

    Args:
        patches: their ids.
        folder: where the library is put; a temporary folder, if None.
        written: whether it is there already.
    """

    def __init__(
        self,
        patches: Iterable[str] = EVERYTHING,
        folder: Path | None = None,
        *,
        written: bool = False,
    ) -> None:
        self.ids = tuple(patches)
        self.folder = folder or Path(tempfile.mkdtemp(prefix="patchkit-reliability-"))
        if not written:
            write_library(self.folder)
        sys.path.insert(0, str(self.folder))
        importlib.invalidate_caches()
        self.session = make_session(self.ids)

    @property
    def places(self) -> tuple[MadeUpPlace, ...]:
        return tuple(place for place in PLACES if place.patch in self.ids)

    @property
    def modules(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(place.module for place in self.places))

    def apply(self, only: Any = None, **options: Any) -> Report:
        return self.session.apply(Choices(only, **options))

    def revert(self, only: Any = None) -> Report:
        return self.session.revert(only)

    def report(self) -> Report:
        return self.session.report()

    def patched(self, only: Any = None, **options: Any) -> AbstractContextManager[Report]:
        return self.session.patched(Choices(only), **options)

    def load(self) -> None:
        for name in self.modules:
            importlib.import_module(name)

    @staticmethod
    def forget() -> None:
        for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
            del sys.modules[name]

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def write_library(folder: Path, *, version: str = "1.2.0") -> None:
    package = folder / PACKAGE
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    for name, source in SOURCES.items():
        (package / f"{name}.py").write_text(source + _BUGS + _NOTED)
    info = folder / f"{PACKAGE}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: {version}\n")


def make_session(patches: Iterable[str | Patch] = EVERYTHING) -> Session:
    definitions = [item if isinstance(item, Patch) else patch(item) for item in patches]
    entries = {item.id: Entry(item, "reliability", None) for item in definitions}
    return Session(Catalogue(entries))


def be_quiet() -> None:
    """Keep warnings and log lines of what is provoked on purpose off the screen."""
    warnings.simplefilter("ignore")
    logger = logging.getLogger("patchkit")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    sys.dont_write_bytecode = True


def warm_up() -> None:
    """Import what the engine imports when it is first used, by using it on another library."""
    with contextlib.suppress(ImportError):
        importlib.import_module("wrapt")
    world = World()
    world.load()
    world.apply()
    with world.patched():
        pass
    world.report().summary()
    world.revert()
    forget_library(world)


def forget_library(world: World) -> None:
    world.forget()
    sys.path.remove(str(world.folder))
    sys.path_importer_cache.pop(str(world.folder), None)
    importlib.invalidate_caches()
    madeup_notes.NOTES.clear()
    madeup_notes.EARLIER.clear()
    world.remove()


@contextlib.contextmanager
def world_of(patches: Iterable[str] = EVERYTHING) -> Iterator[World]:
    world, owner = World(patches), os.getpid()
    try:
        yield world
    finally:
        if os.getpid() == owner:
            world.revert()
            forget_library(world)
