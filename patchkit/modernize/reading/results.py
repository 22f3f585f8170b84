"""Of which class the results of calls are."""

from __future__ import annotations

from collections.abc import Iterator

from . import kinship
from .script import OwnClass, ScriptCall
from .values import Library, Made, MadeMethod, Own, Several, Values

_MODEL = "transformers.PreTrainedModel"
_KEEPING = frozenset(
    {
        *("cpu", "cuda", "eval", "half", "to", "train"),
        *("cast_column", "filter", "flatten", "map", "remove_columns", "rename_column"),
        *("rename_columns", "select", "select_columns", "shuffle", "sort", "take", "with_format"),
    }
)
"""Methods that return an object of the same class, or the same object."""
_PARSING = frozenset(
    {
        "parse_args_and_config",
        "parse_args_into_dataclasses",
        "parse_dict",
        "parse_json_file",
        "parse_yaml_file",
    }
)
_UNLOADING = frozenset({"merge_and_unload", "unload"})
_PARSERS = frozenset({"transformers.HfArgumentParser", "trl.HfArgumentParser"})
_ANY = "typing.Any"


def results(value: object, call: ScriptCall) -> Values:
    """Return what a call may give."""
    if isinstance(value, MadeMethod):
        return _of_method(value, call)
    if call.own is not None:
        return (Made(call.name, call, call.own),)
    class_name = kinship.made_by(call.name, call.method)
    return (Made(class_name, call),) if class_name else ()


def _of_method(method: MadeMethod, call: ScriptCall) -> Values:
    instance = method.instance
    if method.name in _KEEPING:
        return (instance,)
    if method.name in _UNLOADING:
        return (Made(_MODEL),)
    if method.name == "train_test_split":
        return (Made(instance.class_name),)
    if method.name in _PARSING and _PARSERS & set(kinship.ancestors(instance.class_name)):
        return (Several(tuple(_parsed(instance.call))),)
    return ()


def _parsed(parser: ScriptCall | None) -> Iterator[Values]:
    """Return what comes out of a parser of command lines."""
    if parser is None:
        return
    types = parser.keywords.get("dataclass_types") or next(iter(parser.positional), None)
    for value in types.values if types else ():
        for classes in value.elements if isinstance(value, Several) else [(value,)]:
            yield tuple(made for cls in classes for made in instance_of(cls))


def instance_of(value: object) -> Values:
    """Return an object of a class; nothing if the value is not a class that is known."""
    if isinstance(value, Library):
        is_class = kinship.is_class(value.name) and value.name != _ANY
        return (Made(value.name),) if is_class else ()
    return (made_of(value.cls),) if isinstance(value, Own) and value.cls is not None else ()


def made_of(cls: OwnClass) -> Made:
    """Return an object of a class of the script's own."""
    return Made(cls.ancestors[0], own=cls)
