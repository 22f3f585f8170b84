"""Commands that start a training, and the flags that they give it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any

from ...legacy.converting.adjusting.command_lines import value_of
from ...legacy.places import FoundName
from ...legacy.versions.due import Due
from ..python import readers
from ..python.readers import Reader
from .words import Word, commands, expanded, variables

_LAUNCHER = re.compile(
    r"(?:.*/)?(?:python[\d.]*|torchrun|accelerate(?:-launch)?|deepspeed|ipython)(?:\.exe)?|\$\{?\w+\}?"
)
_NO_SCRIPT = re.compile(r"trl|torch\.distributed\.\w+|accelerate\.commands\.\w+|deepspeed[\w.]*")
_TALK = frozenset({"echo", "printf", "install", "uninstall", "grep"})
"""Commands that may name a script without starting it."""
_SHIPPED = re.compile(r"(?:.*/)?(?:trl|examples)/scripts/(\w+)\.py")
"""Scripts that TRL ships; they read what the command of that name does."""
_FLAG = re.compile(r"--[A-Za-z][\w-]*")
_WORDS = {"true": True, "false": False}
_COMMAND, _SCRIPTS = "trl", "trl.scripts"
"""The command of TRL, and the modules that it runs."""

Scripts = Callable[[str], str | None]
"""Returns the text of the Python script at a path, None if it is not known."""


@dataclass(frozen=True)
class Flag:
    """A flag, and the words behind it.

    Args:
        word: the flag; with `--name=value` the value, too.
    """

    word: Word
    values: tuple[Word, ...]

    @property
    def written(self) -> str:
        """The flag as it is written, with its dashes."""
        return self.word.value.partition("=")[0]

    @property
    def name(self) -> str:
        return self.written.removeprefix("--").replace("-", "_")

    @property
    def value(self) -> Any:
        """What it stands for; True without a value."""
        _, equals, value = self.word.value.partition("=")
        read = (
            [value_of(value, _WORDS)]
            if equals
            else [value_of(word.value, _WORDS) for word in self.values]
        )
        return True if not read else read[0] if len(read) == 1 else read

    @property
    def end(self) -> int:
        """Where its last word ends."""
        return self.values[-1].end if self.values else self.word.end

    @property
    def is_bare(self) -> bool:
        return not self.values and "=" not in self.word.value


@dataclass(frozen=True)
class Launch:
    """A command that starts a training."""

    words: Sequence[Word]
    flags: Sequence[Flag]
    reader: Reader

    @property
    def settings_file(self) -> str:
        """The file of settings that it names; empty if it names none."""
        for flag in self.flags:
            if flag.name == "config":
                return str(flag.value)
        for word in self.words:
            if word.value.endswith((".yaml", ".yml")):
                return word.value
        return ""


def launches(text: str, script: Scripts) -> Iterator[Launch]:
    """Yield what the commands of a text start; their variables are read, too."""
    held = variables(text)
    for words in commands(text):
        started = _launch(list(expanded(words, held)), script)
        if started is not None:
            yield started


def gone_commands(text: str, due: Due) -> Iterator[tuple[Sequence[Word], str, FoundName]]:
    """Yield the commands of TRL that it has no more, each with its name and what the table says."""
    for words in commands(text):
        for before, word in pairwise(words):
            module = f"{_SCRIPTS}.{word.value}" if before.value == _COMMAND else word.value
            found = due.places.gone(module) if module.startswith(_SCRIPTS) else None
            if found is not None and not any(each.value in _TALK for each in words):
                yield words, f"{before.value} {word.value}", found


def _launch(words: Sequence[Word], script: Scripts) -> Launch | None:
    """Return what a command starts; None if it starts no training."""
    if any(word.value in _TALK for word in words):
        return None
    for place, word in enumerate(words[1:], 1):
        before = words[place - 1].value
        if PurePosixPath(before).name == _COMMAND and (reader := readers.of_command(word.value)):
            return Launch(words, list(_flags(words[place + 1 :])), reader)
        is_module = before == "-m" and not _NO_SCRIPT.fullmatch(word.value)
        if is_module or word.value.endswith(".py"):
            if not any(_LAUNCHER.fullmatch(earlier.value) for earlier in words[:place]):
                return None
            path = word.value.replace(".", "/") + ".py" if is_module else word.value
            flags = list(_flags(words[place + 1 :]))
            reader = _reader(path, flags, script)
            return Launch(words, flags, reader) if reader is not None else None
    return None


def _reader(path: str, flags: Sequence[Flag], script: Scripts) -> Reader | None:
    text = script(path)
    shipped = _SHIPPED.fullmatch(path)
    if text is None and shipped:
        return readers.of_command(shipped[1])
    if text is not None:
        reader = readers.of_script(text)
        if reader is not None or readers.has_other_parser(text):
            return reader
    return readers.of_settings({flag.name for flag in flags})


def _flags(words: Sequence[Word]) -> Iterator[Flag]:
    """Yield each flag with the words behind it; what stands before the first is left out."""
    flag: Word | None = None
    values: list[Word] = []
    for word in words:
        if _FLAG.match(word.value):
            if flag is not None:
                yield Flag(flag, tuple(values))
            flag, values = word, []
        else:
            values.append(word)
    if flag is not None:
        yield Flag(flag, tuple(values))
