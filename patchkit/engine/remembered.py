"""Carry out a first plain `apply()` as an earlier process did, without reading any patch.

Where all that is installed is as it was there, each function gets the code that was kept for
exactly the code that it runs. Whoever asks for more (a report, another call, an import that is not
known, a function that is another one) makes the session carry out the call, as if nothing were
known; it takes over what runs, so that no function is without its patches meanwhile.
"""

from __future__ import annotations

import hashlib
import linecache
import os
import sys
import weakref
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ..about import shipped_path
from ..catalogue.fingerprint import of_folder, of_installed
from ..rewrite.codes import has_names
from ..rewrite.errors import Drift
from ..rewrite.results import digest
from ..rewrite.target import Target, bind, matcher
from ..rewrite.trampoline import Around, trampoline
from . import hooks
from .compiled import compiled_frames
from .deferred import SILENT
from .kept import KEPT
from .lock import LOCK

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from types import CodeType, FunctionType, ModuleType

CALL, MODULE = "plain apply", "module"
"""Beginnings of the names of facts."""
JUMP = ("code", "", "jump")
_INFO = 20


class KnownCall(NamedTuple):
    """What a plain `apply()` is here.

    Args:
        packages: the packages that patches fix, and the files they are imported from.
        files: files of modules with targets; none may be missing.
        names: the modules that patches fix, by name.
        globs: the same as shell patterns.
    """

    packages: dict[str, str]
    files: tuple[str, ...]
    names: Collection[str]
    globs: tuple[str, ...]


class KnownChange(NamedTuple):
    """What is done to one function of a module.

    Args:
        qualname: its name.
        edited: the name of its edited code; empty if it is only wrapped.
        around: owner, wrapper as `module:name`, and name in messages of each wrapper, innermost
            first.
        needs: names that its module must have.
    """

    qualname: str
    edited: tuple[str, ...]
    around: tuple[tuple[str, str, str], ...]
    needs: tuple[str, ...]


class KnownSearch(NamedTuple):
    """A target with wildcards, which finds nothing in a module but what is changed.

    Args:
        qualname: a pattern.
        names: names that a function mentions where the rule may find something.
        needs: names that the module must have.
        kept_as: the name under which results of the rule are kept.
    """

    qualname: str
    names: tuple[str, ...]
    needs: tuple[str, ...]
    kept_as: str


class Swap(NamedTuple):
    """A function that runs code from the file."""

    function: Callable[[], FunctionType | None]
    original: CodeType
    code: CodeType


