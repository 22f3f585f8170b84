"""Keep the results of rewriting between processes, as Python keeps bytecode.

A rewrite is a pure function of the code that runs, the rules, patchkit and Python. What it came to
stands in one file for each environment: on a hit no source is read, nothing is parsed or compiled.
So do facts about the environment, each under a name that says all that it depends on.
A file that is damaged, somebody else's or of another state is a miss and no more.
"""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import marshal
import os
import stat
import sys
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any

from ..about import PACKAGE, __version__
from ..catalogue.fingerprint import of_folder, of_installed
from ..environment import cache_folder
from ..rewrite.results import FORMAT_WITHOUT_REFERENCES as FORMAT
from ..rewrite.results import Plan, Results, digest

FOLDER = "rewrites"
_MAGIC = b"patchkit rewrites 1\n"
_CHECKSUM_SIZE = 16
_LARGEST = 4 * 2**20
"""Size of a file, in bytes, beyond which what others kept is dropped."""
_MOST_FILES = 8
"""Files of other environments, or of earlier states of this one, that stay in the folder."""
_PRIVATE = 0o700
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH

_NO_SITE = marshal.dumps([], FORMAT)
"""What is kept of a rule that finds nothing in a function."""
_FACT = bytes(16)
"""Stands for a digest of code in the keys of facts."""


class KeptResults(Results):
    """The results that are kept in a file, and those of this process.

    Not thread-safe: the owner locks.

    Args:
        folder: returns the folder of the file, or nothing where none is to be kept.
    """

    def __init__(self, folder: Callable[[], str] = cache_folder) -> None:
        self._folder = folder
        self._path = ""
        self.reason = ""
        """Why nothing is kept; empty where it is, and before the file was asked for."""
        self._records: dict[bytes, bytes] = {}
        self._new: dict[bytes, bytes] = {}
        self._is_read = False
        self._digests: dict[int, tuple[CodeType, bytes | None]] = {}
        self._states: dict[str, str] = {}
        self.hits = 0
        """How many plans and compiled functions were known when a rewrite asked for them."""

    def plan(self, code: CodeType, rule: str) -> Plan | None:
        """Return the edits of a rule in the function with this code; None if they are not known."""
        record = self._find(self._digest(code), ("plan", rule))
        if record is None:
            return None
        self.hits += 1
        from ..rewrite.edit import Edit

        return [
            [Edit(start, end, text) for start, end, text in site] for site in marshal.loads(record)
        ]

    def keep_plan(self, code: CodeType, rule: str, plan: Plan) -> None:
        """Keep the edits of a rule."""
        edits = [[(edit.start, edit.end, edit.text) for edit in site] for site in plan]
        self._keep(self._digest(code), ("plan", rule), marshal.dumps(edits, FORMAT))

    def compiled(self, code: CodeType, rules: Sequence[str], filename: str) -> CodeType | None:
        """Return the edited code, checked when it was compiled; None if it is not known."""
        edited = self.code_under(self.key_of(code, rules, filename), code)
        self.hits += edited is not None
        return edited

    def key_of(self, code: CodeType, rules: Sequence[str], filename: str) -> bytes:
        """Return the key of edited code; empty if it is not known."""
        state = self._digest(code)
        key = b"" if state is None else _key(state, ("code", filename, *rules))
        return key if key in self._records else b""

    def code_under(self, key: bytes, original: CodeType) -> CodeType | None:
        """Return the code that is kept under a key; None if there is none for this function."""
        record = self._records.get(key)
        code = None if record is None else marshal.loads(record)
        fits = isinstance(code, CodeType) and code.co_freevars == original.co_freevars
        return code if fits else None

    def has_no_site(self, state: bytes | None, rule: str) -> bool:
        """Tell whether it is known that a rule finds nothing in code with this digest."""
        return self._find(state, ("plan", rule)) == _NO_SITE

    def fact(self, *names: str) -> Any:
        """Return what is kept under a name in parts; None if nothing is."""
        record = self._find(_FACT, names)
        return None if record is None else marshal.loads(record)

    def keep_fact(self, value: Any, *names: str) -> None:
        """Keep a fact of plain data, unless it is known."""
        record = marshal.dumps(value, FORMAT)
        if self.path and self._records.get(_key(_FACT, names)) != record:
            self._keep(_FACT, names, record)

    def keep_compiled(
        self, code: CodeType, rules: Sequence[str], filename: str, edited: CodeType
    ) -> None:
        """Keep the edited code."""
        self._keep(self._digest(code), ("code", filename, *rules), marshal.dumps(edited))

    def write(self) -> None:
        """Write what is new into the file, beside what others have written meanwhile.

        Where that cannot be done nothing is kept, and nobody is told.
        """
        self.forget_digests()
        new, self._new = self._new, {}
        if not new or not self._path or not is_private(os.path.dirname(self._path)):
            return
        records = {**_read(self._path), **new}
        content = _content(records)
        if len(content) > _LARGEST:
            content = _content(new)
        try:
            _replace(self._path, content)
            _drop_oldest(os.path.dirname(self._path))
        except OSError:
            return

    def forget_digests(self) -> None:
        """Forget which digests code has: its file may change, and it may be unloaded."""
        self._digests, self._states = {}, {}

    def __len__(self) -> int:
        """Return how many results the file and this process have."""
        return len(self._records) if self.path else 0

    @property
    def path(self) -> str:
        """The file; empty where nothing is kept."""
        if not self._is_read:
            self._open()
        return self._path

    def _find(self, state: bytes | None, names: Sequence[str]) -> bytes | None:
        if not self.path:
            return None
        return None if state is None else self._records.get(_key(state, names))

    def _keep(self, state: bytes | None, names: Sequence[str], record: bytes) -> None:
        if state is None or not self.path:
            return
        if not self._new:
            atexit.unregister(self.write)
            atexit.register(self.write)
        key = _key(state, names)
        self._records[key] = self._new[key] = record

    def _digest(self, code: CodeType) -> bytes | None:
        if not self.path:
            return None
        known = self._digests.get(id(code))
        if known is None:
            known = self._digests[id(code)] = code, digest(code, states=self._states)
        return known[1]

    def _open(self) -> None:
        self._is_read = True
        folder = self._folder()
        state = of_folder(PACKAGE)
        if not folder:
            self.reason = "PATCHKIT_CACHE is off or relative, or there is no home"
        elif sys.dont_write_bytecode:
            self.reason = "Python keeps no bytecode either: PYTHONDONTWRITEBYTECODE or -B"
        elif not state:
            self.reason = "patchkit's own files have just been changed, or cannot be read"
        if self.reason:
            return
        facts = (__version__, sys.version, sys.flags.optimize, sys.prefix, PACKAGE, state)
        name = hashlib.blake2b(repr(facts).encode(), digest_size=16).hexdigest()
        folder = os.path.join(folder, FOLDER)
        try:
            os.makedirs(folder, _PRIVATE, exist_ok=True)
        except OSError as error:
            self.reason = f"its folder cannot be made: {error.strerror}"
            return
        if not is_private(folder):
            self.reason = "its folder is another user's, or others may write to it"
            return
        self._path = os.path.join(folder, f"{name}.bin")
        self._records = _read(self._path)


