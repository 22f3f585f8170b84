"""What the history of releases says of a name or a keyword: not there yet, gone, or in none.

What each release of a library has is in `patchkit.modernize.history`, and the texts are in
`names.json`; the legacy layer's table, which says what is written today, is asked in `names`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..about import shipped_table
from ..environment import is_version
from ..libraries import title as title_of
from ..libraries import with_role
from ..whose import REMOTE_CODE
from .answer import Answer, distribution, worded
from .answer import titled as title_of_asker
from .frameworks import bound_for
from .pasted import REPOSITORIES, Raised
from .rows import SINCE
from .wordings import filled

if TYPE_CHECKING:
    from ..modernize.history import LibraryHistory

OTHERS = "huggingface_hub", "diffusers", "sentence_transformers"
"""Libraries of which only names are known that came or went."""
TITLES = {name: title_of(name) for name in (*with_role("interfaces"), *OTHERS)}
"""The libraries whose history is known, as a sentence names them."""
MOST_USED = frozenset(
    ("TrainingArguments", "SFTConfig", "SFTTrainer", "DPOConfig", "GRPOConfig", "LoraConfig")
)
"""Of several classes with a keyword, the ones that a script means most often."""
ARGUMENTS_OF_TRL = ("SFTConfig", "DPOConfig", "GRPOConfig", "RewardConfig", "KTOConfig")
HOMES = (
    "TrainingArguments",
    *ARGUMENTS_OF_TRL,
    *("LoraConfig", "BitsAndBytesConfig", "Trainer", "SFTTrainer", "Accelerator"),
)
"""Classes that settings are meant for which another class got, the likeliest first."""
FIRST_PACKAGES = "4.0"
"""The release of Transformers that made packages of models that had been there for long."""
UNSLOTH = "unsloth unsloth_zoo"
FILE_OF_MODEL = re.compile(r"(models\.(\w+))\.(?:modeling|configuration|tokenization)_\2$")
"""Of the models of Transformers only the packages are written down."""
_PARTS = "Audio|Backbone|Decoder|Encoder|Image|Speech|Video|Vision"
OF_FAMILY = re.compile(
    rf"(?!Auto)\w+(?:PreTrainedModel|(?:{_PARTS})(?:Config|Model|Processor)|Encoder|Decoder)$"
)
"""Names of Transformers that are not written down: they came with the model's package."""
IN_A_LIST = re.compile(
    rf"\w+For[A-Z]\w*[a-z]|(?!\w*(?:{_PARTS}|PreTrainedModel|Fast$))[A-Z]\w*[a-z]"
)
"""Names of Transformers that are written down, if any release has them."""
OF_A_MODEL = re.compile(r"For[A-Z]|(?:Config|Model|Tokenizer|TokenizerFast|Processor)$")
"""Names that a model's own code may define, where Transformers never had them."""
COMPILED = re.compile(r"\.(?:_C\b|\w*_(?:cuda|ext|C)\b)")
"""Modules that an installation lacks as a whole where it was built for another machine."""


def part(case: str, **values: str) -> str:
    """Return a part of a sentence that `names.json` has, with values in its holes."""
    return filled(shipped_table("known/names.json")["parts"][case], values)


def _told(case: str, place: str, library: str, **values: str) -> Answer:
    """Return what `names.json` has for a case of a name or keyword of a library."""
    known = {"place": place, "library": library, "title": TITLES.get(library, "")}
    return worded(place, shipped_table("known/names.json")[case], {**known, **values})


