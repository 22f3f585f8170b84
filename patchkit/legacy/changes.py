"""A change of a library's public interface, as plain data: what `table/` consists of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

# The call is a `call.Call`, which is made of rows.
Converter = Callable[[Any, Any], Mapping[str, Any]]
"""Takes the old value and the call; returns what to pass by today's keywords."""
Adjuster = Callable[[Any, Any, Any], None]
"""Takes a call, the row and `Surroundings`; changes what would raise, and nothing else."""

Meeting = Callable[[Any, Any, Callable[[], Any]], Any]
"""Takes a call, the row, and a function that carries the call out; returns the result."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Change:
    """One change of the public interface.

    None of the classes here compares by value: making those comparisons takes time with each
    import, and nobody asks.

    Args:
        gone: the library, and its first release without the old spelling: `trl 0.12.0`.
        since: the same for the first release that has the new spelling; empty if none has.
        source: the address of the release note, migration guide or source file that shows it.
    """

    gone: str
    since: str = ""
    source: str

    @property
    def library(self) -> str:
        return self.gone.partition(" ")[0]


@dataclass(frozen=True, kw_only=True, eq=False)
class Moved(Change):
    """A module, or a name in one, that is found elsewhere today.

    Args:
        name: its old place, with dots: `trl.ORPOTrainer`, `transformers.deepspeed`.
        to: where it is today. Below `patchkit.legacy.written` it was written anew.
        differs: what is otherwise than it was; empty if nothing is.
    """

    name: str
    to: str
    differs: str = ""


@dataclass(frozen=True, eq=False)
class Form:
    """What a name stood for, up to some release.

    Args:
        before: the first release in which it stood for that no more: `trl 0.12.0`.
        what: the form, in a few words; empty if there was only one.
        also: what else must be installed, as for pip.
    """

    before: str
    what: str = ""
    also: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Gone(Change):
    """A name that has no counterpart.

    Args:
        name: its old place, with dots.
        instead: a sentence that says what takes its place today, or that nothing does.
        forms: what it stood for; empty if that was always the same.
    """

    name: str
    instead: str
    forms: tuple[Form, ...] = ()


@dataclass(frozen=True, eq=False)
class Rename:
    """The same value has another keyword.

    Args:
        to: the keyword of today.
    """

    to: str


@dataclass(frozen=True, eq=False)
class Configure:
    """The value belongs to the trainer's configuration; None meant that none was given.

    Args:
        to: its field. A field that has changed in its turn has a row of its own.
        convert: gives the fields and their values where they differ from the keyword and its
            value; it is called with None, too.
    """

    to: str
    convert: Converter | None = None


@dataclass(frozen=True, eq=False)
class Convert:
    """Another keyword says it with another value.

    Args:
        to: the keywords of today, for messages.
        convert: gives their values; raises `LegacyError` if there are none.
        alike: whether `to` is a single keyword and means the same for nearly all values, so that
            an older release can be given them by the old keyword.
    """

    to: str
    convert: Converter
    alike: bool = False


@dataclass(frozen=True, eq=False)
class Environment:
    """An environment variable says it; None meant that none was given.

    Args:
        variable: its name.
    """

    variable: str


@dataclass(frozen=True, eq=False)
class Drop:
    """Nothing depends on the value any more.

    Args:
        because: why, as the end of a sentence.
        unless: values that did matter; they are refused.
        instead: for these, what to do.
    """

    because: str
    unless: Callable[[Any], bool] | None = None
    instead: str = ""


@dataclass(frozen=True, eq=False)
class Refuse:
    """No keyword of today says it.

    Args:
        instead: a sentence that says what to do.
    """

    instead: str


@dataclass(frozen=True, eq=False)
class Keep:
    """The configuration keeps the value, and a `Behaviour` of another method sees to it.

    Args:
        to: the attribute of the configuration.
        advice: what to write instead, as `write …`.
    """

    to: str
    advice: str


Action = Rename | Configure | Convert | Environment | Drop | Refuse | Keep


@dataclass(frozen=True, kw_only=True, eq=False)
class Owned(Change):
    """A change that is about classes or their methods.

    Args:
        owners: the public names of the classes; their subclasses are meant, too. For a method, its
            name follows: `transformers.PreTrainedModel.from_pretrained`.
    """

    owners: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Keyword(Owned):
    """A keyword of a class or function, or a field of a configuration.

    Args:
        name: the old keyword.
        action: what becomes of its value.
        early: whether the installed release is the older one, and `name` is a keyword of today.
    """

    name: str
    action: Action
    early: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Value(Owned):
    """A value of a keyword that is spelled otherwise today, or that has no counterpart.

    Args:
        name: the keyword.
        value: the old value.
        to: the value of today; empty if there is none.
        instead: if there is none, a sentence that says what to do.
    """

    name: str
    value: str | None
    to: str = ""
    instead: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Order(Owned):
    """The order of positional arguments was another.

    Args:
        order: the old order, by the keywords of that time.
    """

    order: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Adjusted(Owned):
    """A combination of arguments that was taken, and is an error today.

    Args:
        name: what is adjusted, in a few words.
        adjust: repairs it where it is met.
    """

    name: str
    adjust: Adjuster


@dataclass(frozen=True, kw_only=True, eq=False)
class Attribute(Owned):
    """An attribute that scripts read, and that is found elsewhere today.

    Args:
        name: the attribute.
        read: takes the object; returns the value.
        advice: what to write instead.
    """

    name: str
    read: Callable[[Any], Any]
    advice: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Default(Owned):
    """A default that changed while the name stayed; `gone` is the first release with the last one.

    Args:
        name: the keyword.
        values: the release from which on each value was the default, oldest first, and the value.
            Where an absent keyword stood for a value, that is the value.
        needs: another keyword, without which this one means nothing; empty if there is none.
        quiet: nobody has to be told, as results differ in rounding, or for few.
        kept: today there is no such keyword; it has a row with `Keep`.
    """

    name: str
    values: tuple[tuple[str, Any], ...]
    needs: str = ""
    quiet: bool = False
    kept: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Behaviour(Owned):
    """A call that is understood as ever, and gives other results than it did.

    Args:
        name: what is otherwise, in a few words.
        meet: carries the call out: tells of it, or gives back what was.
    """

    name: str
    meet: Meeting
