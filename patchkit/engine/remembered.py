"""Carry out a first `apply()` as an earlier process did, without reading any patch.

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
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from .. import settings
from ..about import shipped_path
from ..catalogue.fingerprint import of_folder, of_installed
from ..environment import without_garbage_collection
from ..rewrite.codes import names_in
from ..rewrite.errors import Drift
from ..rewrite.results import digest
from ..rewrite.target import bind, functions_in, matcher
from ..rewrite.trampoline import Around, trampoline
from . import hooks
from .compiled import compiled_frames
from .kept import KEPT, state_of_table
from .lock import LOCK

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from types import CodeType, FunctionType, ModuleType

    from ..reporting.legacy import LegacyReport

CALL, MODULE = "apply", "module"
"""Beginnings of the names of facts."""
_INFO = 20


class KnownCall(NamedTuple):
    """What a call of `apply` is here.

    Args:
        packages: the packages that patches fix, and the files they are imported from.
        files: files of modules with targets; none may be missing.
        names: the modules that patches fix, by name.
        globs: the same as shell patterns.
        settings: what was chosen beyond which patches run.
        legacy: what the legacy layer is to do.
    """

    packages: dict[str, str]
    files: tuple[str, ...]
    names: tuple[str, ...]
    globs: tuple[str, ...]
    settings: dict[str, str]
    legacy: bool | str | None


class KnownChange(NamedTuple):
    """What is done to one function of a module.

    Args:
        qualname: its name.
        edited: the key of its edited code; empty if it is only wrapped.
        jump: the key of the code that jumps to its wrappers; empty if it has none.
        around: of each wrapper, innermost first, the owner, the name of the target in messages,
            and what `KnownWrapper` takes.
        needs: names that its module must have.
    """

    qualname: str
    edited: bytes
    jump: bytes
    around: tuple[tuple[str, str, str, str], ...]
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
    """A function that runs code from the file.

    Args:
        module: returns its module, or None once that was unloaded.
        qualname: its name there.
        is_bound: whether calls of it have an instance, or a class, as their first argument.
        function: returns the function, or None.
        original: its code as upstream has it.
        code: what it runs.
    """

    module: Callable[[], ModuleType | None]
    qualname: str
    is_bound: bool
    function: Callable[[], FunctionType | None]
    original: CodeType
    code: CodeType

    def put(self) -> None:
        """Make the function run the code, if it runs the original."""
        function = self.function()
        if function is not None and function.__code__ is self.original:
            function.__code__ = self.code

    def take_back(self) -> None:
        """Make the function run the original, if it runs the code."""
        function = self.function()
        if function is not None and function.__code__ is self.code:
            function.__code__ = self.original


class KnownWrapper:
    """A wrapper that is imported when it is first called, as helpers of edits are.

    Args:
        path: `module:name`.
        folder: the folder of a project's own patches that it comes from, if it does.
    """

    def __init__(self, path: str, folder: str = "") -> None:
        self._path = path
        self._folder = folder
        self._wrapper: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        if self._wrapper is None:
            from importlib import import_module

            if self._folder:
                from pathlib import Path

                from ..catalogue.folders import package_of

                package_of(Path(self._folder))
            module, _, name = self._path.partition(":")
            self._wrapper = getattr(import_module(module), name)
        return self._wrapper(*arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        return KnownWrapper, (self._path, self._folder)


class WaitingCalls(Protocol):
    """The calls of `apply` that wait."""

    def variables(self) -> dict[str, str]:
        """Return the variables that say something about patches."""

    def is_watched(self) -> bool:
        """Tell whether somebody holds a report that must be written before anything changes."""

    def hand_over(self) -> None:
        """Make the session carry out the calls."""


class Remembered:
    """The call as it was carried out here; a listener of the hook while it is in force."""

    def __init__(self, calls: WaitingCalls) -> None:
        self._calls = calls
        self.arguments = ""
        """Those of the call."""
        self.state = ""
        """Names all that the call depends on; empty if it was not asked for, or is unknown."""
        self.in_force = False
        self.variables: dict[str, str] = {}
        """Those that the call read."""
        self.frames: dict[str, list[Any]] = {}
        self._call: KnownCall | None = None
        self._wanted: Collection[str] = ()
        self._prefixes: tuple[str, ...] = ()
        self._folders: object = None
        self._installed = ""
        self._swaps: list[Swap] = []
        self._running: dict[int, Swap] = {}
        self._texts: dict[str, Any] = {}

    def start(self, arguments: str) -> bool:
        """Carry out a call with these arguments, again if need be; tell whether that can be done.

        If it cannot, or anything raises, all is as it was. An error is no reason for a call to
        fail that can be carried out without this.
        """
        logging = sys.modules.get("logging")
        if logging is not None and logging.getLogger("patchkit").isEnabledFor(_INFO):
            return False  # what a call changes is logged
        was_in_force, done = self.in_force, False
        try:
            self.arguments = arguments
            with without_garbage_collection():
                done = self._read() and self._carry_out()
        except Exception:
            if logging is not None:
                logging.getLogger("patchkit").debug("not as remembered", exc_info=True)
        finally:
            if not done and not was_in_force:
                self.undo()
        return done

    def _read(self) -> bool:
        self._folders, self.variables = _folders(), self._calls.variables()
        self._installed = of_installed() if KEPT.path else ""
        self.state = _state(self.arguments, self.variables, self._installed)
        known = KEPT.fact(CALL, self.state) if self.state else None
        if known is None:
            return False
        call = KnownCall(*known)
        self._call = call
        self._wanted = frozenset([*call.names, *call.packages])
        self._prefixes = tuple({glob.partition("*")[0] for glob in call.globs})
        return all(map(os.path.exists, call.files))

    def _carry_out(self) -> bool:
        hooks.listen(self)
        states: dict[str, str] = {}
        for name in self._among(list(sys.modules)):
            module = hooks.module_object(name)
            if module is None:
                return False
            if hooks.is_loading(module):
                hooks.notify_when_done(name, module)
            elif not self._fix(name, module, states):
                return False
        self._choose()
        self.in_force = True
        return True

    def _choose(self) -> None:
        """Set what the call chose, and switch the legacy layer on if it is wanted."""
        call = self._call
        if call is not None and call.settings:
            settings.restore(call.settings)
        if call is not None and call.legacy:
            from ..legacy.layer import LAYER, prepare

            LAYER.become(prepare(call.legacy, KEPT, state_of_table(self._installed)))
            hooks.listen(LAYER)
            hooks.catch_up(LAYER, LAYER.among(list(sys.modules)))

    def _choose_nothing(self) -> None:
        call = self._call
        if call is not None and call.settings:
            settings.restore({})
        if call is not None and call.legacy:
            from ..legacy.layer import LAYER

            hooks.ignore(LAYER)
            LAYER.become(None)

    def legacy(self) -> LegacyReport | None:
        """Return what the legacy layer did so far; None if it is off."""
        choice = None if self._call is None else self._call.legacy
        if not choice:
            return None
        from ..legacy.layer import LAYER
        from ..reporting.legacy import LegacyReport

        return LegacyReport.of(choice, LAYER.uses())

    def packages(self) -> Collection[str]:
        return self._call.packages if self._call else ()

    def wants(self, name: str) -> bool:
        return bool(self._among([name]))

    def _among(self, modules: list[str]) -> list[str]:
        """Return those of these modules that are wanted; a first call asks about thousands."""
        wanted, prefixes = self._wanted, self._prefixes
        return [
            name
            for name in modules
            if name in wanted or (name.startswith(prefixes) and self._matches(name))
        ]

    def before_import(self, package: str) -> None:
        """Make sure that nothing was installed meanwhile."""
        if (
            self.in_force
            and self._folders != _folders()
            and self.state != _state(self.arguments, self.variables, of_installed())
        ):
            self._calls.hand_over()

    def after_import(self, name: str, module: ModuleType) -> None:
        known = False
        if self.in_force and not self._calls.is_watched():
            known = self._fix(name, module, {})
        if not known:
            before = hooks.listeners()
            self._calls.hand_over()
            hooks.notify_new(before, name, module)

    def _fix(self, name: str, module: ModuleType, states: dict[str, str]) -> bool:
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
                for swap in changes:
                    self._put(swap)
            except BaseException:
                self._take_back(before)
                raise
        return True

    def _matches(self, name: str) -> bool:
        assert self._call is not None
        return any(matcher(glob)(name) for glob in self._call.globs)

    def _changes(self, module: ModuleType, known: Any, states: dict[str, str]) -> list[Swap] | None:
        """Return what to change in a module; None if anything there is not known."""
        state, changes, searches = known
        found: list[tuple[KnownChange, FunctionType, bool]] = []
        originals = []
        for change in map(KnownChange._make, changes):
            try:
                binding = bind(module, change.qualname)
                function = binding.function()
            except Drift:
                return None
            code = function.__code__
            swap = self._running.get(id(code))
            originals.append(swap.original if swap else code)
            if swap is None:
                if change.needs and not function.__globals__.keys() >= {*change.needs}:
                    return None
                is_bound = (
                    isinstance(binding.owner, type) and type(binding.value) is not staticmethod
                )
                found.append((change, function, is_bound))
        changed = set(map(id, originals))
        if digest(*originals, states=states) != state or (
            not self._finds_nothing_else(module, searches, changed, states)
        ):
            return None
        here = weakref.ref(module)
        swaps = [_swap(here, *each) for each in found]
        return None if None in swaps else swaps  # type: ignore[return-value]

    def _finds_nothing_else(
        self, module: ModuleType, searches: Any, changed: set[int], states: dict[str, str]
    ) -> bool:
        seen: dict[str, list[tuple[FunctionType, CodeType, set[str]]]] = {}
        for search in map(KnownSearch._make, searches):
            if search.qualname not in seen:
                seen[search.qualname] = list(self._others(module, search.qualname, changed))
            for function, code, names in seen[search.qualname]:
                if (
                    names.issuperset(search.names)
                    and all(name in function.__globals__ for name in search.needs)
                    and not KEPT.has_no_site(digest(code, states=states), search.kept_as)
                ):
                    return False
        return True

    def _others(
        self, module: ModuleType, qualname: str, changed: set[int]
    ) -> Iterator[tuple[FunctionType, CodeType, set[str]]]:
        """Yield the functions that are not changed, their code, and the names in it."""
        for _, function in functions_in(module, qualname):
            swap = self._running.get(id(function.__code__))
            code = swap.original if swap else function.__code__
            if id(code) not in changed:
                yield function, code, names_in(code)

    def _put(self, swap: Swap) -> None:
        self._swaps.append(swap)
        self._running[id(swap.code)] = swap
        filename = swap.code.co_filename
        if filename != swap.original.co_filename and filename not in self._texts:
            # `linecache` calls an entry of one function when somebody wants the lines.
            shown = (partial(self._text, filename),)
            self._texts[filename] = linecache.cache[filename] = shown
        swap.put()

    def _text(self, filename: str) -> str | None:
        """Return the text that runs, which the session knows."""
        self._calls.hand_over()
        entry: Any = linecache.cache.get(filename)
        if entry is None or len(entry) != 1 or entry is self._texts.get(filename):
            return None
        text: str | None = entry[0]()
        return text

    def swaps(self) -> list[Swap]:
        """Return the functions that got code from the file."""
        return list(self._swaps)

    @contextmanager
    def variables_of_the_call(self) -> Iterator[None]:
        """Let the environment say in the block what it said to the call."""
        now = self._calls.variables()
        if not self.in_force or now == self.variables:
            yield
            return
        before = self.variables
        try:
            _set_variables(now, before)
            yield
        finally:
            _set_variables(before, now)

    def undo(self) -> None:
        """Give all functions their original code back, and listen no longer."""
        with LOCK:
            self._take_back(0)
            self._choose_nothing()
            self.forget()

    def _take_back(self, number: int) -> None:
        """Give the functions but the first few their original code back."""
        for swap in self._swaps[number:]:
            swap.take_back()
            self._running.pop(id(swap.code), None)
        del self._swaps[number:]

    def reinstate(self) -> None:
        """Put the code back after the session was interrupted while it took over."""
        with LOCK:
            for swap in self._swaps:
                swap.put()
            linecache.cache.update(self._texts)
            if self.in_force:
                hooks.listen(self)
                self._choose()

    def forget(self) -> None:
        """Leave everything to the session."""
        self.in_force = False
        hooks.ignore(self)
        for filename, shown in self._texts.items():
            if linecache.cache.get(filename) is shown:
                del linecache.cache[filename]
        self._swaps, self._running, self._texts, self.frames = [], {}, {}, {}
        self._call, self._wanted, self._prefixes = None, (), ()


def _swap(
    module: Callable[[], ModuleType | None],
    change: KnownChange,
    function: FunctionType,
    is_bound: bool,
) -> Swap | None:
    """Return what is done to a function whose code is known; None if it is not kept."""
    original, place = function.__code__, weakref.ref(function)
    code = KEPT.code_under(change.edited, original) if change.edited else original
    template = KEPT.code_under(change.jump, original) if change.jump else original
    if code is None or template is None:
        return None
    if change.around:
        around = [
            Around(owner, KnownWrapper(*wrapper), qualname, is_bound)
            for owner, qualname, *wrapper in change.around
        ]
        code = trampoline(template, place, code, around)
    return Swap(module, change.qualname, is_bound, place, original, code)


def _folders() -> list[tuple[str, int]]:
    """Return when something was last put into the folders that modules are imported from."""
    found = []
    for folder in sys.path:
        try:
            found.append((folder, os.stat(folder or os.curdir).st_mtime_ns))
        except OSError:
            found.append((folder, 0))
    return found


def _set_variables(now: dict[str, str], wanted: dict[str, str]) -> None:
    for name in now.keys() - wanted.keys():
        os.environ.pop(name, None)
    os.environ.update(wanted)


def _state(arguments: str, variables: dict[str, str], installed: str) -> str:
    """Name the state of all that a call of `apply` depends on; empty if unknown."""
    folders = [shipped_path("patches")]
    paths = variables.get("PATCHKIT_PATCHES", "").split(os.pathsep)
    if arguments:
        import json

        paths += json.loads(arguments)["patches"]
    for path in filter(None, paths):
        path = os.path.realpath(os.path.expanduser(path))
        folders.append(os.path.dirname(path) if path.endswith(".py") else path)
    states = [installed, *map(of_folder, folders)] if installed else [""]
    if not all(states):
        return ""
    facts = states, folders, arguments, sorted(variables.items())
    return hashlib.blake2b(repr(facts).encode(), digest_size=16).hexdigest()
