"""Scripts on disk: which files are scripts, and how they are read and replaced."""

from __future__ import annotations

import os
import stat
import tempfile
import tokenize
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import NoReturn

from ..legacy.versions.due import Due
from .errors import ScriptError
from .findings import Modernized
from .formats.neighbours import Neighbours
from .python import modernize as _python

_OTHERS = frozenset({"__pycache__", "node_modules", "site-packages"})
_BOM = "\ufeff"
ENDINGS = (".py", ".ipynb", ".yaml", ".yml", ".sh")
"""Of the names of files that are rewritten."""


def _modernized(text: str, due: Due, path: Path) -> Modernized:
    """Rewrite the text of a file; what a format needs is imported only for it."""
    match path.suffix.lower():
        case ".py":
            return _python(text, due, path.parent)
        case ".ipynb":
            from .formats import notebook

            return notebook.modernize(text, due, Neighbours(path).script)
        case ".sh":
            from .formats import shell

            return shell.modernize(text, due, Neighbours(path).script)
        case _:
            from .formats import yaml_settings

            return yaml_settings.modernize(text, due, Neighbours(path).reader)


@dataclass(frozen=True)
class ScriptSource:
    """A file as it was read.

    Args:
        text: the same as text, with its line endings.
        encoding: how the text is encoded.
    """

    path: Path
    raw: bytes
    text: str
    encoding: str

    def encoded(self, text: str) -> bytes:
        """Encode another text as this one is."""
        return text.encode(self.encoding)


def scripts(paths: Sequence[Path], endings: Collection[str] = ENDINGS) -> Iterator[Path]:
    """Yield the scripts among files and below folders, each once.

    Raises:
        ScriptError: a path is not there, has another ending, or is a folder that cannot be read; or
            there is no script.
    """
    seen: set[Path] = set()
    for path in paths:
        if _is_folder(path):
            found: Iterable[Path] = _below(path, endings)
        elif path.suffix.lower() not in endings:
            known = ", ".join(endings)
            raise ScriptError(f"{path} is no script that patchkit reads; it reads {known} files")
        else:
            found = [path]
        for script in found:
            if script.resolve() not in seen:
                seen.add(script.resolve())
                yield script
    if not seen:
        folders = ", ".join(map(str, paths))
        raise ScriptError(f"there is no script in {folders}: no file ends in {', '.join(endings)}")


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        raise ScriptError(f"there is no {path}") from None
    except OSError as error:
        _refuse(error)


def _refuse(error: OSError) -> NoReturn:
    raise ScriptError(f"{error.filename} cannot be read: {error.strerror}") from error


def _below(folder: Path, endings: Collection[str]) -> Iterator[Path]:
    for place, folders, files in os.walk(folder, onerror=_refuse):
        here = Path(place)
        folders[:] = sorted(name for name in folders if _is_own(here / name))
        for name in sorted(files):
            if Path(name).suffix.lower() in endings and not name.startswith("."):
                yield here / name


def _is_own(folder: Path) -> bool:
    """Tell whether a folder has the user's own files, and not those of an environment."""
    hidden = folder.name.startswith(".") or folder.name in _OTHERS
    return not hidden and not os.path.exists(folder / "pyvenv.cfg")


def load(path: Path) -> ScriptSource:
    """Read a file.

    Raises:
        ScriptError: it cannot be read, or is no text.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ScriptError(f"{path} is no file")  # reading a pipe could block
        raw = path.read_bytes()
    except OSError as error:
        raise ScriptError(f"{path} cannot be read: {error.strerror}") from error
    encoding = "utf-8"
    try:
        if path.suffix.lower() == ".py":
            encoding, _ = tokenize.detect_encoding(BytesIO(raw).readline)
        text = raw.decode("utf-8" if encoding == "utf-8-sig" else encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        hint = ", or declare its encoding in the first line" if path.suffix.lower() == ".py" else ""
        raise ScriptError(f"{path} is no text: {error}; save it as UTF-8{hint}") from error
    if "\0" in text:
        raise ScriptError(f"{path} is no text: it has null bytes")
    return ScriptSource(path, raw, text, "utf-8" if encoding == "utf-8-sig" else encoding)


def modernized(source: ScriptSource, due: Due) -> Modernized:
    """Rewrite the text of a file.

    Raises:
        ScriptError: it does not parse as what it is, or shows a mistake of patchkit's.
    """
    begin, text = (_BOM, source.text[1:]) if source.text[:1] == _BOM else ("", source.text)
    try:
        result = _modernized(text, due, source.path)
    except ScriptError as error:
        raise ScriptError(f"{source.path}: {error}") from error
    except Exception as error:  # the files after it are rewritten all the same
        raise ScriptError(
            f"{source.path} is left alone: patchkit made a mistake, {type(error).__name__}: "
            f"{error}; please report it, with the file"
        ) from error
    return Modernized(begin + result.text, result.findings)


def replace(source: ScriptSource, text: str) -> None:
    """Put another text into a file, in one step.

    Raises:
        ScriptError: it is read-only, has changed since it was read, or cannot be replaced; it is
            then as it was.
    """
    path = source.path.resolve()
    try:
        mode = path.stat().st_mode
        if not mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(path, os.W_OK):
            raise ScriptError(f"{source.path} is read-only; nothing was written")
        content = source.encoded(text)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        new = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            new.chmod(stat.S_IMODE(mode))
            if path.read_bytes() != source.raw:
                raise ScriptError(
                    f"{source.path} was changed by somebody else meanwhile; nothing was written, "
                    "call patchkit modernize again"
                )
            new.replace(path)
        finally:
            new.unlink(missing_ok=True)
    except UnicodeEncodeError as error:
        raise ScriptError(
            f"{source.path} is in {source.encoding}, which lacks a letter that is to be written; "
            "nothing was written"
        ) from error
    except OSError as error:
        raise ScriptError(
            f"{source.path} cannot be written: {error.strerror}; it is as it was"
        ) from error
