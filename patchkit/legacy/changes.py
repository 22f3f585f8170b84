"""A change of a library's public interface, as plain data: the rows of the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from .plain import NOTHING, PlainData

_HOME = "https://github.com/huggingface"
# The call is a `call.OldCall`, whose module needs this one.
Converter = Callable[[Any, Any], Mapping[str, Any]]
"""Takes the old value and the call; returns what to pass by current keywords."""
Adjuster = Callable[[Any, Any, Any], None]
"""Takes a call, the row and `Surroundings`; changes arguments that would raise, and no others."""

Around = Callable[[Any, Any, Callable[[], Any]], Any]
"""Takes a call, the row, and a function that makes the call; returns the result."""


def notes(release: str) -> str:
    """Return the address of the notes on a release.

    Args:
        release: the library and the release: `trl 0.13.0`.
    """
    library, _, number = release.partition(" ")
    return f"{_HOME}/{library}/releases/tag/v{number}"


def file_of(release: str, path: str) -> str:
    """Return the address of a file as it is in a release.

    Args:
        release: the library and the release: `trl 0.13.0`.
        path: the file, in the library's repository.
    """
    library, _, number = release.partition(" ")
    return f"{_HOME}/{library}/blob/v{number}/{path}"


class Change(PlainData, kw_only=True):
    """One change of the public interface.

    Args:
        gone: the library, and its first release without the old spelling: `trl 0.12.0`. The library
            alone if it takes both spellings, and only older releases lack the new one.
        since: the same for the first release that has the new spelling; empty if none has.
        source: the address of a migration guide, a pull request, or the notes on another release
            than that in `gone`; empty for the notes on that release.
    """

    gone: str
    since: str = ""
    source: str = ""

    @property
    def library(self) -> str:
        return self.gone.partition(" ")[0]

    @property
    def is_understood(self) -> bool:
        """Whether the newest release takes the old spelling, too."""
        return self.gone == self.library

    @property
    def address(self) -> str:
        """The address of the page that shows the change."""
        return self.source or notes(self.gone)


class Alike(PlainData):
    """What does the same with other defaults.

    Args:
        to: its place, with dots.
        order: its arguments by position.
        given: old defaults that calls have to give, as source.
        without: arguments that say nothing there, as `name=value`.
    """

    to: str
    order: tuple[str, ...]
    given: Mapping[str, str]
    without: tuple[str, ...] = ()


class Moved(Change, kw_only=True):
    """A module, or a name in one, that has moved.

    Args:
        name: its old place, with dots: `trl.ORPOTrainer`, `transformers.deepspeed`.
        to: its current place. Below `patchkit.legacy.replacements` is patchkit's own, which scripts
            import from `patchkit.replacements`.
        differs: how it behaves differently there; empty if it does not.
        wrapped: the function by which the layer lets what is there behave as before, with dots;
            empty if it need not.
        read: what scripts read of its results that are today what was read, as `.mid.fmeasure`.
        otherwise: what to do where they read other parts of that, as the end of a sentence.
        alike: what scripts can call in its place, with the old defaults; None if nothing is so.
        idle: whether calls of it do nothing, so that a script can do without.
        member: a function, with dots, that is the member of that name of a class today.
    """

    name: str
    to: str
    differs: str = ""
    wrapped: str = ""
    read: str = ""
    otherwise: str = ""
    alike: Alike | None = None
    idle: bool = False
    member: str = ""


class Form(PlainData):
    """A meaning that a name had up to some release.

    Args:
        before: the first release in which it no longer had this meaning: `trl 0.12.0`.
        what: the meaning, in a few words; empty if there was only one.
        also: further requirements, as for pip.
    """

    before: str
    what: str = ""
    also: str = ""


class Gone(Change, kw_only=True):
    """A name that has no counterpart.

    Args:
        name: its old place, with dots.
        instead: a sentence that says what takes its place, or that nothing does.
        forms: its meanings; empty if there was only one.
    """

    name: str
    instead: str
    forms: tuple[Form, ...] = ()


class Rename(PlainData):
    """The same value has another keyword, `to`."""

    to: str


class Configure(PlainData):
    """The value belongs to the trainer's configuration; None meant that no value was given.

    Args:
        to: its field. A field that has changed, too, has a row of its own.
        convert: gives the fields and their values where they differ from the keyword and its
            value; it is called with None, too.
        written: the source of the field's value where the old one is known only when the script
            runs, with `{value}` for that; empty if a person must decide.
    """

    to: str
    convert: Converter | None = None
    written: str = "{value}"


class Convert(PlainData):
    """Another keyword with another value means the same.

    Args:
        to: the current keywords, for messages.
        convert: gives their values; raises `LegacyError` with a sentence that says
            what to do if there are none.
        alike: whether `to` is a single keyword that takes nearly all values unchanged, so that the
            layer can pass them to an older release by the old keyword.
        written: the source of the current value where the old one is known only when the script
            runs, with `{value}` for that, and names of libraries with dots in braces; empty if a
            person must decide.
        overruled: whether a value of `to` beside it that is true counted instead.
    """

    to: str
    convert: Converter
    alike: bool = False
    written: str = ""
    overruled: bool = False


class SetVariable(PlainData):
    """An environment variable holds the value; None meant that no value was given.

    Args:
        beside: keywords that name who reads the variable, with values of which one must be named;
            if such a keyword is given, and names none of them, nothing depends on the value.
    """

    variable: str
    beside: Mapping[str, tuple[str, ...]] = NOTHING


class Drop(PlainData):
    """Nothing depends on the value today.

    Args:
        because: why, as the end of a sentence.
        unless: tells values that did matter, which are refused.
        instead: what to do about these.
        switches: keywords of the same call; such a value did nothing where the first is False and
            no other is true.
    """

    because: str
    unless: Callable[[Any], bool] | None = None
    instead: str = ""
    switches: tuple[str, ...] = ()


class Refuse(PlainData):
    """No current keyword means the same; `instead` is a sentence that says what to do."""

    instead: str


class Keep(PlainData):
    """The configuration keeps the value, and a `Behaviour` of another method applies it.

    Args:
        to: the attribute of the configuration.
        advice: what to write instead, as `write …`.
        by: with dots, the function that makes a trainer's class which applies the value without the
            layer; empty if nothing depends on it.
        alone: whether the value means something without others.
    """

    to: str
    advice: str
    by: str = ""
    alone: bool = True


Action = Rename | Configure | Convert | SetVariable | Drop | Refuse | Keep


class Owned(Change, kw_only=True):
    """A change of classes or their methods.

    Args:
        owners: the public names of the classes; the row is also for their subclasses. For a method,
            its name follows: `transformers.PreTrainedModel.from_pretrained`.
    """

    owners: tuple[str, ...]


class Keyword(Owned, kw_only=True):
    """A keyword of a class or function, or a field of a configuration.

    Args:
        name: the old keyword.
        action: what to do with its value.
        early: whether the installed release is the older one, and `name` is the newer keyword.
    """

    name: str
    action: Action
    early: bool = False


class Value(Owned, kw_only=True):
    """A value of a keyword that has another spelling today, or no counterpart.

    Args:
        name: the keyword.
        value: the old value.
        to: the current value; an empty text if there is none.
        instead: if there is none, a sentence that says what to do.
    """

    name: str
    value: str | None
    to: str | float = ""
    instead: str = ""


class Order(Owned, kw_only=True):
    """The order of positional arguments has changed.

    Args:
        order: the old order, by the old keywords.
        today: the order since then, as far as it matters.
    """

    order: tuple[str, ...]
    today: tuple[str, ...] = ()


class OwnConfiguration(PlainData):
    """A trainer takes a configuration of its own class.

    Args:
        accepted: classes that it converts to its own without help, in all releases.
    """

    accepted: Mapping[str, str] = NOTHING


class LeftOut(PlainData):
    """An argument that repeats what another one holds.

    Args:
        keyword: the argument.
        beside: the other one; the same where it is what the method makes where none is given.
        made_by: the functions that put it there, or classes that load it, with dots.
        because: why it goes; empty if it is gone.
        own: what one of the script's own, which pads what it gets, has to do about it; `{since}`
            is the release.
    """

    keyword: str
    beside: str
    made_by: tuple[str, ...]
    because: str = ""
    own: str = ""


class Wrapped(PlainData):
    """A function that returns a list for a batch, and is to return one value for a row.

    Args:
        keyword: the argument.
        written: the function for a row, as source, with `{value}` for the other.
        written_of_row: the same if that returns a list with the value of one row.
        unless: what else the script has to do if the text does not show its rows.
        columns: columns of rows that are used in place of what the function returns.
        datasets: the arguments that are datasets.
        mapped: what to write for a dataset with such columns, with `{value}` for the function and
            `{rows}` for the dataset.
        of_row: the same for a function that returns a text for a row.
    """

    keyword: str
    written: str
    written_of_row: str
    unless: str
    columns: tuple[str, ...]
    datasets: tuple[str, ...]
    mapped: str
    of_row: str


class Parameters(PlainData):
    """A method that scripts override, and that is now called with more arguments.

    Args:
        more: the new parameters, with defaults, as source.
        first: a statement at its beginning, as source; empty if it needs none.
        after: the parameters that come before them.
        attribute: a release, and an attribute of the class, as source, that says as much as `first`
            from that release on.
    """

    more: tuple[str, ...]
    first: str = ""
    after: tuple[str, ...] = ()
    attribute: tuple[str, str] | None = None


class Uncalled(PlainData):
    """A method that scripts override, and that nothing calls today.

    Args:
        instead: a sentence that says what to do.
    """

    instead: str

    @property
    def refusal(self) -> str:
        return f"No trainer calls it. {self.instead}"


class Copied(PlainData):
    """A parameter by which a script's copy of a method of a layer is known.

    Args:
        parameter: its name; today nobody gives it.
    """

    parameter: str
    refusal: ClassVar[str] = "Copy it from the installed release, and change that."
    taken_by_layers: ClassVar[str] = "hidden_states"
    """Methods without this parameter are none of a layer."""


class OtherParameter(PlainData):
    """Methods that scripts override, and that now get a value by another name.

    Args:
        methods: how their names begin.
        name: the old name.
        to: the new one.
    """

    methods: str
    name: str
    to: str


class Columns(PlainData):
    """Columns of a dataset that have other names.

    Args:
        names: maps the old ones to the new ones.
        batch: what a batch has in the place of an old one, as source behind its name.
    """

    names: Mapping[str, str]
    batch: Mapping[str, str] = NOTHING


class OneColumn(PlainData):
    """An old keyword names the column to use; trainers now also use others of the dataset.

    Args:
        keyword: the keyword, of the trainer.
        datasets: the arguments that are datasets.
        unless: an argument with which no column is used.
        known: the column to use of well-known datasets, by the name that scripts load them by.
    """

    keyword: str
    datasets: tuple[str, ...]
    unless: str
    known: Mapping[str, str] = NOTHING


class AtMost(PlainData):
    """A method takes fewer arguments by position, and nothing needs the others.

    Args:
        positional: those that it takes.
    """

    positional: tuple[str, ...]


class GivenToo(PlainData):
    """An argument that has to be given beside another one.

    Args:
        keyword: the argument.
        source: its value.
        beside: the other one, unless it is false.
    """

    keyword: str
    source: str
    beside: str


class Inner(PlainData):
    """An argument that is to be a part of what it is.

    Args:
        keyword: the argument.
        positional: the names of the first arguments, up to it.
        made_by: the functions that make the whole, or classes that load it, with dots.
        written: the part, as source, with `{value}` for the whole.
        because: why.
    """

    keyword: str
    positional: tuple[str, ...]
    made_by: tuple[str, ...]
    written: str
    because: str


class Listed(PlainData):
    """A column of rows, which was a list.

    Args:
        written: what to write for a column, as source, with `{value}` for it.
        functions: other functions that take lists alone, with dots.
        parts: beginnings of the names by which rows are taken, and no column.
    """

    written: str
    functions: tuple[str, ...]
    parts: tuple[str, ...]


InSource = (
    OwnConfiguration
    | LeftOut
    | Wrapped
    | Parameters
    | Uncalled
    | Copied
    | OtherParameter
    | Columns
    | OneColumn
    | GivenToo
    | AtMost
    | Inner
    | Listed
)


class OtherResults(PlainData):
    """When a call gives other results than in older releases, as far as its text shows.

    Args:
        told: the difference, as the end of a sentence that begins with the call.
        unless: keywords with which, and with another value than None, the results are the same.
        but: keywords and values with which they are the same.
        only: keywords and values without which they are the same; one of them is enough. Several
            values of a keyword are in a tuple; a function's first argument counts as that keyword.
        given: the same for keywords with any value.
        unless_set: attributes with which they are the same, if the script sets them on any object.
        unless_own: methods, and a parameter that they have today; if the script has its own such
            method, without that parameter, the row of the method is about these results.
        listed: keywords of other calls, and what their lists have, without which they are the same.
        raises: whether it is an error for most objects, so that a person must see to it.
        for_ids: the keyword that is false where a script reads the result as ids alone.
        of_older: whether a script without other old spellings may mean what it gives.
        decoded: the same as `told` for a call that decodes the predictions as they come.
        named: parts of names, or environment variables; without one of them in the script, the
            results are the same.
        unnamed: environment variables with one of which they are the same.
        constructed: for a class that scripts derive from, a method that their constructors called,
            and the one that they have to call.
        made: ends of the names of what made an argument, or what that was made of; without one of
            these, the results are the same.
        made_with: the same for a keyword and a value that an argument was made with.
        positional: the names of the first arguments, where scripts give them without.
        write: keywords and values that give the old results.
    """

    told: str
    unless: tuple[str, ...] = ()
    but: Mapping[str, object] = NOTHING
    only: Mapping[str, object] = NOTHING
    given: tuple[str, ...] = ()
    unless_set: tuple[str, ...] = ()
    unless_own: Mapping[str, object] = NOTHING
    listed: Mapping[str, object] = NOTHING
    raises: bool = False
    for_ids: str = ""
    of_older: bool = False
    decoded: str = ""
    named: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    constructed: Mapping[str, object] = NOTHING
    made: tuple[str, ...] = ()
    made_with: Mapping[str, object] = NOTHING
    positional: tuple[str, ...] = ()
    write: Mapping[str, object] = NOTHING


class Adjusted(Owned, kw_only=True):
    """A combination of arguments that worked, and is an error today.

    Args:
        name: the combination, in a few words.
        adjust: repairs it in a call.
        in_source: what a script has to write instead; None if its text does not show that.
        early: whether it is the older releases, those before `since`, that do not understand it.
        concerns: tells from the arguments whether a call may have it, where calls are many; None if
            any may.
    """

    name: str
    adjust: Adjuster
    in_source: InSource | None = None
    early: bool = False
    concerns: Callable[[Sequence[Any], Mapping[str, Any]], bool] | None = None


class Attribute(Owned, kw_only=True):
    """An attribute that scripts read, or a method that they call, and that objects lack today.

    Args:
        name: the attribute.
        read: takes the object; returns the value. None for a method that has no counterpart.
        advice: what to write instead; for such a method, a sentence that says what to do.
        written: the source that does so, with `{object}` for the object; empty if a person must
            decide.
        of_class: whether the class itself has it, as an enumeration has its members.
        is_method: where `read` is None, whether it is refused as it is called, not as it is read.
        differs: whether it is a property today, with another value.
        is_unmistakable: whether a script that names it surely means one of these objects.
        context: for a method that made a context, what stands in its block today: a keyword with
            `=` for what is handed to the object, or a source with `{object}` for the object.
    """

    name: str
    read: Callable[[Any], Any] | None
    advice: str
    written: str = ""
    of_class: bool = False
    is_method: bool = True
    differs: bool = False
    is_unmistakable: bool = False
    context: str = ""

    @property
    def is_refused_method(self) -> bool:
        """Whether it is a method that is refused as it is called."""
        return self.read is None and self.is_method


class Assigned(Owned, kw_only=True):
    """An attribute that scripts set, and that takes another value today.

    Args:
        name: the attribute, which is a property today.
        convert: takes the object and the value that a script sets; returns the current value.
        advice: what to write instead.
        beside: the attribute of the model that has it today, where `config` had it.
    """

    name: str
    convert: Callable[[Any, Any], Any]
    advice: str
    beside: str = ""


class Default(Owned, kw_only=True):
    """A default that changed while the name stayed; `gone` is the first release with the last one.

    Args:
        name: the keyword.
        values: the release from which on each value was the default, oldest first, and the value.
            Where an absent keyword stood for a value, that is the value.
        needs: another keyword, without which this one means nothing; empty if there is none.
        unless: another keyword, with which this one has its old value; empty if there is none.
        quiet: no line is printed, as results differ only in rounding, or for few scripts.
        kept: there is no such keyword today; it has a row with `Keep`.
    """

    name: str
    values: tuple[tuple[str, Any], ...]
    needs: str = ""
    unless: str = ""
    quiet: bool = False
    kept: bool = False


class Behaviour(Owned, kw_only=True):
    """A call that raises no error, and gives other results than in older releases.

    Args:
        name: the difference, in a few words.
        around: makes the call, and prints the difference or restores the old behaviour.
        silent: which calls it concerns; None if their text does not show that.
    """

    name: str
    around: Around
    silent: OtherResults | None = None
