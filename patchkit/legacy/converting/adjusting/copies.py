"""Copies of the libraries' own methods in a script, which today's callers call otherwise."""

from __future__ import annotations

import ast
import dis
import inspect
import sys
from collections.abc import Callable, Iterator
from textwrap import dedent
from types import FrameType, FunctionType
from typing import Any

from ....whose import Whose, owner_of_class, owner_of_function
from ...changes import Adjusted, Copied
from ...guarding.classes import functions_of, library_class, own_classes, own_methods
from ...uses import RecordedPlace
from ...versions.releases import first_unlike
from ..call import OldCall, Surroundings

_METHOD = "forward"
_LAYERS = "transformers.models."
_MODEL = "PreTrainedModel"
_CONSTRUCTOR = "__init__"


def layers_with(parameter: str, call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Refuse a model with copies of layers' methods in it that have a parameter which went."""
    _refuse_copies(call, row, lambda copy, today: parameter in copy - today)


def layers_without(
    parameter: str, call: OldCall, row: Adjusted, surroundings: Surroundings
) -> None:
    """Refuse a model with copies of layers' methods in it that lack a parameter which came."""
    _refuse_copies(call, row, lambda copy, today: parameter in today - copy)


def _refuse_copies(
    call: OldCall, row: Adjusted, is_older: Callable[[set[str], set[str]], bool]
) -> None:
    copies = list(_copies(call.arguments.get("model")))
    if any(_MODEL in (base.__name__ for base in cls.__mro__) for cls, _ in copies):
        return  # the script's own model calls its own layers
    for cls, copy in copies:
        names, today = set(inspect.signature(copy).parameters), _todays(cls)
        is_layer = Copied.taken_by_layers in names & today
        if is_layer and is_older(names, today) and not _hands_on(copy):
            old = f"the {cls.__name__}.{_METHOD} that {copy.__qualname__} is a copy of"
            raise call.refuse(row, old, Copied.refusal, RecordedPlace.of_function(copy))


def _copies(model: Any) -> Iterator[tuple[type, FunctionType]]:
    """Yield methods of the user's own in the layers of a model, with the library's class."""
    seen: set[object] = set()
    for module in model.modules() if hasattr(model, "modules") else ():
        method = getattr(module, _METHOD, None)
        copy = inspect.unwrap(getattr(method, "__func__", method)) if method else None
        cls = library_class(type(module))
        if not isinstance(copy, FunctionType) or copy in seen or cls is None:
            continue
        seen.add(copy)
        if owner_of_function(copy).whose is Whose.USER and cls.__module__.startswith(_LAYERS):
            yield cls, copy


def _todays(cls: type) -> set[str]:
    """Return the parameters of a method as the library's file has it."""
    owner = next((base for base in cls.__mro__ if _METHOD in vars(base)), cls)
    try:
        tree = ast.parse(dedent(inspect.getsource(owner)))
    except (OSError, TypeError, SyntaxError):
        return set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == _METHOD:
            return {each.arg for each in (*node.args.args, *node.args.kwonlyargs)}
    return set()


def _hands_on(copy: FunctionType) -> bool:
    """Tell whether a method calls the library's own, so that it is no copy."""
    known = inspect.getclosurevars(copy)
    values = (*known.nonlocals.values(), *known.globals.values())
    return "super" in copy.__code__.co_names or any(
        isinstance(value, FunctionType) and value.__name__ == _METHOD for value in values
    )


def copied_constructor(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Refuse a trainer whose constructor is a copy of an older one of TRL's, and skips today's."""
    cls = type(call.instance)
    bases = (library_class(cls) or object).__mro__
    base = next(each for each in bases if _CONSTRUCTOR in vars(each))
    owner, copy = next(own_methods(cls, _CONSTRUCTOR), (None, None))
    if copy is None or owner is base or owner_of_class(base).name != row.library:
        return
    if call.method.owner.__module__ == base.__module__ or _is_running(base):
        return
    unset = _attributes(inspect.unwrap(vars(base)[_CONSTRUCTOR]), "STORE_ATTR")
    unset &= {name for each in functions_of(base) for name in _attributes(each, "LOAD_ATTR")}
    for owner in own_classes(cls):
        for function in functions_of(owner):
            unset -= _attributes(function, "STORE_ATTR")
    unset = {name for name in unset - vars(call.instance).keys() if not hasattr(cls, name)}
    first = first_unlike(f"{row.library}.{base.__name__}", inspect.signature(copy).parameters)
    if first and unset and surroundings.due.is_due(f"{row.library} {first}"):
        old = f"the {base.__name__}.{_CONSTRUCTOR} that {copy.__qualname__} is a copy of"
        instead = f"Call super().{_CONSTRUCTOR}(…), which sets {min(unset)} for today's methods."
        place = RecordedPlace.of_function(copy)
        raise call.refuse(row.replaced(gone=f"{row.library} {first}"), old, instead, place)


def _is_running(base: type) -> bool:
    """Tell whether the constructor of a library's class is being carried out."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        is_module = frame.f_globals.get("__name__") == base.__module__
        if is_module and frame.f_code.co_name == _CONSTRUCTOR:
            return True
        frame = frame.f_back
    return False


def _attributes(function: FunctionType, operation: str) -> set[str]:
    """Return the names of the attributes that a function reads or sets."""
    found = dis.get_instructions(function)
    return {str(each.argval) for each in found if each.opname == operation}
