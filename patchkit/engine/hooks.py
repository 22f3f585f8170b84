"""Notify listeners before a module is executed, and after.

One finder stands in front of `sys.meta_path` while somebody listens, and is gone when nobody does.
It asks the other finders, and wraps the loader that they return while the module is executed. It
keeps watching a module after its first import, since a module can leave `sys.modules` and be
imported again.
"""

from __future__ import annotations

import sys
from _thread import _local

from ..errors import PatchError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any, Protocol

    class Listener(Protocol):
        """An object that waits for modules."""

        def packages(self) -> Collection[str]:
            """Return the top-level names of the packages of interest."""

        def wants(self, name: str) -> bool:
            """Tell whether `after_import` is to be called for this module."""

        def before_import(self, package: str) -> None:
            """Prepare for a package of interest, which is about to be executed."""

        def after_import(self, name: str, module: ModuleType) -> None:
            """Take a module that was wanted and has been executed."""

else:
    # The modules that have these names bring others, and this is imported in each interpreter.
    ModuleSpec, ModuleType = type(sys.__spec__), type(sys)


_listeners: tuple[Listener, ...] = ()


def listen(listener: Listener) -> None:
    """Notify a listener of imports from now on; once, however often this is called."""
    global _listeners
    if not any(known is listener for known in _listeners):
        _listeners = (*_listeners, listener)
    if not any(finder is FINDER for finder in sys.meta_path):
        sys.meta_path.insert(0, FINDER)


def ignore(listener: Listener) -> None:
    """Stop notifying a listener."""
    global _listeners
    _listeners = tuple(known for known in _listeners if known is not listener)
    if not _listeners and any(finder is FINDER for finder in sys.meta_path):
        # Another list, since an import may be walking this one: it would skip a finder.
        sys.meta_path = [finder for finder in sys.meta_path if finder is not FINDER]


def listeners() -> tuple[Listener, ...]:
    """Return who is notified now."""
    return _listeners


def notify_new(before: Collection[Listener], name: str, module: ModuleType) -> None:
    """Notify of a module those who came while the others were notified of it."""
    for listener in _listeners:
        if not any(listener is known for known in before):
            _notify(listener, name, module)


class _SingleModuleListener:
    """A listener that wants a single module, once."""

    def __init__(self, name: str, callback: Callable[[ModuleType], None]) -> None:
        self._name = name
        self._callback = callback

    def is_for(self, name: str, callback: Callable[[ModuleType], None]) -> bool:
        return (name, callback) == (self._name, self._callback)

    def packages(self) -> Collection[str]:
        return (self._name.partition(".")[0],)

    def wants(self, name: str) -> bool:
        return name == self._name

    def before_import(self, package: str) -> None:
        """Do nothing: there is nothing to prepare."""

    def after_import(self, name: str, module: ModuleType) -> None:
        ignore(self)
        self._callback(module)


def when_loaded(name: str, callback: Callable[[ModuleType], None]) -> None:
    """Call `callback` once the module has been executed; now if it has been already.

    To ask again before that changes nothing: it is called once.
    """
    module = module_object(name)
    if module is not None and not is_loading(module):
        callback(module)
        return
    if any(
        isinstance(known, _SingleModuleListener) and known.is_for(name, callback)
        for known in _listeners
    ):
        return
    listen(_SingleModuleListener(name, callback))
    if module is not None:
        notify_when_done(name, module)


def module_object(name: str) -> ModuleType | None:
    """Return what `sys.modules` has under a name, if it is a module and no stand-in for one."""
    module = sys.modules.get(name)
    # Not isinstance: a mock with a specification says what it likes about its class.
    return module if issubclass(type(module), ModuleType) else None


def is_loading(module: ModuleType) -> bool:
    """Tell whether a module is being executed, or waits for its first use to be."""
    cls = type(module)
    if cls.__module__ == "importlib.util" and cls.__name__ == "_LazyModule":
        return True  # it would be executed by a look at its attributes
    spec = object.__getattribute__(module, "__dict__").get("__spec__")
    return bool(getattr(spec, "_initializing", False)) if isinstance(spec, ModuleSpec) else False


def catch_up(listener: Listener, names: Iterable[str]) -> None:
    """Notify a listener of the modules that it wants and that were imported before it listened."""
    for name in names:
        if (module := module_object(name)) is not None:
            if is_loading(module):
                notify_when_done(name, module)
            else:
                listener.after_import(name, module)


