"""The state of this process: which patches are armed, and applying and reverting them."""

from __future__ import annotations

import contextlib
import gc
import logging
import threading
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType

from . import catalogue, hooks, settings
from .advice import TROUBLE
from .armed import ArmedPatch
from .catalogue import Catalogue, Entry
from .definitions import Definition
from .environment import looked_up_once
from .errors import PatchError, PatchWarning, UnknownPatchError, UsageError
from .local_patches import Paths, checked, for_other_processes, forgotten_on_error
from .mending import Mended
from .patch import Status
from .reporting import Report, broken_record, record
from .resolution import resolve
from .rewrite import CodeSwaps
from .selection import Selection, select, switched_off
from .trouble import explain, line_of_the_user, sentence, trouble_in

logger = logging.getLogger("patchkit")


class Session:
    """All that patchkit knows about this process.

    One lock guards the state. While it is held nothing is imported from a patched library: a
    thread that imports such a module holds that module's import lock and then asks for ours.

    Args:
        known: the patches; those that are installed, read when first needed, if None.
    """

    def __init__(self, known: Catalogue | None = None) -> None:
        self._lock = threading.RLock()
        self._catalogue = known
        self._local: list[Path] = []
        self._armed: dict[str, ArmedPatch] = {}
        self._disabled: dict[str, str] = {}
        self._swaps = CodeSwaps()
        self._warned: set[tuple[str, str, str]] = set()

    @property
    def catalogue(self) -> Catalogue:
        with self._lock:
            if self._catalogue is None:
                self._catalogue = catalogue.load()
            return self._catalogue

    def apply(
        self,
        only: Selection,
        exclude: Selection,
        *,
        strict: bool,
        dtype: object,
        chosen: Mapping[str, object],
        preflight: bool = False,
        patches: Paths | None = None,
    ) -> Report:
        if not isinstance(strict, bool):
            raise UsageError(f"strict= must be True or False, not {strict!r}")
        if not isinstance(preflight, bool):
            raise UsageError(f"preflight= must be True or False, not {preflight!r}")
        with forgotten_on_error():
            paths, definitions = self._read(patches)
            with self._lock, looked_up_once():
                before = self.catalogue, self._local, self._disabled, settings.snapshot()
                fresh: list[ArmedPatch] = []
                try:
                    self._add(paths, definitions)
                    asked = ("preflight",) if preflight else ()
                    wanted, disabled = select(self.catalogue, only, exclude, asked)
                    settings.choose(settings.resolve(chosen, dtype, self.catalogue.settings))
                    self._disabled = disabled
                    changed = self._arm(wanted, strict, fresh)
                    report = self.report(changed)
                    ids = [entry.patch.id for entry in wanted]
                    if strict and (trouble := trouble_in(report, ids, everything=only is None)):
                        raise PatchError(explain(trouble))
                except BaseException:
                    for patch in reversed(fresh):
                        self._armed.pop(patch.id).undo()
                    self._catalogue, self._local, self._disabled, choices = before
                    settings.restore(choices)
                    raise
        self._wait_for_imports()
        if changed:
            logger.info("patchkit: %s", report.summary())
        else:
            logger.info("patchkit: nothing new to do; %s", report.summary())
        self._warn(report)
        return report

    def add(self, patches: Paths | None) -> None:
        """Add a project's own patches to the catalogue, and apply none.

        Args:
            patches: as for `apply`.
        """
        with forgotten_on_error():
            paths, definitions = self._read(patches)
            with self._lock:
                self._add(paths, definitions)

    def _read(self, patches: Paths | None) -> tuple[list[Path], list[Definition]]:
        """Import patch files. The lock is not held: they may import what is hooked."""
        paths = [] if patches is None else checked(patches)
        return paths, self.catalogue.imported(catalogue.in_places(paths))

    def _add(self, paths: list[Path], definitions: list[Definition]) -> None:
        self._catalogue = self.catalogue.with_these(definitions)
        self._local = [*self._local, *(one for one in paths if one not in self._local)]

    @property
    def local_patches(self) -> str:
        """The value of `PATCHKIT_PATCHES` with which another process knows the same patches."""
        return for_other_processes(self._local)

    def revert(self, only: Selection) -> Report:
        with self._lock:
            chosen = set(self._armed) if only is None else self.catalogue.named(only, "only=")
            changed = []
            for patch_id in [i for i in self._armed if i in chosen]:
                self._armed.pop(patch_id).undo()
                changed.append(patch_id)
            if only is None:
                settings.restore({})
                self._disabled = {}
            self._warned = {one for one in self._warned if one[0] not in changed}
            report = self.report(tuple(changed))
        logger.info("patchkit: reverted %s", ", ".join(changed) or "nothing")
        return report

    @contextlib.contextmanager
    def patched(
        self,
        only: Selection,
        exclude: Selection,
        *,
        strict: bool,
        dtype: object,
        chosen: Mapping[str, object],
        preflight: bool = False,
        patches: Paths | None = None,
        others: bool = True,
    ) -> Iterator[Report]:
        if not isinstance(others, bool):
            raise UsageError(f"others= must be True or False, not {others!r}")
        with self._lock, without_garbage_collection():
            strictness = {patch: patch.strict for patch in self._armed.values()}
            choices, disabled = settings.snapshot(), self._disabled
            laid_aside: dict[ArmedPatch, list[Mended]] = {}
            if not others:
                laid_aside = {one: one.lay_aside() for one in self._armed.values()}
                self._armed = {}
                settings.restore({})
        try:
            yield self.apply(
                only,
                exclude,
                strict=strict,
                dtype=dtype,
                chosen=chosen,
                preflight=preflight,
                patches=patches,
            )
        finally:
            with self._lock, without_garbage_collection():
                for patch_id in [i for i, one in self._armed.items() if one not in strictness]:
                    self._armed.pop(patch_id).undo()
                for patch, was_strict in strictness.items():
                    patch.strict = was_strict
                settings.restore(choices)
                self._disabled = disabled
                for patch, mended in laid_aside.items():
                    self._armed[patch.id] = patch
                    patch.take_up(mended, self._swaps)
            if laid_aside:
                self._wait_for_imports()
                self._warn(self.report())

    def applied(self) -> frozenset[str]:
        """The ids of the patches that the live targets carry now."""
        with self._lock:
            return frozenset(
                patch_id
                for patch_id, patch in self._armed.items()
                if any(one.status_now() is Status.APPLIED for one in patch.targets)
            )

    def report(self, changed: tuple[str, ...] = ()) -> Report:
        with self._lock, looked_up_once():
            left_out = {**self._switched_off(), **self._disabled}
            records = [
                record(entry, self._armed.get(entry.patch.id), left_out.get(entry.patch.id))
                for entry in self.catalogue
            ]
            records += [broken_record(broken) for broken in self.catalogue.broken]
        return Report(records, changed)

    def module_loaded(self, module: ModuleType) -> None:
        """Mend what waits for this module; called by the import machinery."""
        try:
            with self._lock, without_garbage_collection():
                concerned = [
                    patch
                    for patch in self._armed.values()
                    if module.__name__ in patch.waiting_for()
                ]
                for patch in concerned:
                    patch.mend_module(module, self._swaps)
                records = [record(patch.entry, patch, None) for patch in concerned]
                strict = [patch.id for patch in concerned if patch.strict]
                trouble = trouble_in(Report(records), strict)
                for patch in concerned:
                    if trouble and patch.strict:
                        self._armed.pop(patch.id).undo()
        except Exception:
            # Never the user's import: what went wrong is in the log with its traceback.
            logger.exception("patchkit: an error while mending %s", module.__name__)
            return
        if trouble:
            raise PatchError(explain(trouble))
        self._warn(Report(records))

    def _arm(self, wanted: list[Entry], strict: bool, fresh: list[ArmedPatch]) -> tuple[str, ...]:
        """Arm what is due; what was not armed before is added to `fresh` as it is."""
        changed: list[str] = []
        with without_garbage_collection():
            for entry in wanted:
                patch = self._armed.get(entry.patch.id)
                if patch is None:
                    try:
                        resolution = resolve(entry.patch)
                    except ValueError:
                        continue  # its record tells
                    if resolution.verdict is not None:
                        continue
                    patch = ArmedPatch.arm(entry, resolution, strict=strict)
                    self._armed[patch.id] = patch
                    fresh.append(patch)
                patch.strict = strict
                patch.try_again(self._armed)
                patch.yield_wraps(self._armed.values())
                mended = patch.mend_loaded(self._swaps)
                if patch.retry(self._swaps) or mended or patch in fresh:
                    changed.append(patch.id)
        return tuple(changed)

    def _wait_for_imports(self) -> None:
        """Hook the modules that are still to come. The lock is not held: a hook may fire here."""
        with self._lock:
            names = dict.fromkeys(
                name for patch in self._armed.values() for name in patch.waiting_for()
            )
        for name in names:
            hooks.when_loaded(name, self.module_loaded)

    def _switched_off(self) -> dict[str, str]:
        """What the environment will switch off; nothing where `apply` would refuse it."""
        try:
            return switched_off(self.catalogue)
        except UnknownPatchError:
            return {}

    def _warn(self, report: Report) -> None:
        for one in report:
            key = (one.id, one.status.value, one.reason)
            if one.status in TROUBLE and key not in self._warned:
                self._warned.add(key)
                line = line_of_the_user()
                warnings.warn_explicit(
                    sentence(one), PatchWarning, line.f_code.co_filename, line.f_lineno
                )


SESSION = Session()
"""The one session of this process."""


@contextlib.contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Hold collections off while thousands of small objects are made: syntax trees, facts.

    Each collection that they set off walks the whole heap, which holds torch and all the
    libraries by now.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
