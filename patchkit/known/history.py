"""What the history of releases says of a name or a keyword: not there yet, gone, or in none.

What each release of a library has is in `patchkit.modernize.history`; the legacy layer's table,
which says what is written today, is asked in `names`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..environment import is_version
from ..libraries import title as title_of
from ..libraries import with_role
from ..whose import REMOTE_CODE
from .answer import Answer
from .reading import Raised

TITLES = {name: title_of(name) for name in with_role("interfaces")}
"""The libraries whose history is known, as a sentence names them."""


def of_unknown_name(place: str, library: str, version: str | None, error: Raised) -> list[Answer]:
    """Say what can be said of a name that no table has."""
    from ..modernize.history import shipped

    module, _, name = place.rpartition(".")
    if library not in TITLES or not module:
        return []
    title, caller = TITLES[library], error.caller(library)
    here = f" {version}" if version else ""
    if caller:
        remedy, write, whose = callers_remedy(caller, library, "")
        return [
            Answer(
                place,
                f"{titled(caller)} asks for `{place}`, which the installed {title}{here} does not "
                "have: the two are of different times.",
                remedy
                if caller == REMOTE_CODE
                else f"Upgrade {titled(caller)} and {title} together, or keep the {title} that "
                f"{titled(caller)} was made for: it is not for your script to change.",
                write,
                whose,
            )
        ]
    known = shipped().libraries.get(library)
    if known is not None and module == library:
        elsewhere = [
            other
            for other, its in shipped().libraries.items()
            if other != library and (name in its.names.get("", ()) or name in its.keywords)
        ]
        if elsewhere and name not in known.names.get("", ()) and name not in known.keywords:
            return [
                Answer(
                    place,
                    f"`{name}` is a name of {TITLES[elsewhere[0]]}, not of {title}.",
                    "Import it from there.",
                    (f"from {elsewhere[0]} import {name}",),
                    "the script",
                )
            ]
    if known is not None and known.is_complete and module == library:
        from difflib import get_close_matches

        names = known.names.get("", {})
        if name in names:
            return [always_there(place, library)]
        near = get_close_matches(name, names, n=1)
        said = f" Did you mean `{near[0]}`?" if near else ""
        return [
            Answer(
                place,
                f"No release of {title} that was read ({known.releases[0]} to "
                f"{known.releases[-1]}) has `{place}`.",
                f"Look for its spelling and its place.{said}",
                whose="the script",
            )
        ]
    return [
        Answer(
            place,
            f"The installed {title}{here} has no `{name}` in `{module}`: it was moved or removed, "
            "or came with a newer release.",
            f"If the script is older than your {title}, keep an older {title}; if it is newer, "
            f"upgrade {title}. The traceback's last file tells who asks: a library is to be "
            "upgraded, and a model's own code (trust_remote_code) to be left out or taken newer.",
            (f"pip install -U {library}",),
            f"the script and {title} are of different times",
        )
    ]


def always_there(place: str, library: str) -> Answer:
    """Say that all releases have a name or module, so that the one that runs is not whole."""
    title = TITLES[library]
    return Answer(
        place,
        f"Every release of {title} that was read has `{place}`: the one that runs is older, or not "
        "whole (a folder or file of that name beside the script, two installations in one place).",
        f"Look which file is imported, and install {title} again with the Python that runs the "
        "script.",
        (
            f'python -c "import {library}; print({library}.__file__)"',
            f"python -m pip install -U --force-reinstall --no-deps {library}",
        ),
        "the environment",
    )


def is_gone(version: str | None, came: str, gone: str, has_row: bool) -> bool:
    """Tell whether a name that came with one release and left with another is gone."""
    if not gone:
        return False
    if version is not None and not is_version(version):
        return has_row
    return not is_older(version, came)


def bounds(place: str) -> tuple[str, str]:
    """Return the release that brought a name, and the first without it; empty if not known."""
    from ..modernize.history import shipped

    library, _, rest = place.partition(".")
    known = shipped().libraries.get(library)
    if known is None or not rest:
        return "", ""
    module, _, last = rest.rpartition(".")
    there = known.names.get(module, {}).get(last) or known.modules.get(rest)
    return ends(known.releases, there or frozenset())


def ends(releases: tuple[str, ...], there: frozenset[str]) -> tuple[str, str]:
    """Return the release that brought what some releases have, and the first without it."""
    if not there:
        return "", ""
    numbers = [number for number, release in enumerate(releases) if release in there]
    came = releases[numbers[0]] if numbers[0] else ""
    after = numbers[-1] + 1
    return came, releases[after] if after < len(releases) else ""


def not_yet(place: str, came: str, library: str, version: str | None, error: Raised) -> Answer:
    """Say that a name came with a later release than the one that runs."""
    title = TITLES[library]
    caller = error.caller(library)
    older = is_older(version, came)
    here = f", and {version} is installed" if version and older else ""
    asks = f"{titled(caller)} asks for `{place}`, which" if caller else f"`{place}`"
    do = f"Upgrade {title}"
    if caller:
        do += f", or take a {titled(caller)} of the time of your {title}"
    do += "."
    if version and not older:
        do += f" Here {title} {version} is installed, which has it: the error is of another place."
    return Answer(
        id=place,
        cause=f"{asks} came with {title} {came}{here}.",
        do=do,
        write=(f"pip install -U '{library}>={came}'",),
        whose=f"versions: {titled(caller)} and {title} do not fit" if caller else "versions",
    )


def has_left(place: str, gone: str, library: str, error: Raised) -> Answer:
    """Say that a name is gone, and what whoever asks for it can do."""
    title = TITLES[library]
    caller = error.caller(library)
    if caller:
        cause = f"{titled(caller)} asks for `{place}`, which left {title} in {gone}."
        return Answer(place, cause, *callers_remedy(caller, library, gone))
    return Answer(
        id=place,
        cause=f"`{place}` left {title} in {gone}.",
        do=f"Take what {title} has today, or keep an older {title}.",
        write=(f"pip install '{library}<{gone}'",),
        whose="the script, or the library that asks for it (the traceback's last file)",
    )


def callers_remedy(caller: str, library: str, gone: str) -> tuple[str, tuple[str, ...], str]:
    """Return what to do, what to type, and whose it is, where a library asks for what is gone."""
    if caller == REMOTE_CODE:
        before = gone or ("5" if library == "transformers" else "")
        return (
            (
                "Load the model without trust_remote_code if Transformers has its class, or take a "
                f"newer revision of it; else keep an older {TITLES[library]}."
            ),
            (f"pip install '{library}<{before}'",) if before else (),
            f"the model's remote code, which was written for an older {TITLES[library]}",
        )
    others = {"unsloth": "unsloth unsloth_zoo", "unsloth_zoo": "unsloth unsloth_zoo"}
    upgrade = f"pip install -U {others.get(caller, caller.replace('_', '-'))}"
    older = f"pip install '{library}<{gone}'"
    return (
        (
            f"Upgrade {titled(caller)}, or keep {TITLES[library]} below {gone}: it is not for "
            "your script to change."
        ),
        (upgrade, older) if gone else (upgrade,),
        f"{titled(caller)}, which was written for an older {TITLES[library]}",
    )


def bounds_of_keyword(owner: str, keyword: str) -> tuple[str, str, str]:
    """Return the library, the release that brought a keyword, and the first without it."""
    from ..modernize.history import shipped

    for library, known in shipped().libraries.items():
        there = known.keywords.get(owner, {}).get(keyword)
        if there:
            return (library, *ends(known.releases, there))
    return "", "", ""


def of_unknown_keyword(owner: str, keyword: str) -> list[Answer]:
    """Say which configuration has a keyword that was given to a trainer, or one like it."""
    from difflib import get_close_matches

    from ..modernize.history import shipped

    if not owner:
        return []
    for library, known in shipped().libraries.items():
        if owner not in known.keywords:
            continue
        newest, read = known.releases[-1], f"{known.releases[0]} to {known.releases[-1]}"
        if keyword in known.keywords[owner]:
            return [
                Answer(
                    f"{owner}({keyword}=)",
                    f"Every release of {TITLES[library]} that was read ({read}) takes "
                    f"`{owner}({keyword}=)`: the one that runs is older, or a changed copy.",
                    f"Upgrade {TITLES[library]} with the Python that runs the script, and restart "
                    "a notebook's kernel.",
                    (f"python -m pip install -U {library}",),
                    f"the installed {TITLES[library]}",
                )
            ]
        beside = owner.replace("Trainer", "Config")
        if beside != owner and newest in known.keywords.get(beside, {}).get(keyword, ()):
            return [
                Answer(
                    f"{owner}({keyword}=)",
                    f"`{keyword}` is a field of {beside}, not an argument of {owner}.",
                    "Give it to the configuration, and that to the trainer as args=.",
                    (f"{owner}(args={beside}({keyword}=…), …)",),
                    "the script",
                )
            ]
        today = [name for name, releases in known.keywords[owner].items() if newest in releases]
        if near := get_close_matches(keyword, today, n=1, cutoff=0.75):
            return [
                Answer(
                    f"{owner}({keyword}=)",
                    f"No release of {TITLES[library]}'s {owner} that was read takes `{keyword}`.",
                    f"It takes `{near[0]}`.",
                    (f"{owner}({near[0]}=…)",),
                    "the script",
                )
            ]
        if shipped().keyword(f"{library}.{owner}", keyword) == []:
            return [
                Answer(
                    f"{owner}({keyword}=)",
                    f"No release of {TITLES[library]} that was read ({read}) takes "
                    f"`{owner}({keyword}=)`.",
                    "Leave it out, or look for its spelling; a script that was written for a "
                    f"changed copy (a fork) of {TITLES[library]} needs that copy, which its README "
                    "or requirements name.",
                    whose="the script",
                )
            ]
    return []


def of_arguments(keyword: str) -> Iterator[Answer]:
    """Say whose field a keyword is that Python names no class for, as it did before 3.10."""
    from ..modernize.history import shipped

    if "_" not in keyword:
        return
    for library, cls in (("transformers", "TrainingArguments"), ("trl", "SFTConfig")):
        known = shipped().libraries[library]
        if len(known.keywords[cls].get(keyword, ())) == len(known.releases):
            yield Answer(
                f"{cls}({keyword}=)",
                f"`{keyword}` is a field of {cls} in every release of {TITLES[library]} that was "
                f"read ({known.releases[0]} to {known.releases[-1]}): it was given to another "
                f"class (a trainer, a model), or the {TITLES[library]} that runs is older.",
                f"Give it to {cls}, and that as args= to the trainer; else upgrade "
                f"{TITLES[library]} with the Python that runs the script.",
                (f"python -m pip install -U {library}",),
                f"the script, or the installed {TITLES[library]}",
            )


def is_older(version: str | None, release: str) -> bool:
    """Tell whether a version is known, and before a release."""
    from packaging.version import Version

    return version is not None and is_version(version) and Version(version) < Version(release)


def titled(library: str) -> str:
    """Return how a sentence names a library, or what a model brings along."""
    return TITLES.get(library, "the model's remote code" if library == REMOTE_CODE else library)