def notify_when_done(name: str, module: ModuleType) -> None:
    """Notify the listeners of a module whose execution began before anybody listened.

    The import system marks its end in the module's spec, and nowhere else.
    """
    spec = object.__getattribute__(module, "__dict__").get("__spec__")
    if type(spec) is ModuleSpec and spec.name == name:
        spec.__class__ = _WatchedSpec
        if not getattr(spec, "_initializing", False):
            # It ended meanwhile, in another thread.
            spec._initializing = False  # type: ignore[attr-defined]


class _WatchedSpec(ModuleSpec):
    """The spec of a module that is being executed."""

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if name == "_initializing" and not value and type(self) is _WatchedSpec:
            self.__class__ = ModuleSpec  # type: ignore[assignment]
            module = module_object(self.name)
            if module is not None and getattr(module, "__spec__", None) is self:
                _notify_after(self.name, module)


def _notify_after(name: str, executed: ModuleType) -> None:
    """Notify the listeners of a module, which may have put another one in its place."""
    try:
        module = sys.modules.get(name, executed)
        for listener in _listeners:
            _notify(listener, name, module)
    except PatchError:
        raise  # a strict patch stops the import
    except Exception:
        _log(name)


def _notify(listener: Listener, name: str, module: ModuleType) -> None:
    try:
        if listener.wants(name):
            listener.after_import(name, module)
    except PatchError:
        raise
    except Exception:
        _log(name)


def _notify_before(package: str) -> None:
    for listener in _listeners:
        try:
            if package in listener.packages():
                listener.before_import(package)
        except PatchError:
            raise
        except Exception:
            _log(package)


def _log(name: str) -> None:
    """Log an error of patchkit; it must not reach the code that imports the module."""
    import logging

    logging.getLogger("patchkit").exception("patchkit: an error at the import of %s", name)


class _HookFinder:
    """A finder of the modules of interest, which asks the finders behind it."""

    def __init__(self) -> None:
        self._asking = _local()

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        try:
            return self._find_spec(name, path, target)
        except Exception:
            # An error of another finder comes once more, as the import system asks it next.
            return None

    def _find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None
    ) -> ModuleSpec | None:
        if not any(_is_of_interest(listener, name) for listener in _listeners):
            return None
        # A finder of another tool that does as this one does asks all finders again.
        asking: set[str] = self._asking.__dict__.setdefault("names", set())
        if name in asking:
            return None
        asking.add(name)
        try:
            spec = _ask_others(name, path, target)
        finally:
            asking.discard(name)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _NotifyingLoader(spec.loader, name)  # type: ignore[assignment]
        return spec


def _is_of_interest(listener: Listener, name: str) -> bool:
    package, _, below = name.partition(".")
    try:
        return package in listener.packages() and (not below or listener.wants(name))
    except Exception:
        return True  # it is asked again when the module is there


def _ask_others(
    name: str, path: Sequence[str] | None, target: ModuleType | None
) -> ModuleSpec | None:
    for finder in sys.meta_path:
        find = None if finder is FINDER else getattr(finder, "find_spec", None)
        spec: ModuleSpec | None = find(name, path, target) if find else None
        if spec is not None:
            return spec
    return None


class _NotifyingLoader:
    """A loader that notifies the listeners; all else is that of the loader inside."""

    def __init__(self, loader: Any, name: str) -> None:
        self._loader = loader
        self._name = name
        self.create_module = getattr(loader, "create_module", _no_module)

    def __getattr__(self, name: str) -> Any:
        if name == "_loader":
            raise AttributeError(name)
        return getattr(self._loader, name)

    def exec_module(self, module: ModuleType) -> None:
        try:
            self._restore_loader(module)
            if "." not in self._name:
                _notify_before(self._name)
        except PatchError:
            raise
        except Exception:
            self._restore_loader(module)
            _log(self._name)
        self._loader.exec_module(module)
        _notify_after(self._name, module)

    def _restore_loader(self, module: ModuleType) -> None:
        """Give a module back the loader that it would have had."""
        spec = module.__dict__.get("__spec__")
        loader: object = spec.loader if spec is not None else None
        if spec is not None and loader is self:
            spec.loader = self._loader
        if module.__dict__.get("__loader__") is self:
            module.__loader__ = self._loader


def _no_module(spec: ModuleSpec) -> None:
    """Leave it to the import system to make a module, as a loader without this method does."""


FINDER = _HookFinder()