def of_unknown_name(place: str, library: str, version: str | None, error: Raised) -> list[Answer]:
    """Say what can be said of a name that no table has."""
    from ..modernize.history import shipped

    module, _, name = place.rpartition(".")
    if library in OTHERS and (spelled := _of_other_case(library, name)):
        read, said = f"from {first_read(library)} on", part("near", near=spelled)
        return [_told("name in no release", place, library, read=read, near=said, remote="")]
    if library not in TITLES or library in OTHERS or not module:
        return []
    here = part("here", version=version) if version else ""
    known = shipped().libraries.get(library)
    rest = place.partition(".")[2]
    if known and is_always_there(library, rest):
        return [always_there(place, library)]
    if known and (there := _there(known, rest)):
        lacking = [release for release in known.releases if release not in there]
        lacks = f"{lacking[0]} to {lacking[-1]}" if lacking[1:] else "".join(lacking)
        case = "name lacking in between" if lacking else "name in all releases"
        return [_told(case, place, library, lacking=lacks)]
    if caller := error.caller(library):
        values = {"caller": titled(caller), "title": TITLES[library], "place": place, "here": here}
        cause = part("asks for what it lacks", **values)
        return [of_caller(caller, place, library, "", cause)]
    if known and module == library:
        others = [
            other
            for other, its in shipped().libraries.items()
            if other != library and _has_at_the_top(its, name)
        ]
        if others and not _has_at_the_top(known, name):
            other, title = others[0], TITLES[others[0]]
            case = "name of another library"
            return [_told(case, place, library, name=name, other=other, other_title=title)]
        names = {*known.names.get("", ()), *known.always}
        alike = [other for other in names if other.lower() == name.lower()]
        if known.is_complete or alike or IN_A_LIST.match(name):
            from difflib import get_close_matches

            near = alike or get_close_matches(name, names, n=1, cutoff=0.85)
            said = part("near", near=near[0]) if near else ""
            remote = part("remote") if library == "transformers" and OF_A_MODEL.search(name) else ""
            values = {"read": _read(known), "near": said, "remote": remote}
            return [_told("name in no release", place, library, **values)]
    values = {"name": name, "module": module, "here": here}
    if left := bounds(module)[1]:
        return [_told("name of a module that left", place, library, left=left, **values)]
    return [_told("name not known", place, library, **values)]


def _of_other_case(library: str, name: str) -> str:
    """Return a name of a library that differs only in small and capital letters."""
    written: dict[str, dict[str, str]] = shipped_table(SINCE)["names"].get(library, {})
    names = (each for modules in written.values() for each in modules.get("", "").split())
    return next((each for each in names if each != name and each.lower() == name.lower()), "")


def _has_at_the_top(known: LibraryHistory, name: str) -> bool:
    return name in known.names.get("", ()) or name in known.keywords


def _read(known: LibraryHistory) -> str:
    return f"{known.releases[0]} to {known.releases[-1]}"


def always_there(place: str, library: str) -> Answer:
    """Say that all releases have a name or module, so that the one that runs is not whole."""
    return _told("name in all releases", place, library)


def asks_itself(place: str, library: str, error: Raised) -> list[Answer]:
    """Say that the files of a library are of two releases, if one imports a name of another."""
    asking = error.raising
    is_module = error.name == "ModuleNotFoundError"
    is_import = is_module or error.name == "ImportError"
    inside = place.count(".") > (not is_module)
    if not (is_import and inside and asking and asking[0].package == library):
        return []
    if asking[0].function not in ("", "<module>") or COMPILED.search(place):
        return []
    return [_told("own file asks", place, library, title=title_of(library))]


def is_gone(version: str | None, came: str, gone: str, has_row: bool) -> bool:
    """Tell whether a name that came with one release and left with another is gone."""
    if not gone:
        return False
    if version is not None and not is_version(version):
        return has_row
    return not is_older(version, came)


def bounds(place: str) -> tuple[str, str]:
    """Return the release that brought a name, and the first without it; empty if not known."""
    library, _, rest = place.partition(".")
    if not rest or library in OTHERS:
        return _bounds_inside(library, rest)
    from ..modernize.history import shipped

    known = shipped().libraries.get(library)
    if known is not None and (there := _there(known, rest)):
        return ends(known.releases, there)
    return _bounds_inside(library, rest)


def _bounds_inside(library: str, place: str) -> tuple[str, str]:
    """Return the same for what was read off one wheel of each minor release.

    A module that came or went has no names there; a file of fast tokenizers goes with its names.
    """
    module, _, name = place.rpartition(".")
    came, gone = "", ""
    for written, modules in shipped_table(SINCE)["names"].get(library, {}).items():
        is_file = modules.get(place) == "" or (name.endswith("_fast") and place in modules)
        if is_file or name in modules.get(module, "").split():
            came, gone = written.replace("-", "").split(" ")
            break
    return (came, gone) if came else _earlier(library, place, gone)


def _earlier(library: str, place: str, gone: str) -> tuple[str, str]:
    """Return the same, if what has no beginning in the history has one before it."""
    from ..modernize.history import shipped

    known = shipped().libraries.get(library)
    stands = [*_stands_for(known, place)] if known and "." in place else [place]
    earlier: dict[str, dict[str, str]] = shipped_table(SINCE)["earlier"].get(library, {})
    packages = {}
    for written, modules in earlier.items():
        came, left = written.replace("-", "").split(" ")
        for stand in stands:
            module, _, name = stand.rpartition(".")
            if modules.get(stand) == "" or name in modules.get(module, "").split():
                return came, left or gone
        if came != FIRST_PACKAGES:
            packages.update(dict.fromkeys(filter(re.compile(r"models\.").match, modules), came))
    if known is None or "." in place or not is_always_there(library, place):
        return "", gone
    return packages.get(package_of(place, packages), ""), gone