KEPT = KeptResults()
"""What is kept for the one session of this process."""


def _key(state: bytes, names: Sequence[str]) -> bytes:
    return state + "\0".join(names).encode()


def state_of_table(installed: str | None = None) -> str:
    """Name the state of the legacy layer's table, and of what is installed; empty if unknown.

    Args:
        installed: what `of_installed` returns, if that was asked for.
    """
    installed = of_installed() if installed is None else installed
    table = of_folder(os.path.join(PACKAGE, "legacy"), (".toml", ".txt"))
    return f"{installed} {table}" if installed and table else ""


def clear() -> int:
    """Delete what is kept, of all environments; return the number of files.

    Raises:
        OSError: one cannot be deleted.
    """
    folder = cache_folder()
    if not folder or not is_private(os.path.join(folder, FOLDER)):
        return 0
    with os.scandir(os.path.join(folder, FOLDER)) as entries:
        files = [entry.path for entry in entries]
    for file in files:
        os.unlink(file)
    return len(files)


def is_private(folder: str) -> bool:
    """Tell whether a folder is this user's, and nobody else may write to it."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and _is_own(found)


def _is_own(found: os.stat_result) -> bool:
    if sys.platform == "win32":
        return True  # It lies in the user's profile, which others may not write to.
    return found.st_uid == os.geteuid() and not found.st_mode & _WRITABLE_BY_OTHERS


def _content(records: dict[bytes, bytes]) -> bytes:
    payload = marshal.dumps(records)
    return _MAGIC + _checksum(payload) + payload


def _checksum(payload: bytes) -> bytes:
    # Bytecode of another Python must not be read, whatever the name of its file.
    key = importlib.util.MAGIC_NUMBER
    return hashlib.blake2b(payload, digest_size=_CHECKSUM_SIZE, key=key).digest()


def _read(path: str) -> dict[bytes, bytes]:
    """Return the records in a file; none if it is missing, damaged or not this user's."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        with open(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or not _is_own(found):
                return {}
            content = file.read()
    except OSError:
        return {}
    begin = len(_MAGIC) + _CHECKSUM_SIZE
    payload = content[begin:]
    if content[:begin] != _MAGIC + _checksum(payload):
        return {}
    records: dict[bytes, bytes] = marshal.loads(payload)
    return records


def _replace(path: str, content: bytes) -> None:
    """Put a file in its place in one step, so that nobody reads half of it."""
    import tempfile  # only what is new needs it

    descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(path), suffix=".new")
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _drop_oldest(folder: str) -> None:
    """Drop the files that were written first, where there are too many."""
    with os.scandir(folder) as entries:
        files = sorted(entries, key=lambda entry: entry.stat().st_mtime_ns, reverse=True)
    for file in files[_MOST_FILES:]:
        os.unlink(file.path)
