"""The state of this process: which patches are armed, and applying and reverting them."""

from __future__ import annotations

import contextlib
import gc
import importlib
import logging
import os
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping
from types import FrameType, ModuleType

from . import catalogue, hooks, settings
from .armed import ArmedPatch, still_loading
from .catalogue import Catalogue, Entry
from .environment import looked_up_once
from .errors import PatchError, PatchWarning, UsageError
from .patch import Status
from .reporting import PatchRecord, Report, broken_record, record
from .resolution import resolve
from .rewrite import CodeSwaps

DISABLE_VARIABLE = "PATCHKIT_DISABLE"
_TROUBLE = (Status.DRIFTED, Status.FAILED, Status.OVERRIDDEN)

logger = logging.getLogger("patchkit")

Selection = str | Iterable[str] | None


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
    ) -> Report:
        if not isinstance(strict, bool):
            raise UsageError(f"strict= must be True or False, not {strict!r}")
        if not isinstance(preflight, bool):
            raise UsageError(f"preflight= must be True or False, not {preflight!r}")
        with self._lock, looked_up_once():
            wanted, disabled = self._select(only, exclude, ("preflight",) if preflight else ())
            choices = settings.resolve(chosen, dtype, self.catalogue.settings)
            disabled_before, self._disabled = self._disabled, disabled
            choices_before = settings.snapshot()
            settings.choose(choices)
            fresh: list[ArmedPatch] = []
            try:
                changed = self._arm(wanted, strict, fresh)
                report = self.report(changed)
                if strict and (trouble := _trouble(report, wanted, everything=only is None)):
                    raise PatchError(_explain(trouble))
            except BaseException:
                for patch in reversed(fresh):
                    self._armed.pop(patch.id).undo()
                settings.restore(choices_before)
                self._disabled = disabled_before
                raise
        self._wait_for_imports()
        if changed:
            logger.info("patchkit: %s", report.summary())
        else:
            logger.info("patchkit: nothing new to do; %s", report.summary())
        self._warn(report)
        return report

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
    ) -> Iterator[Report]:
        with self._lock:
            armed = set(self._armed)
            choices, disabled = settings.snapshot(), self._disabled
        try:
            yield self.apply(
                only, exclude, strict=strict, dtype=dtype, chosen=chosen, preflight=preflight
            )
        finally:
            with self._lock:
                for patch_id in [i for i in self._armed if i not in armed]:
                    self._armed.pop(patch_id).undo()
                settings.restore(choices)
                self._disabled = disabled

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
            records = [self._record(entry) for entry in self.catalogue]
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
                records = [self._record(patch.entry) for patch in concerned]
                strict = [patch.id for patch in concerned if patch.strict]
                trouble = _trouble(Report(records), strict)
                for patch in concerned:
                    if trouble and patch.strict:
                        self._armed.pop(patch.id).undo()
        except Exception:
            # Never the user's import: what went wrong is in the log with its traceback.
            logger.exception("patchkit: an error while mending %s", module.__name__)
            return
        if trouble:
            raise PatchError(_explain(trouble))
        self._warn(Report(records))

    def _select(
        self, only: Selection, exclude: Selection, asked: tuple[str, ...]
    ) -> tuple[list[Entry], dict[str, str]]:
        """What a call wants, and why it does not want the rest.

        Args:
            only: as for `apply`.
            exclude: as for `apply`.
            asked: the keywords of `apply` that ask for a patch with such an `opt_in`.
        """
        known = self.catalogue
        if isinstance(only, Iterable) and not isinstance(only, str):
            only = list(only)
        included = set(known.entries) if only is None else known.named(only, "only=")
        excluded = known.named(exclude, "exclude=")
        both = included & excluded
        if only is not None and both and not included - excluded:
            raise UsageError(
                f"only= and exclude= contradict each other: both name {', '.join(sorted(both))}"
            )
        switched_off = self._switched_off()
        unasked = self._unasked(only, excluded, asked)
        included |= {one.patch.id for one in known if one.patch.opt_in} - unasked
        disabled = {}
        for patch_id in known.entries:
            if patch_id in switched_off:
                disabled[patch_id] = f"switched off by {DISABLE_VARIABLE}"
            elif patch_id in excluded:
                disabled[patch_id] = "left out by exclude="
            elif patch_id not in included | unasked:
                disabled[patch_id] = "left out by only="
        left_out = disabled.keys() | unasked
        wanted = [entry for entry in known if entry.patch.id not in left_out]
        return wanted, disabled

    def _unasked(self, only: Selection, excluded: set[str], asked: tuple[str, ...]) -> set[str]:
        """The patches that nobody gets unasked, less those that are asked for."""
        named = {only} if isinstance(only, str) else set(only or ())
        unasked = set()
        for entry in self.catalogue:
            patch_id, keyword = entry.patch.id, entry.patch.opt_in
            if keyword in asked and patch_id in excluded:
                raise UsageError(
                    f"{keyword}=True and exclude= contradict each other: exclude= names {patch_id}"
                )
            if keyword and not (
                keyword in asked or patch_id in named or settings.switched_on(keyword)
            ):
                unasked.add(patch_id)
        return unasked

    def _switched_off(self) -> set[str]:
        names = [name.strip() for name in os.environ.get(DISABLE_VARIABLE, "").split(",")]
        names = [name for name in names if name]
        if "all" in names:
            return set(self.catalogue.entries)
        return self.catalogue.named(names, f"the environment variable {DISABLE_VARIABLE}")

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
            module = sys.modules.get(name)
            if module is not None and still_loading(module):
                # Another thread is in the middle of it, too late for a hook: wait for that
                # thread. Where it is this thread, the import returns at once, and the target
                # stays pending until the next call.
                importlib.import_module(name)
                if not still_loading(module):
                    self.module_loaded(module)
            elif module is not None:
                self.module_loaded(module)
            else:
                hooks.when_loaded(name, self.module_loaded)

    def _record(self, entry: Entry) -> PatchRecord:
        patch_id = entry.patch.id
        return record(entry, self._armed.get(patch_id), self._disabled.get(patch_id))

    def _warn(self, report: Report) -> None:
        for one in report:
            key = (one.id, one.status.value, one.reason)
            if one.status in _TROUBLE and key not in self._warned:
                self._warned.add(key)
                line = _line_of_the_user()
                warnings.warn_explicit(
                    _sentence(one), PatchWarning, line.f_code.co_filename, line.f_lineno
                )


SESSION = Session()
"""The one session of this process."""


def _trouble(
    report: Report, wanted: Iterable[Entry | str], *, everything: bool = False
) -> list[PatchRecord]:
    ids = {one if isinstance(one, str) else one.patch.id for one in wanted}
    broken = {one.id for one in report if everything and not one.affects}
    return [one for one in report if one.status in _TROUBLE and one.id in ids | broken]


def _explain(trouble: list[PatchRecord]) -> str:
    return "\n".join(["not mended, and strict=True:", *(f"  {_sentence(one)}" for one in trouble)])


def _sentence(one: PatchRecord) -> str:
    return f"patch {one.id} {one.status}: {one.reason}"


def _line_of_the_user() -> FrameType:
    """Where `apply` was called or the library imported, past us and the import machinery."""
    frame = sys._getframe(1)
    while frame.f_back and _package(frame.f_globals) in ("patchkit", "wrapt", "importlib"):
        frame = frame.f_back
    return frame


def _package(namespace: Mapping[str, object]) -> str:
    return str(namespace.get("__name__", "")).partition(".")[0]


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
