"""Calls of `apply` that wait until one of the libraries is imported, or longer.

Most interpreters that a training starts import none of them: tokenizers' workers, launchers,
compilers. Until one does, neither the patches are read nor anything that reads them, and only a
finder waits. Where an earlier process kept what a plain call comes to, that is done then, and the
session is still not needed. A request for a report, or any other call, carries them out first.
"""

from __future__ import annotations

import os
import sys
import weakref
from _thread import RLock
from contextlib import nullcontext

from ..about import shipped_path
from . import hooks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from types import ModuleType

    from ..reporting.record import PatchRecord
    from ..reporting.report import Report
    from .remembered import Remembered

_GROUP = "patchkit.patches"
"""The entry points of other distributions; `definitions` reads them."""
_PATCHES = "PATCHKIT_PATCHES"
_TABLE = os.path.join("legacy", "rows", "names")
_SILENT = ("PATCHKIT_RUN", "PATCHKIT_EXPLAIN", "PATCHKIT_CACHE")
"""Variables that say nothing about patches."""


class DeferredCall:
    """A call of `apply` that waits.

    Args:
        carry_out: carries it out.
        arguments: its arguments as text, empty for a plain call; None if nobody is to know from an
            earlier process what it comes to.
    """

    def __init__(self, carry_out: Callable[[], Report], arguments: str | None = None) -> None:
        self._carry_out = carry_out
        self.arguments = arguments
        self.report: Report | None = None
        self.error: Exception | None = None
        self.given: weakref.ref[Report] | None = None
        """The report that the caller got, which is written before anything changes."""

    def wait_for(self, packages: Collection[str] | None) -> bool:
        """Wait until one of these packages is imported.

        Args:
            packages: None if the call must do its work now: it waits if it is known what to do.

        Returns:
            whether it waits.
        """
        global _calls
        _calls = (*_calls, self)
        if packages is not None:
            _FIRST.add(packages)
            hooks.listen(_FIRST)
            return True
        if start_remembered():
            return True
        self.withdraw()
        return False

    def withdraw(self) -> None:
        """Wait no longer."""
        global _calls
        _calls = tuple(call for call in _calls if call is not self)
        if not _calls:
            hooks.ignore(_FIRST)
            if _remembered is not None:
                _remembered.undo()

    def give_report(self, report: Report) -> Report:
        """Remember the report that the caller gets, and return it."""
        if _remembered is not None and _remembered.in_force:
            report.legacy = _remembered.legacy()
        self.given = weakref.ref(report)
        return report

    def is_watched(self) -> bool:
        """Tell whether the caller has a report that is not written yet."""
        report = None if self.given is None else self.given()
        return report is not None and not report.is_written

    def carry_out(self) -> None:
        try:
            if self.report is None:
                known = _remembered
                with nullcontext() if known is None else known.variables_of_the_call():
                    self.report = self._carry_out()
        except Exception as error:
            self.error = error
            raise

    def read_report(self) -> tuple[list[PatchRecord], tuple[str, ...]]:
        """Return what the report says, once the call is carried out."""
        if self.error is None and self.report is None:
            carry_out()
        if self.report is None:
            raise self.error or RuntimeError("a report was read while it was made")
        return list(self.report), self.report.changed


_calls: tuple[DeferredCall, ...] = ()
_carrying_out = False
_turn = RLock()
_LONGEST_WAIT = 10.0
"""Seconds to wait for another thread, which may itself wait for an import of this one."""


def _begin_in_fork() -> None:
    """Forget a thread that carries out calls, and is not in this fork."""
    global _turn, _carrying_out
    if not _turn.acquire(blocking=False):
        _turn, _carrying_out = RLock(), False
    else:
        _turn.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_in_fork)


class _FirstImport:
    """Waits for the first of the libraries."""

    def __init__(self) -> None:
        self._packages: frozenset[str] = frozenset()

    def add(self, packages: Collection[str]) -> None:
        self._packages |= frozenset(packages)

    def packages(self) -> Collection[str]:
        return self._packages

    def wants(self, name: str) -> bool:
        return False

    def before_import(self, package: str) -> None:
        try:
            if start_remembered():
                hooks.ignore(self)
            else:
                carry_out()
        except Exception:
            # Never the user's import.
            import logging

            logging.getLogger("patchkit").exception("patchkit: an error while applying")

    def after_import(self, name: str, module: ModuleType) -> None:
        """Do nothing: no module is wanted."""


