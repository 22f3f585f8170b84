"""The state of this process: which patches are wanted, and applying and reverting them.

There is one kind of transaction. What is wanted is a value, `DesiredState`; replacing it is the one
step that decides. `_become` then brings the live functions in line with it, and can be called again
after whatever interrupted it. Every public call begins by doing so.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import logging
import sys
import weakref
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from .. import settings
from ..catalogue import entries
from ..catalogue.definitions import Definition
from ..catalogue.entries import Broken, Catalogue, Entry
from ..catalogue.folders import (
    Paths,
    definitions_in,
    resolve_paths,
    unload_on_error,
    variable_for_children,
)
from ..catalogue.resolution import resolve
from ..catalogue.selection import disabled_patches, refusals, select
from ..environment import cached_lookups
from ..errors import PatchError, PatchWarning, UnknownPatchError
from ..legacy import choice as legacy_choice
from ..legacy.choice import Choice
from ..patch import Status, Wrap
from ..reporting.legacy import LegacyReport
from ..reporting.record import PatchRecord
from ..reporting.report import Report
from ..rewrite import CodeSwaps
from . import deferred, hooks, remembering
from .armed import ArmedPatch, Attempt
from .choices import Choices
from .desired import DesiredState
from .fixing import FixedCallable
from .kept import KEPT, KeptResults, state_of_table
from .listener import ImportListener
from .lock import LOCK as _LOCK
from .recording import broken_record, left_by_revert, patch_record
from .trouble import WarningKey, Warnings, explain, trouble_in, warn
from .wrapping import ChangedPlaces, prepare

if TYPE_CHECKING:
    from ..legacy.layer import Layer, LayerChoice

logger = logging.getLogger("patchkit")


class Checkpoint(NamedTuple):
    """The state before a call, to return to if the call raises: wanted, tried, warned of."""

    state: DesiredState
    attempts: Mapping[ArmedPatch, dict[str, Attempt]]
    warned: frozenset[WarningKey]


class Session:
    """The patches of this process: which are wanted, and which are applied.

    Args:
        known: the patches; those that are installed, read when first needed, if None.
        before: called before each change and each report.
        kept: what earlier processes have kept; only the one session of a process remembers calls.
    """

    def __init__(
        self,
        known: Catalogue | None = None,
        before: Callable[[], None] = lambda: None,
        kept: KeptResults | None = None,
    ) -> None:
        self._before = before
        self._state = DesiredState(known)
        self._kept = KeptResults() if kept is None else kept
        self._places = ChangedPlaces(CodeSwaps(self._kept))
        self._unsettled = False
        self._busy = False
        self._warnings = Warnings()
        self._copies: dict[str, tuple[FixedCallable, ...]] = {}
        self._reports: weakref.WeakSet[Report] = weakref.WeakSet()
        self._layer: Layer | None = None
        self._listener = ImportListener(self.armed, self.before_import, self.after_import)

    @property
    def catalogue(self) -> Catalogue:
        if self._state.catalogue is None:
            known = entries.load()
            with _LOCK:
                if self._state.catalogue is None:
                    self._state = self._state._replace(catalogue=known)
        assert self._state.catalogue is not None
        return self._state.catalogue

    def armed(self) -> Iterable[ArmedPatch]:
        return self._state.armed.values()

    def is_armed(self, patch: ArmedPatch) -> bool:
        return self._state.armed.get(patch.id) is patch

    def is_armed_or_suspended(self, patch: ArmedPatch) -> bool:
        return self.is_armed(patch) or patch in self._state.suspended

    def apply(
        self, choices: Choices, *, at_once: bool = False, finish: Callable[[], None] = lambda: None
    ) -> Report:
        """Apply as `patchkit.apply` does; if anything raises, the call is undone.

        Args:
            choices: its arguments.
            at_once: whether to look up patches of libraries that nobody has imported yet, too;
                `strict` does.
            finish: called at the end, as a part of this call.
        """
        self._before()
        self._write_reports()
        made: list[tuple[Checkpoint, DesiredState]] = []
        try:
            return self._apply(choices, at_once, finish, made)
        except BaseException:
            with _LOCK:
                self._take_back(made)
            raise

    def _apply(
        self,
        choices: Choices,
        at_once: bool,
        finish: Callable[[], None],
        made: list[tuple[Checkpoint, DesiredState]],
    ) -> Report:
        """Apply, and note in `made` what was wanted before and after it."""
        strict, remembered = choices.strict, deferred.remembered()
        with unload_on_error():
            paths, definitions = self._read(choices.patches)
            known = self.catalogue.with_valid(definitions)
            wanted, _ = _select(known, choices, self._state.off)
            fresh = self._prepare_patches(wanted, strict or at_once)
            legacy = self._prepare_legacy(choices.legacy)
            switches = choices.switches(known.opt_ins)
            if strict:
                self._look_up(known)
            with self._transaction() as before:
                known = self.catalogue.with_valid(definitions)
                wanted, disabled = _select(known, choices, before.off)
                chosen = settings.resolve(
                    choices.keywords, choices.dtype, known.settings, known.opt_ins
                )
                armed = {
                    entry.patch.id: before.armed.get(entry.patch.id)
                    or fresh.get(entry.patch.id)
                    or ArmedPatch(entry, self)
                    for entry in wanted
                }
                after = before.after(
                    armed,
                    switches,
                    chosen,
                    catalogue=known,
                    local=paths,
                    disabled=disabled,
                    strict=strict,
                    legacy=legacy,
                )
                made.append((self._checkpoint(), after))
                is_first = before == DesiredState(before.catalogue)
                is_first &= remembered.arguments == ("" if choices.is_plain else choices.encode())
                self._become(after)
                self._places.adopt(remembered)
                gone = before.switched_off_by(switches)
                changed = armed.keys() - before.armed.keys()
                changed.update(patch.id for patch in gone if self._was_due(patch))
                changed.update(self._fix_loaded(armed.values()))
                if strict:
                    ids = list(armed)
                    report = self._report(())
                    if trouble := trouble_in(report, ids, include_broken=choices.only is None):
                        raise PatchError(explain(trouble))
                report = self._deferred_report(changed)
                if remembered.in_force:
                    self._places.end_adoption()
            if is_first and not known.broken:
                self._remember(after)
            if armed and all(patch.is_looked_up for patch in armed.values()):
                report.write()
            self._catch_up()
            self._kept.write()
            if logger.isEnabledFor(logging.INFO):
                prefix = "" if report.changed else "nothing new to do; "
                logger.info("patchkit: %s%s", prefix, report.summary())
            self._warn(_looked_up(armed.values()), known.broken)
            finish()
            return report

    def _take_back(self, made: Iterable[tuple[Checkpoint, DesiredState]]) -> None:
        for before, after in made:
            # If another thread has decided since, its call holds.
            if self._state.armed is after.armed:
                self._go_back(before)

    def _fix_loaded(self, patches: Iterable[ArmedPatch]) -> list[str]:
        """Fix what is loaded; return the ids of the patches that changed something."""
        return [
            patch.id
            for patch in patches
            if patch.is_looked_up and patch.is_due and patch.fix_loaded(self._places)
        ]

    def _remember(self, state: DesiredState) -> None:
        """Keep what a first call came to, now and again at the end of the process."""
        call = deferred.remembered().state
        if self._kept is not KEPT or not call:
            return

        def remember() -> None:
            try:
                with _LOCK:
                    if self._state is state:
                        remembering.remember(
                            list(state.armed.values()),
                            dict(state.choices),
                            state.legacy.choice if state.legacy else None,
                            KEPT,
                            call,
                        )
            except Exception:
                logger.debug("patchkit: a call cannot be remembered", exc_info=True)
            self._kept.write()

        remember()
        atexit.register(remember)

    def add(self, patches: Paths | None) -> None:
        """Add a project's own patches to the catalogue, and apply none."""
        with unload_on_error():
            paths, definitions = self._read(patches)
            with self._transaction() as before:
                new = tuple(path for path in paths if path not in before.local)
                known = self.catalogue.with_valid(definitions)
                self._state = before._replace(catalogue=known, local=(*before.local, *new))

    def _read(self, patches: Paths | None) -> tuple[list[Path], list[Definition]]:
        """Import patch files. The lock is not held: they may import what is hooked."""
        paths = [] if patches is None else resolve_paths(patches)
        return paths, self.catalogue.prefetch_new(definitions_in(paths))

    @cached_lookups()
    def _prepare_patches(self, wanted: Iterable[Entry], at_once: bool) -> dict[str, ArmedPatch]:
        """Look up, and import, what these patches need to be armed. The lock is not held.

        Unless it is needed `at_once`, nothing is done for a package that nobody has imported.
        """
        fresh: dict[str, ArmedPatch] = {}
        for entry in wanted:
            patch = self._state.armed.get(entry.patch.id)
            if patch is None:
                patch = fresh[entry.patch.id] = ArmedPatch(entry, self)
            elif patch.is_looked_up:
                patch.forget_absent_modules()
            if at_once or patch.has_imported_package:
                _prepare(patch)
        return fresh

    def _prepare_legacy(self, choice: Choice) -> LayerChoice | None:
        """Read what the legacy layer needs, if that is wanted; nothing is imported later on.

        The variable counts until a call says whether the layer is wanted.
        """
        if choice is None and self._state.says_nothing_of_legacy:
            choice = legacy_choice.from_environment()
        if not choice:
            return None
        from ..legacy.layer import LAYER, prepare

        self._layer = LAYER
        return prepare(choice, self._kept, state_of_table())

    @property
    def local_patches(self) -> str:
        """The value of `PATCHKIT_PATCHES` with which another process knows the same patches."""
        return variable_for_children(self._state.local)

    def revert(self, only: settings.Selection) -> Report:
        self._before()
        self._write_reports()
        chosen = None if only is None else self.catalogue.matching_ids(only, "only=")
        with _LOCK:
            self._settle()
            before = self._state
            gone = _chosen(before.armed, chosen)
            due = [patch.id for patch in filter(self._was_due, gone.values())]
            after = before._replace(
                armed=_without(before.armed, gone),
                strict=before.strict.difference(gone),
                disabled={} if chosen is None else before.disabled,
                choices={} if chosen is None else before.choices,
                legacy=None if chosen is None else before.legacy,
                off=frozenset() if chosen is None else before.off,
            )
            copies = {name: patch.copies() for name, patch in gone.items()}
            self._copies.update((name, made) for name, made in copies.items() if made)
            self._go_forward(after)
            self._warnings.forget(gone)
            report = self._deferred_report(due)
        for name, made in copies.items():
            for sentence in left_by_revert(made):
                warn(f"patch {name}: {sentence}")
        if logger.isEnabledFor(logging.INFO):
            logger.info("patchkit: reverted %s", ", ".join(due) or "nothing")
        return report

    @staticmethod
    def _was_due(patch: ArmedPatch) -> bool:
        return not patch.is_looked_up or patch.is_due

    @contextlib.contextmanager
    def patched(self, choices: Choices, *, others: bool = True) -> Iterator[Report]:
        """Apply for the length of a block, as `patchkit.patched` does."""
        settings.check_flag("others", others)
        self._before()
        self._write_reports()
        with _LOCK:
            self._settle()
            before = self._state
        try:
            with self._block(before, others):
                yield self.apply(choices)
        finally:
            self._catch_up()
            self._warn(_looked_up(self.armed()))

    @contextlib.contextmanager
    def _block(self, before: DesiredState, others: bool) -> Iterator[None]:
        """Restore what was wanted before, however the block ends."""
        try:
            try:
                if not others:
                    with self._transaction():
                        suspended = (*before.suspended, *before.armed.values())
                        self._become(
                            DesiredState(
                                before.catalogue,
                                before.local,
                                disabled=before.disabled,
                                suspended=suspended,
                            )
                        )
                yield
            finally:
                self._restore(before)
        except BaseException:
            self._restore(before)  # finishes a restoration that was interrupted
            raise

    def _restore(self, before: DesiredState) -> None:
        """Restore what was wanted before a block; patches that were read in it stay known."""
        for patch in before.armed.values():
            if patch.is_looked_up:
                _prepare(patch)
        with _LOCK:
            state = self._state
            after = before._replace(catalogue=state.catalogue, local=state.local)
            self._become(after, complete=True)
            with self._transaction():
                self._fix_loaded(after.armed.values())

    def applied(self) -> frozenset[str]:
        """Return the ids of the patches that the live targets carry now."""
        self._before()
        with _LOCK:
            self._settle()
            return frozenset(
                patch.id
                for patch in self.armed()
                if patch.is_looked_up
                and any(outcome.status is Status.APPLIED for _, _, outcome in patch.observe())
            )

    def report(self) -> Report:
        """Return the present state of all patches."""
        self._before()
        known = self.catalogue
        with cached_lookups():
            self._look_up(known)
            self._catch_up()
            with _LOCK:
                self._settle()
                report = self._report((), known)
            return _within_measurements(report)

    def _look_up(self, known: Catalogue) -> None:
        """Look up all that a report of these patches needs, while the lock is not held."""
        for entry in known:
            patch = self._state.armed.get(entry.patch.id)
            with contextlib.suppress(ValueError):  # its record tells
                patch.look_up() if patch else resolve(entry.patch)
        self._listener.refresh()

    def _report(self, changed: Iterable[str], known: Catalogue | None = None) -> Report:
        known = known or self.catalogue
        with cached_lookups():
            left_out: dict[str, str] = {}
            with contextlib.suppress(UnknownPatchError):  # `apply` refuses it
                left_out.update(disabled_patches(known))
            left_out.update(self._state.disabled)
            refused = refusals(known)
            records = [
                patch_record(
                    entry,
                    self._state.armed.get(entry.patch.id),
                    left_out.get(entry.patch.id),
                    next(iter(refused), ""),
                    self._copies.get(entry.patch.id, ()),
                )
                for entry in known
            ]
            records += [broken_record(broken) for broken in known.broken]
        return Report(records, tuple(changed), self.legacy(), refused)

    def legacy(self) -> LegacyReport | None:
        """Return what the legacy layer did so far; None if it is off."""
        wanted = self._state.legacy
        if wanted is None or self._layer is None:
            return None
        return LegacyReport.of(wanted.choice, self._layer.uses())

    def _deferred_report(self, changed: Iterable[str]) -> Report:
        """Make a report of this moment that is written when somebody reads it.

        It is written at the latest before the patches change again.
        """

        def write() -> tuple[list[PatchRecord], tuple[str, ...]]:
            with cached_lookups():
                self._look_up(self.catalogue)
                with _LOCK:
                    written = self._report(self._due_ids(changed))
                written = _within_measurements(written)
            return list(written), written.changed

        report = Report.later(write)
        report.legacy = self.legacy()
        self._reports.add(report)
        return report

    def _due_ids(self, names: Iterable[str]) -> list[str]:
        """Return those of these patches that are due, in the order of the catalogue."""
        names, armed = set(names), self._state.armed
        ordered = [entry.patch.id for entry in self.catalogue if entry.patch.id in names]
        return [name for name in ordered if name not in armed or armed[name].is_due]

    def _write_reports(self) -> None:
        """Write the reports that wait for a reader, before what they report changes."""
        with _LOCK:
            waiting = list(self._reports)
        for report in waiting:
            report.write()
            with _LOCK:
                self._reports.discard(report)

    def before_import(self, package: str) -> None:
        """Prepare for a package that is about to be executed; called by the import machinery."""
        try:
            self._write_reports()
            concerned = [patch for patch in list(self.armed()) if package in patch.packages]
            with cached_lookups():
                for patch in concerned:
                    _prepare(patch)
            self._listener.refresh()
        except Exception:
            logger.exception("patchkit: an error while preparing for %s", package)
            return
        self._raise_or_warn(concerned)

    def after_import(self, name: str, module: ModuleType) -> None:
        """Fix what waits for this module; called by the import machinery."""
        concerned: list[ArmedPatch] = []
        try:
            concerned += [
                patch
                for patch in list(self.armed())
                if patch.is_looked_up and patch.is_due and patch.targets_in(name)
            ]
            self._write_reports()
            with self._transaction():
                for patch in filter(self.is_armed, concerned):
                    patch.fix_module(name, module, self._places)
                self._kept.forget_digests()
        except Exception as error:
            # Never the user's import: what went wrong is in the log with its traceback.
            logger.exception("patchkit: an error while fixing %s", name)
            with self._transaction():
                for patch in self._untried(concerned, name):
                    patch.give_up(name, module, error)
        # A record looks at all targets of a patch: hundreds, at each of hundreds of imports.
        self._raise_or_warn([patch for patch in concerned if not patch.is_well_in(name)])

    def _untried(self, patches: Iterable[ArmedPatch], module: str) -> list[ArmedPatch]:
        return [
            patch for patch in filter(self.is_armed, patches) if patch.attempt_in(module) is None
        ]

    def _raise_or_warn(self, concerned: list[ArmedPatch]) -> None:
        """Raise trouble with strict patches into the import; warn of other trouble."""
        strict = [patch.id for patch in concerned if patch.id in self._state.strict]
        if strict:
            with _LOCK:
                records = Report(patch_record(patch.entry, patch, None) for patch in concerned)
            if trouble := trouble_in(records, strict):
                self.revert([record.id for record in trouble])
                raise PatchError(explain(trouble))
        try:
            self._warn(concerned)
        except PatchWarning as warning:
            # A filter turns warnings into errors, but the user's import must not fail.
            logger.warning("%s", warning)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[DesiredState]:
        """Hold the lock; if the block raises, restore what was wanted before."""
        # Two functions: CPython runs no handler for what a tracer raises at a `try:` line, so that
        # the lock would stay held.
        with _LOCK, self._rollback() as before:
            yield before

    @contextlib.contextmanager
    def _rollback(self) -> Iterator[DesiredState]:
        self._settle()
        before, outer, collecting = self._checkpoint(), self._busy, gc.isenabled()

        def end() -> None:
            self._busy = outer
            self._places.end_transaction()
            if collecting:
                gc.enable()

        try:
            try:
                # Each collection that thousands of syntax nodes set off walks the whole heap,
                # which holds torch and all the libraries by now.
                gc.disable()
                self._busy = True
                with cached_lookups():
                    yield before.state
            except BaseException:
                self._go_back(before)
                raise
            finally:
                end()
        finally:
            end()  # if an interrupt skipped the first one

    def _checkpoint(self) -> Checkpoint:
        attempts = {patch: dict(patch.attempts) for patch in self.armed()}
        return Checkpoint(self._state, attempts, self._warnings.given)

    def _go_back(self, before: Checkpoint) -> None:
        """Want what was wanted before, and undo what was tried since; the lock is held."""
        for patch, attempts in before.attempts.items():
            patch.go_back_to(attempts)
        self._warnings.given = before.warned
        self._become(before.state)

    def _go_forward(self, state: DesiredState) -> None:
        """Make this the desired state, and finish even if interrupted once."""
        try:
            self._become(state)
        except BaseException:
            self._become(state)
            raise

    def _settle(self) -> None:
        """Finish a change that was interrupted; the lock is held."""
        if self._busy:
            return  # called from within a transaction of this thread, by the handler of a signal
        if self._unsettled:
            self._become(self._state)
        else:
            self._places.settle()

    def _become(self, state: DesiredState, *, complete: bool = False) -> None:
        """Make this the desired state, and bring the live functions in line with it."""
        self._unsettled = True
        self._state = state
        settings.restore(state.choices)
        self._listener.refresh()
        if state.armed or state.suspended:
            hooks.listen(self._listener)
        else:
            hooks.ignore(self._listener)
        if self._layer is not None:
            self._layer.become(state.legacy)
            if state.legacy is None:
                hooks.ignore(self._layer)
            else:
                hooks.listen(self._layer)
                hooks.catch_up(self._layer, self._layer.among(list(sys.modules)))
        self._places.settle(complete=complete)
        self._unsettled = False

    def _catch_up(self) -> None:
        """Fix modules whose import began before the session listened to imports."""
        for patch in list(self.armed()):
            if not patch.is_looked_up and patch.has_imported_package:
                _prepare(patch)
                self._listener.refresh()
        for patch, name in self._present():
            module = hooks.module_object(name)
            if module is None or patch.attempt_in(name) is not None:
                continue
            if hooks.is_loading(module):
                hooks.notify_when_done(name, module)
            else:
                self.after_import(name, module)

    @cached_lookups()
    def _present(self) -> list[tuple[ArmedPatch, str]]:
        """Return the due patches, each with the modules that are imported."""
        return [
            (patch, name)
            for patch in _looked_up(self.armed())
            if patch.is_due
            for name in patch.present_modules()
        ]

    def _warn(self, patches: Iterable[ArmedPatch], broken: Iterable[Broken] = ()) -> None:
        """Warn of trouble with patches, once for each kind of it. The lock is not held."""
        with _LOCK:
            records = [
                patch_record(patch.entry, patch, None, copies=self._copies.get(patch.id, ()))
                for patch in patches
            ]
        self._warnings.give([*records, *map(broken_record, broken)])


