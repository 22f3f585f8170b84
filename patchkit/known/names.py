"""Names and keywords that a release does not have: gone, not there yet, or asked for by others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..about import shipped_table
from ..libraries import LIBRARIES
from .answer import Answer
from .history import (
    OTHERS,
    TITLES,
    always_there,
    asks_itself,
    bounds,
    bounds_of_keyword,
    has_left,
    is_gone,
    is_older,
    knows_class,
    not_yet,
    of_arguments,
    of_caller,
    of_unknown_keyword,
    of_unknown_name,
    part,
    titled,
)
from .pasted import Pasted, Raised
from .spellings import (
    KINDS,
    Installed,
    due_first,
    is_model,
    rows_below,
    rows_of,
    rows_of_alike,
    rows_of_keyword,
)

if TYPE_CHECKING:
    from ..legacy.changes import Change, Gone, Keyword, Moved
    from ..legacy.decisions import Decision

# The site finds names by the same patterns, in JavaScript.
NAME = re.compile(
    r"cannot import name ['\"`]?(\w+)['\"`]? from (?:partially initialized module )?['\"`]?([\w.]+)"
)
MODULE = re.compile(r"No module named '?([\w.]+)'?")
ATTRIBUTE = re.compile(r"module '?([\w.]+)'? has no attribute '?(\w+)'?")
KEYWORD = re.compile(r"(?:([\w.<>]+)\(\) )?got an unexpected keyword argument '?(\w+)'?")
OF_OBJECT = re.compile(r"'?(\w+)'? (?:object )?has no attribute '?(\w+)'?")
MEMBER = re.compile(r"^([A-Z]\w*)$")
"""What Python says where an enumeration has no such member."""
REFUSED_VALUE = re.compile(
    r"not a valid|[Uu]nknown|not supported|unsupported|removed|not exist|not recognized"
)
OF_PACKAGE = re.compile(
    r"transformers\.models\.\w+(?:\.(?:modeling|configuration)_\w+)?\.([A-Z]\w+)"
)
"""What a model's package has, which is written down as a name of the library itself."""
FLAGS = re.compile(
    r"(?:not used by the HfArgumentParser:|unrecognized arguments:|arguments from config file:)(.*)"
)
OWN = re.compile(
    r"([\w.]+(?:\([^()]*\))?) ((?:has been gone since|came with) [A-Za-z_]+ [\d.]*\d)([.;]) (.+)"
)
"""What the legacy layer says of an old spelling: a full stop where it refuses it."""
GONE_SINCE = re.compile(r"gone since (?P<title>\S+) (?P<gone>[\d.]*\d)\.$")
"""How a cause ends that names the first release without a name."""
FLAG, KEY = re.compile(r"--([\w-]+)"), re.compile(r"'(\w+)'")
_RUN = "patchkit run --legacy -- python SCRIPT  # runs it as it is"


def may_know(error: Raised) -> bool:
    """Tell whether an error is about a name, a module or a keyword."""
    return any(
        pattern.search(error.message)
        for pattern in (
            NAME,
            MODULE,
            ATTRIBUTE,
            OF_OBJECT,
            MEMBER,
            KEYWORD,
            FLAGS,
            REFUSED_VALUE,
            OWN,
        )
    )


def answers(
    error: Raised, pasted: Pasted, installed: Installed, *, only_table: bool = False
) -> list[Answer]:
    """Return what is known of the names that an error speaks of.

    Args:
        error: one error of the text.
        pasted: the text.
        installed: gives the version of an installed distribution.
        only_table: leave out what the table of old spellings does not have by exactly that name.
    """
    if told := OWN.search(error.message):
        return [_of_own(*told.groups())]
    found: list[Answer] = []
    for module, name in _places(error.message):
        place = f"{module}.{name}" if name else module
        in_table = module.partition(".")[0] in OTHERS or rows_of(place)
        if not only_table or in_table or ("." in place and rows_below(place)):
            found += _of_name(place, error, pasted, installed)
    for owner, keyword in KEYWORD.findall(error.message):
        cls = _class_of(owner)
        if not only_table or rows_of_keyword(cls, keyword):
            said = _of_keyword(cls, keyword, error, pasted, installed)
            asks = error.frames[-1].library if error.frames else ""
            known = not (cls or only_table) and (not asks or asks in LIBRARIES)
            found += said or (of_arguments(keyword, pasted.text) if known else [])
    for owner, attribute in OF_OBJECT.findall(error.message):
        found += _of_attribute(owner, attribute, error)
    for member in MEMBER.findall(error.message) if error.name == "AttributeError" else ():
        found += _of_attribute("", member, error)
    for flags in FLAGS.findall(error.message):
        written = FLAG.findall(flags) or KEY.findall(flags)
        own = replace(error, frames=())  # Who parses them has not written them.
        gone = [_of_keyword("", flag.replace("-", "_"), own, pasted, installed) for flag in written]
        if 2 * sum(map(bool, gone)) >= len(written):  # Else the file is of another command.
            found += [answer for said in gone for answer in said]
    if not only_table and REFUSED_VALUE.search(error.message):
        found += _of_value(error)
    return list({answer.id: answer for answer in found}.values())