def is_always_there(library: str, name: str) -> bool:
    """Tell whether all releases of the history have a name, or what it comes and goes with."""
    from ..modernize.history import shipped

    known = shipped().libraries.get(library)
    return known is None or not known.always.isdisjoint(_stands_for(known, name))


def package_of(name: str, packages: Iterable[str]) -> str:
    """Return the package of models whose family a name has; empty if none has it."""
    families = {package.partition(".")[2].replace("_", ""): package for package in packages}
    found = [family for family in families if family and name.lower().startswith(family)]
    return families[max(found, key=len)] if found else ""


def _there(known: LibraryHistory, place: str) -> frozenset[str] | None:
    """Return the releases with a name or module; None if that is not written down."""
    for stands in _stands_for(known, place):
        module, _, last = stands.rpartition(".")
        if there := known.names.get(module, {}).get(last) or known.modules.get(stands):
            return there
    return None


def _stands_for(known: LibraryHistory, place: str) -> Iterator[str]:
    """Yield a place in a library, and what comes and goes with it, which alone is written down."""
    yield place
    if found := FILE_OF_MODEL.match(place):
        yield found[1]
    elif OF_FAMILY.match(place):
        packages = (name for name in (*known.modules, *known.always) if name.count(".") == 1)
        yield package_of(place, packages)


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
    caller = error.caller(library)
    here = elsewhere = ""
    if version and is_older(version, came):
        here = part("here older", version=version)
    elif is_of_old(came, library):
        return _told("name of old", place, library, came=came)
    elif version:
        elsewhere = part("here newer", title=TITLES[library], version=version)
    asks = "remote code" if caller == REMOTE_CODE else "library"
    case = f"{asks} asks for what is not yet there" if caller else "name not yet there"
    values = {"came": came, "here": here, "elsewhere": elsewhere}
    return _told(case, place, library, caller=titled(caller), **values)


def is_of_old(came: str, library: str) -> bool:
    """Tell whether a release is older than all that the history has."""
    return is_older(came, first_read(library))


def first_read(library: str) -> str:
    """Return the first release of a library in the history."""
    from ..modernize.history import shipped

    if known := shipped().libraries.get(library):
        return known.releases[0]
    written: dict[str, dict[str, str]] = shipped_table(SINCE)["names"][library]
    named = {release for bounds in written for release in bounds.split()} - {"-"}
    return min(named, key=lambda release: [*map(int, release.split("."))])


def has_left(place: str, gone: str, library: str, error: Raised) -> Answer:
    """Say that a name is gone, and what whoever asks for it can do."""
    if caller := error.caller(library):
        values = {"caller": titled(caller), "title": TITLES[library], "place": place}
        cause = part("asks for what left", gone=gone, **values)
        return of_caller(caller, place, library, gone, cause)
    return _told("name gone", place, library, gone=gone)


def of_caller(caller: str, place: str, library: str, gone: str, cause: str) -> Answer:
    """Say what to do, and whose it is, where a library asks for what another does not have.

    Args:
        caller: the library that asks.
        place: what it asks for.
        library: the library that is asked.
        gone: the release of it that dropped that; empty if not known.
        cause: the sentence that says so.
    """
    named = UNSLOTH if caller in UNSLOTH.split() else distribution(caller)
    is_known = caller in REPOSITORIES  # Others need not have the name of their package.
    before, case = gone, "library asks" if gone else "library of another time asks"
    if caller == REMOTE_CODE:
        case = "remote code asks"
        before = gone or ("5" if library == "transformers" else "")
    takes, highest = bound_for(caller.removesuffix("_zoo"), library, gone)
    return _told(
        case,
        place,
        library,
        caller=titled(caller),
        takes=takes and f" {takes}",
        newer=f"pip install -U {named}" if is_known and not highest else "",
        gone=gone,
        older=f"pip install '{library}{highest or f'<{before}'}'" if before else "",
        cause=cause,
    )


def bounds_of_keyword(owner: str, keyword: str) -> tuple[str, str, str]:
    """Return the library, the release that brought a keyword, and the first without it.

    Where a class repeats what its base in another library has, the base decides.
    """
    from ..modernize.history import shipped

    for known in shipped().libraries.values():
        for base in known.taken_from.get(owner, ()):
            if (found := bounds_of_keyword(base.partition(".")[2], keyword))[0]:
                return found
    return bounds_of_own(owner, keyword)