class KnownWrapper:
    """A wrapper, `module:name`, that is imported when it is first called, as helpers of edits are."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._wrapper: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        if self._wrapper is None:
            from importlib import import_module

            module, _, name = self._path.partition(":")
            self._wrapper = getattr(import_module(module), name)
        return self._wrapper(*arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        return KnownWrapper, (self._path,)


class Remembered:
    """The call as it was carried out here; a listener of the hook while it is in force."""

    def __init__(self) -> None:
        self.state = ""
        """Names all that the call depends on; empty if it was not asked for, or is unknown."""
        self.hand_over: Callable[[], None] = lambda: None
        """Makes the session carry out the call."""
        self.is_watched: Callable[[], bool] = lambda: False
        """Tells whether somebody holds a report that must be written before anything changes."""
        self.in_force = False
        self.frames: dict[str, list[Any]] = {}
        self._call: KnownCall | None = None
        self._prefixes: tuple[str, ...] = ()
        self._folders: object = None
        self._swaps: list[Swap] = []
        self._running: dict[int, Swap] = {}
        self._texts: dict[str, object] = {}

    def start(self) -> bool:
        """Carry out the call, again if need be; tell whether that can be done.

        If it cannot, or anything raises, all is as it was.
        """
        logging = sys.modules.get("logging")
        if logging is not None and logging.getLogger("patchkit").isEnabledFor(_INFO):
            return False  # what a call changes is logged
        try:
            done = self._read() and self._carry_out()
        except BaseException:
            self.undo()
            raise
        if not done:
            self.undo()
        return done

    def _read(self) -> bool:
        self._folders = _folders()
        self.state = _state()
        known = KEPT.fact(CALL, self.state) if self.state else None
        if known is None:
            return False
        call = KnownCall(*known)
        self._call = call._replace(names=frozenset(call.names))
        self._prefixes = tuple({glob.partition("*")[0] for glob in call.globs})
        return all(map(os.path.exists, call.files))

    def _carry_out(self) -> bool:
        hooks.listen(self)
        states: dict[str, bytes] = {}
        for name in list(sys.modules):
            if not self.wants(name):
                continue
            module = hooks.module_object(name)
            if module is None:
                return False
            if hooks.is_loading(module):
                hooks.notify_when_done(name, module)
            elif not self._fix(name, module, states):
                return False
        self.in_force = True
        return True

    def packages(self) -> Collection[str]:
        return self._call.packages if self._call else ()

    def wants(self, name: str) -> bool:
        call = self._call
        if call is None:
            return False
        if name in call.names or name in call.packages:
            return True
        return name.startswith(self._prefixes) and any(matcher(glob)(name) for glob in call.globs)

    def before_import(self, package: str) -> None:
        """Make sure that nothing was installed meanwhile."""
        if self.in_force and self._folders != _folders() and self.state != _state():
            self.hand_over()

    def after_import(self, name: str, module: ModuleType) -> None:
        known = False
        if self.in_force and not self.is_watched():
            known = self._fix(name, module, {})
        if not known:
            self.hand_over()
            from .session import SESSION

            SESSION.after_import(name, module)

    def _fix(self, name: str, module: ModuleType, states: dict[str, bytes]) -> bool:
        """Fix a module; tell whether it is as it was where this was worked out."""
        assert self._call is not None
        file = self._call.packages.get(name)
        if file is not None and file != (getattr(module, "__file__", None) or ""):
            return False
        if file is not None and name not in self._call.names and not self._matches(name):
            return True
        known = KEPT.fact(MODULE, self.state, name)
        changes = None if known is None else self._changes(module, known, states)
        if changes is None:
            return False
        frames = compiled_frames()
        with LOCK:
            before = len(self._swaps)
            try:
                self.frames.setdefault(name, frames)
                for function, code in changes:
                    self._put(function, code)
            except BaseException:
                self._take_back(before)
                raise
        return True

    def _matches(self, name: str) -> bool:
        assert self._call is not None
        return any(matcher(glob)(name) for glob in self._call.globs)

    def _changes(
        self, module: ModuleType, known: Any, states: dict[str, bytes]
    ) -> list[tuple[FunctionType, CodeType]] | None:
        """Return the functions of a module to change and their code; None if any is not known."""
        changes, searches = known
        found: list[tuple[FunctionType, CodeType]] = []
        changed = set()
        for change in map(KnownChange._make, changes):
            try:
                binding = bind(module, change.qualname)
                function = binding.function()
            except Drift:
                return None
            swap = self._running.get(id(function.__code__))
            if swap is not None:
                changed.add(id(swap.original))
                continue
            original = code = function.__code__
            state = digest(original, states)
            kept = KEPT.code_at(state, change.edited, original) if change.edited else code
            if kept is None or not all(name in function.__globals__ for name in change.needs):
                return None
            code = kept
            if change.around:
                template = KEPT.code_at(state, JUMP, original)
                if template is None:
                    return None
                bound = isinstance(binding.owner, type) and type(binding.value) is not staticmethod
                around = [
                    Around(owner, KnownWrapper(path), qualname, bound)
                    for owner, path, qualname in change.around
                ]
                code = trampoline(template, weakref.ref(function), code, around)
            changed.add(id(original))
            found.append((function, code))
        return found if self._finds_nothing_else(module, searches, changed, states) else None

    def _finds_nothing_else(
        self, module: ModuleType, searches: Any, changed: set[int], states: dict[str, bytes]
    ) -> bool:
        seen: dict[str, list[FunctionType]] = {}
        for search in map(KnownSearch._make, searches):
            functions = seen.get(search.qualname)
            if functions is None:
                functions = seen[search.qualname] = list(_functions(module, search.qualname))
            for function in functions:
                swap = self._running.get(id(function.__code__))
                code = swap.original if swap else function.__code__
                if (
                    id(code) not in changed
                    and has_names(code, search.names)
                    and all(name in function.__globals__ for name in search.needs)
                    and not KEPT.has_no_site(digest(code, states), search.kept_as)
                ):
                    return False
        return True

    def _put(self, function: FunctionType, code: CodeType) -> None:
        swap = Swap(weakref.ref(function), function.__code__, code)
        self._swaps.append(swap)
        self._running[id(code)] = swap
        filename = code.co_filename
        if filename != swap.original.co_filename and filename not in self._texts:
            # `linecache` calls an entry of one function when somebody wants the lines.
            shown = (partial(self._text, filename),)
            self._texts[filename] = linecache.cache[filename] = shown  # type: ignore[assignment]
        function.__code__ = code

    def _text(self, filename: str) -> str | None:
        """Return the text that runs, which the session knows."""
        self.hand_over()
        entry: Any = linecache.cache.get(filename)
        return entry[0]() if entry is not None and len(entry) == 1 else None

    def swapped(self) -> Iterable[tuple[FunctionType, CodeType]]:
        """Yield the functions that run code from the file, and their original code."""
        for swap in self._swaps:
            function = swap.function()
            if function is not None and function.__code__ is swap.code:
                yield function, swap.original

    def undo(self) -> None:
        """Give all functions their original code back, and listen no longer."""
        with LOCK:
            self._take_back(0)
            self.forget()

    def _take_back(self, number: int) -> None:
        """Give the functions but the first few their original code back."""
        for swap in self._swaps[number:]:
            function = swap.function()
            if function is not None and function.__code__ is swap.code:
                function.__code__ = swap.original
            self._running.pop(id(swap.code), None)
        del self._swaps[number:]

    def reinstate(self) -> None:
        """Put the code back after the session was interrupted while it took over."""
        with LOCK:
            for swap in self._swaps:
                function = swap.function()
                if function is not None and function.__code__ is swap.original:
                    function.__code__ = swap.code
            linecache.cache.update(self._texts)  # type: ignore[arg-type]
            if self.in_force:
                hooks.listen(self)

    def forget(self) -> None:
        """Leave everything to the session."""
        self.in_force = False
        hooks.ignore(self)
        for filename, shown in self._texts.items():
            if linecache.cache.get(filename) is shown:
                del linecache.cache[filename]
        self._swaps, self._running, self._texts, self.frames = [], {}, {}, {}
        self._call = None


REMEMBERED = Remembered()


def _functions(module: ModuleType, qualname: str) -> Iterable[FunctionType]:
    """Yield the functions that a pattern finds in a module."""
    for name in Target(module.__name__, qualname).qualnames_in(module):
        try:
            yield bind(module, name).function()
        except Drift:
            continue


def _folders() -> list[tuple[str, int]]:
    """Return when something was last put into the folders that modules are imported from."""
    found = []
    for folder in sys.path:
        try:
            found.append((folder, os.stat(folder or os.curdir).st_mtime_ns))
        except OSError:
            found.append((folder, 0))
    return found


def _state() -> str:
    """Name the state of all that a plain `apply()` depends on; empty if unknown."""
    variables = sorted(
        (name, value)
        for name, value in os.environ.items()
        if name.startswith("PATCHKIT_") and name not in SILENT
    )
    folders = [shipped_path("patches")]
    for name, value in variables:
        if name == "PATCHKIT_LEGACY":
            return ""
        if name == "PATCHKIT_PATCHES":
            for path in filter(None, value.split(os.pathsep)):
                path = os.path.abspath(os.path.expanduser(path))
                folders.append(os.path.dirname(path) if path.endswith(".py") else path)
    states = [of_installed(), *map(of_folder, folders)]
    if not all(states):
        return ""
    facts = (states, folders, variables, *(os.path.realpath(path) for path in folders))
    return hashlib.blake2b(repr(facts).encode(), digest_size=16).hexdigest()