_FIRST = _FirstImport()


def until_first_import(packages: Collection[str], carry_out: Callable[[], Report]) -> DeferredCall:
    """Carry out a call of `apply` as soon as one of these packages is imported."""
    call = DeferredCall(carry_out)
    call.wait_for(packages)
    return call


def carry_out() -> None:
    """Carry out the calls that wait, in their order, or wait until another thread has.

    One that raises is not made again; one that is interrupted is.
    """
    if not _calls:
        return
    turn = _turn
    has_turn = turn.acquire(timeout=_LONGEST_WAIT)
    try:
        _carry_out_in_turn()
    finally:
        if has_turn:
            turn.release()


def _carry_out_in_turn() -> None:
    global _carrying_out
    if _carrying_out:
        return
    try:
        try:
            _carrying_out = True
            _carry_out_all()
        finally:
            _carrying_out = False
            _end_remembered()
    finally:
        _carrying_out = False  # if an interrupt skipped the first one
    hooks.ignore(_FIRST)


class _Calls:
    """Answers what is asked while the calls are carried out as an earlier process did."""

    def variables(self) -> dict[str, str]:
        return variables()

    def is_watched(self) -> bool:
        return any(call.is_watched() for call in _calls)

    def hand_over(self) -> None:
        carry_out()


_remembered: Remembered | None = None


def remembered() -> Remembered:
    """Return what is known from earlier processes of a plain call."""
    global _remembered
    if _remembered is None:
        from .remembered import Remembered

        _remembered = Remembered(_Calls())
    return _remembered


def start_remembered() -> bool:
    """Carry out the waiting calls as an earlier process did; tell whether that is known."""
    arguments, *others = {call.arguments for call in _calls}
    if "patchkit.engine.session" in sys.modules or others or arguments is None:
        return False
    return remembered().start(arguments)


def _end_remembered() -> None:
    """Leave nothing in force that no waiting call stands for."""
    if _remembered is not None and _remembered.in_force:
        _remembered.reinstate() if _calls else _remembered.undo()


def _carry_out_all() -> None:
    global _calls
    while _calls:
        call = _calls[0]
        try:
            call.carry_out()
        except Exception:
            _calls = _calls[1:]
            raise
        _calls = _calls[1:]
        if _remembered is not None and _remembered.in_force:
            _remembered.forget()


def is_environment_silent() -> bool:
    """Tell whether no variable says anything about patches, and so none can be wrong."""
    return not variables()


def variables() -> dict[str, str]:
    """Return the variables that say something about patches."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith("PATCHKIT_") and name not in _SILENT
    }


def packages_to_wait_for(legacy: bool = False) -> frozenset[str] | None:
    """Return the packages that the known patches fix, without reading any patch.

    The folders of the catalogue are named after them, and the files of the legacy table after the
    packages that it concerns.

    Args:
        legacy: whether the legacy layer may be wanted.

    Returns:
        None where it takes reading: there are patches in other distributions or in a folder of the
        user's, or one of the packages is imported already.
    """
    if os.environ.get(_PATCHES):
        return None
    folder = shipped_path("patches")
    if not os.path.isfile(os.path.join(folder, "__init__.py")):
        return None
    with os.scandir(folder) as entries:
        packages = frozenset(
            entry.name
            for entry in entries
            if not entry.name.startswith(("_", ".")) and entry.is_dir()
        )
    if legacy:
        files = os.listdir(shipped_path(_TABLE))
        packages |= {file[:-5] for file in files if file.endswith(".toml")}
    if any(name in sys.modules for name in packages) or _has_foreign_patches():
        return None
    return packages


def _has_foreign_patches() -> bool:
    """Tell whether a distribution that is installed may bring patches.

    `importlib.metadata` says it for sure, and takes longer to import than all the rest.
    """
    for folder in sys.path:
        try:
            with os.scandir(folder or ".") as entries:
                names = [entry.name for entry in entries]
        except NotADirectoryError:
            return True  # a zip file, which may hold anything
        except OSError:
            continue
        for name in names:
            if name.endswith((".dist-info", ".egg-info")) and _has_group(
                os.path.join(folder, name, "entry_points.txt")
            ):
                return True
    return False


def _has_group(file: str) -> bool:
    try:
        with open(file, "rb") as stream:
            return _GROUP.encode() in stream.read()
    except OSError:
        return False