def with_release(answer: Answer, error: Raised) -> Answer:
    """Return what a row says, and which release brought or lost the name that an error speaks of.

    Args:
        answer: the row's.
        error: the error that has its message.
    """
    said = " ".join((answer.cause, answer.do, *answer.write))
    for what, (library, came, gone) in _bounds_of_named(error.message):
        known = [release for release in (came, gone) if release]
        if known and not any(release.removesuffix(".0") in said for release in known):
            case = "between" if len(known) > 1 else "since" if came else "until"
            told = part(case, place=what, came=came, gone=gone, title=TITLES[library])
            return replace(answer, cause=f"{answer.cause} {told}")
    return answer


def _bounds_of_named(message: str) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Yield what a message names, with its library and the releases that brought and lost it."""
    for module, name in _places(message):
        place = f"{module}.{name}" if name else module
        library = module.partition(".")[0]
        if library in TITLES:
            yield place, (library, *bounds(place))
    for owner, keyword in KEYWORD.findall(message):
        cls = _class_of(owner)
        yield f"{cls}({keyword}=)", bounds_of_keyword(cls, keyword)
    for owner, attribute in OF_OBJECT.findall(message):
        if re.search(KINDS["TrainingArguments"], owner):
            yield f"{owner}.{attribute}", bounds_of_keyword(owner, attribute)


def _of_own(old: str, since: str, mark: str, advice: str) -> Answer:
    """Repeat what the legacy layer said of an old spelling, with where its row has it from."""
    place, _, keyword = old.partition("(")
    keyword = keyword.partition("=")[0]
    rows = rows_of_keyword(_class_of(place), keyword) if keyword else rows_of(place)
    what, _, versions = advice.partition(" Versions that have it: ")
    done = "refuses it" if mark == "." else "has done so for this run"
    do = f"{_sentence(what)} The legacy layer {done}."
    links = tuple(row.address for row in rows[:1])
    return Answer(
        old, f"`{old}` {since}.", do, tuple(filter(None, [versions])), "the script", links=links
    )


def _places(message: str) -> Iterator[tuple[str, str]]:
    for name, module in NAME.findall(message):
        yield module, name
    for module in MODULE.findall(message):
        yield module, ""
    for module, name in ATTRIBUTE.findall(message):
        yield module, name


def _class_of(owner: str) -> str:
    parts = [part for part in owner.split(".") if part not in ("__init__", "__new__", "<locals>")]
    named = [part for part in parts if part.lstrip("_")[:1].isupper()]
    return ".".join(parts[parts.index(named[-1]) :]) if named else ".".join(parts[-1:])


def _imported(module: str, pasted: Pasted) -> list[Moved | Gone]:
    """Return the rows of the table for the names that a line of the text imports from a module."""
    imports = re.findall(rf"\bfrom {re.escape(module)}[\w.]* import ([\w, ()]+)", pasted.text)
    asked = set(re.findall(r"\w+", " ".join(imports)))
    if "." not in module or not asked:
        return []
    return [row for row in rows_below(module) if row.name.rpartition(".")[2] in asked]


def _of_module(place: str, gone: str) -> list[Answer]:
    """Say what took the place of what a module had, or that all releases have it."""
    from ..legacy.explanation import described
    from ..modernize.history import shipped

    below = rows_below(place) if "." in place else []
    library = place.partition(".")[0]
    if below and not gone and library in shipped().libraries:
        return [always_there(place, library)]
    known = [said for row in below if (said := described(row)) is not None]
    if not known:
        return []
    had = "; ".join(
        f"{said.old.rpartition('.')[2]}: {said.today.rstrip('.')}" for said in known[:3]
    )
    more = f"; and {len(known) - 3} more" if len(known) > 3 else ""
    since = gone and f"{TITLES.get(library, '')} {gone}"
    return [
        Answer(
            place,
            f"`{place}` has been gone since {since or known[0].gone}.",
            f"Of what it had: {had}{more}.",
            (_RUN,),
            "the script",
            links=(known[0].source,),
        )
    ]


def _of_name(place: str, error: Raised, pasted: Pasted, installed: Installed) -> list[Answer]:
    library = place.partition(".")[0]
    if library not in LIBRARIES and library not in OTHERS:
        return []  # reading the tables takes most of the time of an answer
    if told := asks_itself(place, library, error):
        return told
    came, gone = bounds(place)
    if (found := OF_PACKAGE.fullmatch(place)) and not (came or gone or rows_of(place)):
        place = f"{library}.{found[1]}"
        came, gone = bounds(place)
    version = pasted.versions.get(library) or installed(library)
    rows = due_first(rows_of(place), installed)
    gone = gone or next((row.gone.rpartition(" ")[2] for row in rows if row.gone), "")
    if not (caller := error.caller(library)) and (asked := _imported(place, pasted)):
        return [_of_row(row, error, [row]) for row in asked[:3]]
    if came and not is_gone(version, came, gone, bool(rows)):
        return [not_yet(place, came, library, version, error)]
    if rows:
        answer = _of_row(rows[0], error, rows)
        if came and version is None and rows[0].gone:
            answer = replace(
                answer,
                cause=answer.cause.rstrip(".") + part("came", title=TITLES[library], came=came),
                do=answer.do + part("upgrade", title=TITLES[library], came=came),
            )
        return [answer]
    if not caller and (below := _of_module(place, gone)):
        return below
    if gone:
        return [has_left(place, gone, library, error)]
    return of_unknown_name(place, library, version, error)


def _of_row(row: Change, error: Raised, rows: Sequence[Change], old: str = "") -> Answer:
    """Say what the legacy table has, and what the layer does about it."""
    from ..legacy.changes import Gone, Keyword, Moved, Value
    from ..legacy.decisions import decide
    from ..legacy.explanation import described
    from ..legacy.versions.version_sets import advice

    said = described(row)
    assert said is not None
    old = old or said.old
    library = row.library
    number = row.gone.partition(" ")[2]
    caller = error.caller(library) if number else ""
    if isinstance(row, Moved | Gone) and is_older(gone := bounds(row.name)[1] or None, number):
        # The layer has it for all releases up to the one that dropped the module, too.
        number, said = str(gone), replace(said, gone=f"{TITLES[library]} {gone}")
    cause = f"`{old}` has been gone since {said.gone}."
    if caller and library in TITLES:
        values = {"caller": titled(caller), "place": old, "since": said.gone}
        cause = part("asks for what is old", **values)
        return replace(of_caller(caller, old, library, number, cause), links=(said.source,))
    decision = decide(row) if isinstance(row, Keyword) else None
    meanwhile = ""
    if isinstance(row, Keyword) and decision is not None:
        said = replace(said, today=_today(row, decision, said.today))
        meanwhile = _meanwhile(row)
    if isinstance(row, Moved) and row.to.startswith("patchkit."):
        today = instead(library, row.name) or (
            f"no release has it since: keep {said.gone.partition(' ')[0]} below {number}, or run "
            "the script under patchkit's legacy layer, which has its own"
        )
        said = replace(said, today=today)
    refused = isinstance(row, Gone) or (
        (decision is not None and bool(decision.refusal)) or (isinstance(row, Value) and not row.to)
    )
    others = [other.today for one in rows[1:] if (other := described(one)) is not None]
    today = "; or ".join(
        dict.fromkeys([said.today.rstrip("."), *(one.rstrip(".") for one in others)])
    )
    do = _sentence(today) + meanwhile
    lines: tuple[str, ...] = (_RUN,)
    if refused:
        do += " The legacy layer refuses it."
        lines = tuple(filter(None, [advice(row).partition(": ")[2]]))
    return Answer(old, cause, do, lines, "the script", links=(said.source,))


def _today(keyword: Keyword, decision: Decision, advice: str) -> str:
    """Return what is written for a keyword: with its value, or the configuration that takes it."""
    from ..legacy.explanation import described, short_name

    if not decision.in_configuration:
        written = "" if decision.keeps_value else instead("values", keyword.name)
        return f"write {written}" if written and decision.to else advice
    config = _config(short_name(keyword.owners[0]))
    if bounds_of_keyword(config, decision.to)[2]:  # The configuration lost it later.
        rows = rows_of_keyword(config, decision.to)
        return next((said.today for row in rows if (said := described(row))), advice)
    return f"give it to the configuration: {config}({decision.to}=…)"


def _meanwhile(keyword: Keyword) -> str:
    """Say where a keyword of a trainer stood for some releases, before it left there, too."""
    from ..legacy.explanation import short_name

    config = _config(short_name(keyword.owners[0]))
    library, _, gone = bounds_of_keyword(config, keyword.name)
    if config in map(short_name, keyword.owners) or not gone:
        return ""
    if not is_older(keyword.gone.partition(" ")[2], gone):
        return ""
    values = {"config": config, "keyword": keyword.name}
    return part("meanwhile", title=TITLES[library], gone=gone, **values)


def _of_attribute(owner: str, attribute: str, error: Raised) -> list[Answer]:
    """Say what takes the place of an attribute that objects of a class no longer have."""
    from ..legacy.changes import Attribute
    from ..legacy.explanation import short_name
    from ..legacy.rows import rows_of_spellings
    from ..legacy.wording import release

    for row in rows_of_spellings():
        if not isinstance(row, Attribute) or row.name != attribute:
            continue
        bases = [short_name(base) for base in row.owners]
        if not owner and row.of_class:
            owner = bases[0]
        if _asks_what_it_wraps(error, row.library):
            owner = bases[0]
        if not any(owner == base or re.search(KINDS.get(base, "$^"), owner) for base in bases):
            continue
        number = row.gone.partition(" ")[2]
        cause = f"`{owner}.{attribute}` has been gone since {release(row.gone)}."
        what, links = f"{owner}.{attribute}", (row.address,)
        if number and (caller := error.caller(row.library)):
            return [replace(of_caller(caller, what, row.library, number, cause), links=links)]
        do = _sentence(row.advice)
        if row.read is None:
            do += " The legacy layer refuses it."
            return [Answer(what, cause, do, whose="the script", links=links)]
        return [Answer(what, cause, do, (_RUN,), "the script", links=links)]
    library, came, gone = bounds_of_keyword(owner, attribute)
    if not library and owner.endswith("TrainingArguments"):
        library, came, gone = bounds_of_keyword("TrainingArguments", attribute)
    if not re.search(KINDS["TrainingArguments"], owner) or not (came or gone):
        return []
    what = f"{owner}.{attribute}"
    if gone:
        return [has_left(what, gone, library, error)]
    return [not_yet(what, came, library, None, error)]


def _asks_what_it_wraps(error: Raised, library: str) -> bool:
    """Tell whether an object of a library asked the model in it, whose class the message names."""
    return any(
        frame.library == library and frame.function == "__getattr__" for frame in error.frames
    )


def _of_value(error: Raised) -> list[Answer]:
    """Say what is written today for a value that a release no longer takes."""
    from ..legacy.changes import Value
    from ..legacy.rows import rows_of_spellings

    begin = error.message.partition(" available tasks ")[0][:200]
    return [
        _of_row(row, error, [row])
        for row in rows_of_spellings()
        if isinstance(row, Value)
        and row.value
        and re.search(rf"(?<![\w-]){re.escape(row.value)}(?![\w-])", begin)
    ]


def instead(library: str, place: str) -> str:
    """Say what to write for a name that no release has any more; an empty text if nobody knows.

    Args:
        library: as it is imported.
        place: the name, with dots.
    """
    tables: dict[str, dict[str, str]] = shipped_table("known/instead.json")
    return tables.get(library, {}).get(place.rpartition(".")[2], "")


def _sentence(text: str) -> str:
    """Return a text as a sentence; code at its beginning stays as it is."""
    word = text.partition(" ")[0]
    begin = text[:1].upper() if word.isalpha() else text[:1]
    return f"{begin}{text[1:].rstrip('.')}."


def _config(trainer: str) -> str:
    return "TrainingArguments" if trainer == "Trainer" else trainer.replace("Trainer", "Config")


def _of_keyword(
    owner: str, keyword: str, error: Raised, pasted: Pasted, installed: Installed
) -> list[Answer]:
    from ..legacy.explanation import short_name

    library, came, gone = bounds_of_keyword(owner, keyword)
    of_owner = rows_of_keyword(owner, keyword)
    if is_model(owner) and error.caller("transformers") == "trl":
        error = replace(error, frames=())  # It hands on what the script has in model_init_kwargs.
    rows = of_owner or ([] if came or gone else rows_of_alike(owner, keyword))
    version = pasted.versions.get(library) or installed(library) if library else None
    what = f"{owner}({keyword}=)"
    if came and (
        is_older(version, came) or not (of_owner or is_gone(version, came, gone, has_row=False))
    ):
        return [not_yet(what, came, library, version, error)]
    if rows and not of_owner and knows_class(owner):
        its = short_name(rows[0].owners[0])
        if not owner.endswith("TrainingArguments"):
            return of_unknown_keyword(owner, keyword)
        answer = _of_row(rows[0], error, rows[:1], f"{its}({keyword}=)")
        cause = answer.cause.rstrip(".") + part("never", owner=owner)
        do = answer.do + part("arguments", its=its, owner=owner)
        return [replace(answer, cause=cause, do=do)]
    if rows:
        return [_of_row(rows[0], error, rows[:1], f"{owner}({keyword}=)" if owner else "")]
    if gone:
        return [has_left(what, gone, library, error)]
    return of_unknown_keyword(owner, keyword)
