"""Keep what a first `apply()` came to, for `remembered` in the next process."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from ..catalogue.folders import PACKAGE as FOLDERS
from ..environment import cached_lookups, module_path
from ..patch import Rewrite, Status
from ..reporting.status import TROUBLE
from ..rewrite import Around, Edits
from ..rewrite.install import JUMP, SwappedFunction
from ..rewrite.results import digest
from .armed import ArmedPatch, ArmedTarget
from .hooks import module_object
from .kept import KeptResults
from .remembered import CALL, MODULE, KnownCall, KnownChange, KnownSearch


@cached_lookups()
def remember(
    armed: Sequence[ArmedPatch],
    settings: dict[str, str],
    legacy: bool | str | None,
    kept: KeptResults,
    state: str,
) -> None:
    """Keep which modules these patches fix, and what they did in those that are loaded.

    Nothing is kept of a module in which one of them is in trouble, or whose state a look at code
    alone does not tell; nothing at all where the installed versions already mean trouble.

    Args:
        armed: the patches, the earliest first.
        settings: what was chosen beyond which patches run.
        legacy: what the legacy layer is to do.
        kept: where to keep it.
        state: names all that the call depends on.
    """
    fresh = [
        patch if patch.is_looked_up else ArmedPatch(patch.entry, patch.owner) for patch in armed
    ]
    due = [patch for patch in fresh if patch.is_due]
    if any(patch.look_up().problem for patch in fresh):
        return
    targets = [target for patch in due for target in patch.targets]
    if any(target.absent for target in targets):
        return
    call = KnownCall(*_modules(fresh, targets), settings, legacy)
    kept.keep_fact(tuple(call), CALL, state)
    tried = {name for patch in due for name in patch.attempts}
    fixing: dict[str, list[ArmedPatch]] = {name: [] for name in sorted(tried)}
    for patch in due:
        for name in patch.concerned(tried):
            fixing[name].append(patch)
    for name, patches in fixing.items():
        known = _module(name, patches, kept)
        if known is not None:
            kept.keep_fact(known, MODULE, state, name)


def _modules(
    patches: Iterable[ArmedPatch], targets: Iterable[ArmedTarget]
) -> tuple[dict[str, str], tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the first four arguments of `KnownCall`."""
    packages = sorted({package for patch in patches for package in patch.packages})
    names = {target.target.module for target in targets if not target.target.module_is_glob}
    globs = {target.target.module for target in targets if target.target.module_is_glob}
    files = sorted(filter(None, map(module_path, names)))
    places = {package: _place(package) for package in packages}
    return places, tuple(files), tuple(sorted(names)), tuple(sorted(globs))


def _place(package: str) -> str:
    """Return the file that a package is imported from; empty if there is none."""
    if package in sys.modules:
        return getattr(module_object(package), "__file__", None) or ""
    return module_path(package)


def _module(
    name: str, patches: Iterable[ArmedPatch], kept: KeptResults
) -> tuple[bytes, list[tuple[object, ...]], list[tuple[object, ...]]] | None:
    """Return what is done in a module, and what is searched; None if that cannot be kept.

    Before that stands the digest of all code that is changed.
    """
    places: dict[int, tuple[str, SwappedFunction]] = {}
    needs: dict[int, set[str]] = {}
    searches: list[tuple[object, ...]] = []
    for patch in patches:
        targets = patch.targets_in(name)
        attempt = patch.attempt_in(name)
        if attempt is None or not attempt.is_whole():
            return None
        for target in targets:
            outcome = attempt.outcomes[target]
            if outcome.status in TROUBLE or outcome.status is Status.PENDING:
                return None
            change = target.change
            if isinstance(change, Rewrite) and not target.kept_as:
                return None
            if isinstance(change, Rewrite) and target.is_optional:
                rule = change.rule
                search = KnownSearch(target.target.qualname, rule.names, rule.needs, target.kept_as)
                searches.append(tuple(search))
            for fixed in outcome.callables:
                if not isinstance(fixed.place, SwappedFunction) or fixed.copied_by():
                    return None
                places.setdefault(id(fixed.place), (fixed.qualname, fixed.place))
                if isinstance(change, Rewrite):
                    needs.setdefault(id(fixed.place), set()).update(change.rule.needs)
    changes: list[tuple[object, ...]] = []
    for number, (qualname, place) in places.items():
        known = _change(qualname, place, needs.get(number, ()), kept)
        if known is None:
            return None
        changes.append(tuple(known))
    state = digest(*[place.original for _, place in places.values()])
    return None if state is None else (state, changes, searches)


def _change(
    qualname: str, place: SwappedFunction, needs: Iterable[str], kept: KeptResults
) -> KnownChange | None:
    """Return what is done to a function; None if another process could not do the same."""
    pieces = place.in_force() or ()
    edits = [piece for piece in pieces if isinstance(piece, Edits)]
    around = [piece for piece in pieces if isinstance(piece, Around)]
    names = sorted(piece.kept_as for piece in edits)
    edited = kept.key_of(place.original, names, place.filename) if names else b""
    jump = kept.key_of(place.original, JUMP, "") if around else b""
    wrappers = tuple((piece.owner, piece.qualname, *_path(piece.wrapper)) for piece in around)
    if (
        not pieces
        or not all(names)
        or not all(path for _, _, path, _ in wrappers)
        or bool(names) is not bool(edited)
        or bool(around) is not bool(jump)
    ):
        return None
    return KnownChange(qualname, edited, jump, wrappers, tuple(sorted(needs)))


def _path(wrapper: object) -> tuple[str, str]:
    """Return the `module:name` of a wrapper, empty if it has none, and its folder of patches."""
    module, name = getattr(wrapper, "__module__", ""), getattr(wrapper, "__qualname__", "")
    if getattr(sys.modules.get(module), name, None) is not wrapper:
        return "", ""
    folder = ""
    if module.startswith(f"{FOLDERS}."):
        (folder,) = sys.modules[".".join(module.split(".")[:2])].__path__
    return f"{module}:{name}", folder
