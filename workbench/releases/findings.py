"""Check the table of changes against the interfaces of releases."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from patchkit.legacy.changes import Change, Default, Gone, Keyword, Moved
from patchkit.legacy.decisions import decide
from patchkit.legacy.versions.due import Due
from patchkit.text import TextEnum

from .history import ReleaseHistory

_Has = Callable[[str], bool | None]
"""Tells of a release whether it has something; None if it has not even what would have it."""


class FindingKind(TextEnum):
    """The kind of disagreement."""

    UNKNOWN = "unknown"
    """Something went, or changed, and the table has no row for it."""
    CONTRADICTION = "contradiction"
    """A release has what a row says it has not, or the other way round."""
    NO_TARGET = "no target"
    """The newest release lacks what a row leads to."""


@dataclass(frozen=True)
class ReleaseFinding:
    """A place where table and releases disagree.

    Args:
        kind: what is wrong.
        what: what it is about: `trl.ORPOTrainer`, `trl.SFTConfig(max_seq_length=)`.
        release: the library and release that show it.
        text: more, in words.
    """

    kind: FindingKind
    what: str
    release: str
    text: str


def findings(
    histories: Mapping[str, ReleaseHistory], rows: Collection[Change], left_out: Mapping[str, str]
) -> Iterator[ReleaseFinding]:
    """Yield all places where the table and the releases disagree.

    Args:
        histories: by library.
        rows: the table.
        left_out: what has no row on purpose, and why.
    """
    for history in histories.values():
        own = [row for row in rows if row.library == history.library]
        yield from _unknown_names(history, own, left_out)
        yield from _unknown_keywords(history, histories, rows, left_out)
        yield from _unknown_defaults(history, rows, left_out)
        for row in own:
            if isinstance(row, Keyword):
                yield from _of_keyword(history, histories, row)
            elif isinstance(row, Moved | Gone):
                yield from _of_name(history, row)
        yield from _targets_of_names(history, rows)
        yield from _targets_of_keywords(history, histories, rows)


def _unknown_names(
    history: ReleaseHistory, rows: Collection[Change], left_out: Mapping[str, str]
) -> Iterator[ReleaseFinding]:
    known = {row.name for row in rows if isinstance(row, Moved | Gone)}
    for name, release in history.gone_names():
        what = f"{history.library}.{name}"
        if (
            what not in known
            and what not in left_out
            and not history.has_place(history.versions[-1], what)
        ):
            yield ReleaseFinding(
                FindingKind.UNKNOWN, what, _release(history, release), _announced(history, name)
            )


def _unknown_keywords(
    history: ReleaseHistory,
    histories: Mapping[str, ReleaseHistory],
    rows: Collection[Change],
    left_out: Mapping[str, str],
) -> Iterator[ReleaseFinding]:
    known = {(owner, row.name) for row in rows if isinstance(row, Keyword) for owner in row.owners}
    for owner, keyword, release in history.gone_keywords():
        ancestors = history.newest.ancestors.get(owner) or [f"{history.library}.{owner}"]
        what = f"{history.library}.{owner}({keyword}=)"
        if (
            not any((ancestor, keyword) in known for ancestor in ancestors)
            and keyword not in _inherited(ancestors, histories)
            and what not in left_out
        ):
            text = _announced(history, keyword)
            yield ReleaseFinding(FindingKind.UNKNOWN, what, _release(history, release), text)


def _unknown_defaults(
    history: ReleaseHistory, rows: Collection[Change], left_out: Mapping[str, str]
) -> Iterator[ReleaseFinding]:
    known = {(owner, row.name) for row in rows if isinstance(row, Default) for owner in row.owners}
    for owner, keyword, defaults in history.changed_defaults():
        ancestors = history.newest.ancestors.get(owner) or [f"{history.library}.{owner}"]
        what = f"default of {history.library}.{owner}({keyword}=)"
        if not any((ancestor, keyword) in known for ancestor in ancestors) and what not in left_out:
            values = ", then ".join(f"{value} since {version}" for version, value in defaults)
            yield ReleaseFinding(
                FindingKind.UNKNOWN, what, _release(history, defaults[-1][0]), values
            )


def _inherited(
    ancestors: Collection[str], histories: Mapping[str, ReleaseHistory], but: str = ""
) -> set[str]:
    """Return the keywords that classes have in the newest releases of the libraries but one."""
    found: set[str] = set()
    for ancestor in ancestors:
        library, _, name = ancestor.partition(".")
        if library in histories and library != but:
            found.update(histories[library].newest.keywords.get(name, ()))
    return found


def _of_keyword(
    history: ReleaseHistory, histories: Mapping[str, ReleaseHistory], row: Keyword
) -> Iterator[ReleaseFinding]:
    for owner in row.owners:
        library, _, name = owner.partition(".")
        if library != history.library or row.is_understood:
            continue
        what = f"{owner}({row.name}=)"
        yield from _around(
            history, what, row.gone, partial(_has, history, owner=name, keyword=row.name), went=True
        )
        decision = decide(row)
        to = decision.to
        if row.since and to and row.since.startswith(f"{library} "):
            holder = _holder(row, name)
            ancestors = history.newest.ancestors.get(holder, ())
            if to in _inherited(ancestors, histories, but=library):
                continue  # older releases import it from there, too; no release says since when
            yield from _around(
                history,
                f"{library}.{holder}({to}=)",
                row.since,
                partial(_has, history, owner=holder, keyword=to),
                went=False,
                # An old keyword may take values that it did not take.
                exactly=decision.keeps_value or decision.in_configuration,
            )


def _of_name(history: ReleaseHistory, row: Moved | Gone) -> Iterator[ReleaseFinding]:
    def has(version: str) -> bool | None:
        # The table has rows for places that some names may never have had, below the top level.
        there = history.has_place(version, row.name)
        return there or (None if row.name.count(".") > 1 else False)

    yield from _around(history, row.name, row.gone, has, went=True)


def _around(
    history: ReleaseHistory, what: str, release: str, has: _Has, *, went: bool, exactly: bool = True
) -> Iterator[ReleaseFinding]:
    """Compare a release with the one before it: something is there in one of them only.

    Args:
        history: the library.
        what: what may be there.
        release: the first with it, or without it.
        has: tells of each release.
        went: whether it went with this release; else it came.
        exactly: whether the release before it must be otherwise.
    """
    version = release.partition(" ")[2]
    if version not in history.releases:
        if history.is_within(version):
            yield ReleaseFinding(
                FindingKind.CONTRADICTION, what, release, "there is no such release"
            )
        return
    now = has(version)
    before = history.before(version)
    earlier = None if before is None else has(before)
    if now is went:
        text = "the release has it" if went else "the release does not have it"
        yield ReleaseFinding(FindingKind.CONTRADICTION, what, release, text)
    elif exactly and earlier is not None and earlier is not went:
        text = "the release before it does not have it" if went else "the release before has it"
        yield ReleaseFinding(FindingKind.CONTRADICTION, what, release, text)


def _has(history: ReleaseHistory, version: str, owner: str, keyword: str) -> bool | None:
    """Tell whether a class of a release takes a keyword; None if there is no such class."""
    known = history.releases[version].keywords.get(owner)
    return None if known is None else keyword in known


def _holder(row: Keyword, owner: str) -> str:
    """Return the class that has what a row leads to."""
    if decide(row).in_configuration:
        return owner.removesuffix("Trainer") + "Config"
    return owner


def _targets_of_names(
    history: ReleaseHistory, rows: Collection[Change]
) -> Iterator[ReleaseFinding]:
    gone = {row.name for row in rows if isinstance(row, Gone)}
    for row in rows:
        if not isinstance(row, Moved) or not row.to.startswith(f"{history.library}."):
            continue
        if row.name in gone:
            continue  # it lived on elsewhere for a time
        newest = history.versions[-1]
        if not history.has_place(newest, row.to):
            text = f"it has no {row.to}"
            yield ReleaseFinding(FindingKind.NO_TARGET, row.name, _release(history, newest), text)


def _targets_of_keywords(
    history: ReleaseHistory, histories: Mapping[str, ReleaseHistory], rows: Collection[Change]
) -> Iterator[ReleaseFinding]:
    due = Due(rows, {name: history.versions[-1] for name, history in histories.items()}.get)
    for owner in history.newest.keywords:
        ancestors = history.newest.ancestors.get(owner, [])
        if not {ancestor.partition(".")[0] for ancestor in ancestors} <= histories.keys():
            continue  # what it has from there is not known
        for method, found in due.methods(ancestors).items():
            for row in found.keywords.values():
                to = decide(row).to
                holder = _holder(row, owner)
                if method != "__init__" or not to or holder not in history.newest.keywords:
                    continue
                held = history.newest.keywords[holder].keys() | _inherited(
                    history.newest.ancestors.get(holder, ()), histories
                )
                if to not in held and row.name not in history.newest.keywords[owner]:
                    newest = _release(history, history.versions[-1])
                    what = f"{history.library}.{owner}({row.name}=)"
                    yield ReleaseFinding(
                        FindingKind.NO_TARGET, what, newest, f"{holder} has no {to}="
                    )


def _release(history: ReleaseHistory, version: str) -> str:
    return f"{history.library} {version}"


def _announced(history: ReleaseHistory, name: str) -> str:
    number = history.announcements(name)
    return f"announced as deprecated in {number} release{'s' * (number != 1)}" if number else ""