def bounds_of_own(owner: str, keyword: str) -> tuple[str, str, str]:
    """Return the same for a keyword that a class itself has."""
    from ..modernize.history import shipped

    for library, known in shipped().libraries.items():
        there = known.keywords.get(owner, {}).get(keyword)
        if there:
            return (library, *ends(known.releases, there))
    return "", "", ""


def knows_class(owner: str) -> bool:
    """Tell whether the keywords of a class are known."""
    from ..modernize.history import shipped

    return any(owner in known.keywords for known in shipped().libraries.values())


def of_unknown_keyword(owner: str, keyword: str) -> list[Answer]:
    """Say which configuration has a keyword that was given to a trainer, or one like it."""
    from difflib import get_close_matches

    from ..modernize.history import shipped

    place, values = f"{owner}({keyword}=)", {"owner": owner, "keyword": keyword}
    for library, known in shipped().libraries.items():
        if not owner or owner not in known.keywords:
            continue
        newest = known.releases[-1]
        if holder := bounds_of_keyword(owner, keyword)[0]:
            read = _read(shipped().libraries[holder])
            return [_told("keyword in all releases", place, holder, read=read)]
        beside = owner.replace("Trainer", "Config")
        if beside != owner and newest in known.keywords.get(beside, {}).get(keyword, ()):
            case = "keyword of the configuration"
            return [_told(case, place, library, beside=beside, **values)]
        inherited = shipped().keyword(f"{library}.{owner}", keyword)
        if not inherited and (home := next(_homes(owner, keyword), "")):
            return [of_another_class(owner, keyword, home, library)]
        today = [name for name, releases in known.keywords[owner].items() if newest in releases]
        if near := get_close_matches(keyword, today, n=1, cutoff=0.75):
            return [_told("keyword misspelled", place, library, near=near[0], **values)]
        if inherited == []:
            return [_told("keyword in no release", place, library, read=_read(known))]
    return []


def of_another_class(owner: str, keyword: str, home: str, library: str) -> Answer:
    """Say which class takes a setting that another one got."""
    instead = ""
    if owner.endswith("TrainingArguments") and home in ARGUMENTS_OF_TRL:
        instead = part("instead", owner=owner)
    values = {"owner": owner, "keyword": keyword, "home": home, "instead": instead}
    return _told("keyword of another class", f"{owner}({keyword}=)", library, **values)


def _homes(owner: str, keyword: str) -> Iterator[str]:
    """Yield the classes that a setting of one class may be meant for, of all libraries."""
    from ..modernize.history import shipped

    for home in (owner.replace("Config", "Trainer"), *HOMES):
        for known in shipped().libraries.values():
            if known.releases[-1] in known.keywords.get(home, {}).get(keyword, ()):
                yield home


def of_arguments(keyword: str, text: str) -> Iterator[Answer]:
    """Say whose argument a keyword is that Python names no class for, as it did before 3.10.

    Args:
        keyword: the keyword.
        text: what was pasted; a class that is called in it is the likeliest.
    """
    from ..modernize.history import shipped

    if "_" not in keyword:
        return
    owners = [
        (owner, library)
        for library, known in shipped().libraries.items()
        for owner, keywords in known.keywords.items()
        if owner[:1].isupper()
        and "." not in owner
        and known.releases[-1] in keywords.get(keyword, ())
    ]
    if not owners:
        return
    # TRL's configurations repeat fields of TrainingArguments.
    owners.sort(
        key=lambda pair: (
            not re.search(rf"\b{pair[0]}\(", text),
            pair[0] not in MOST_USED,
            pair[1] != "transformers",
        )
    )
    owner, library = owners[0]
    others = [name for name, its_library in owners[1:] if its_library == library]
    known = shipped().libraries[library]
    came, _ = ends(known.releases, known.keywords[owner][keyword])
    values = {
        "owner": owner,
        "others": f" ({', '.join(others[:3])})" if len(others) > 1 else "",
        "keyword": keyword,
        "came": came,
        "read": _read(known),
    }
    case = "keyword of arguments since" if came else "keyword of arguments"
    yield _told(case, f"{owner}({keyword}=)", library, **values)


def is_older(version: str | None, release: str) -> bool:
    """Tell whether a version is known, and before a release."""
    from packaging.version import Version

    return version is not None and is_version(version) and Version(version) < Version(release)


def titled(library: str) -> str:
    """Return how a sentence names a library, or what a model brings along."""
    return "the model's remote code" if library == REMOTE_CODE else title_of_asker(library)