def _within_measurements(report: Report) -> Report:
    """Return the report, claiming no more than was measured; no lock is held."""
    records = (record.within_measurements() for record in report)
    return Report(records, report.changed, report.legacy, report.refusals)


def _select(
    known: Catalogue, choices: Choices, off: frozenset[str]
) -> tuple[list[Entry], dict[str, str]]:
    """Return the patches that were chosen, and why the others were not."""
    return select(known, choices.only, choices.exclude, choices.switches(known.opt_ins), off)


def _looked_up(patches: Iterable[ArmedPatch]) -> list[ArmedPatch]:
    return [patch for patch in list(patches) if patch.is_looked_up]


def _chosen(
    armed: Mapping[str, ArmedPatch], chosen: Container[str] | None
) -> dict[str, ArmedPatch]:
    return {name: patch for name, patch in armed.items() if chosen is None or name in chosen}


def _without(armed: Mapping[str, ArmedPatch], gone: Container[str]) -> dict[str, ArmedPatch]:
    return {name: patch for name, patch in armed.items() if name not in gone}


def _prepare(patch: ArmedPatch) -> None:
    """Look up and import what a patch needs to be applied; no lock is held."""
    patch.look_up()
    if patch.is_due:
        for target in patch.targets:
            if isinstance(target.change, Wrap):
                prepare(target.change)


SESSION = Session(before=deferred.carry_out, kept=KEPT)
"""The one session of this process."""
