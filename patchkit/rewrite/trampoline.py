"""Compile code that hands a function's calls to wrappers, to replace the function's own code.

The function stays the same object: all references, subclasses, pickles and signatures stay as they
are, which no proxy around it can offer.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any, NamedTuple

from .errors import Drift

Wrapper = Callable[[Callable[..., Any], Any, tuple[Any, ...], dict[str, Any]], Any]
"""Called with the wrapped callable, the instance it is bound to or None, and the arguments."""

_POSITIONAL_REST, _NAMED_REST = 0x04, 0x08
_GENERATOR, _COROUTINE, _ASYNC_GENERATOR = 0x20, 0x80, 0x200
_SITE = "<patchkit: where the wrappers stand>"


class Around(NamedTuple):
    """A wrapper that an owner puts around a function, which may be bound."""

    owner: str
    wrapper: Wrapper
    qualname: str
    bound: bool


def can_carry(function: FunctionType) -> bool:
    """Tell whether a trampoline can stand in for a function.

    It returns what the wrappers return, so it would hide that a function is a generator or a
    coroutine.
    """
    return not function.__code__.co_flags & (_GENERATOR | _COROUTINE | _ASYNC_GENERATOR)


def trampoline(
    template: CodeType,
    function: Callable[[], FunctionType | None],
    code: CodeType,
    around: Sequence[Around],
) -> CodeType:
    """Return code with the signature of a function that calls its wrappers.

    Args:
        template: what `jump_template` made for the function.
        function: returns the function, whose closure the innermost call has.
        code: the code that the innermost call runs.
        around: the wrappers, innermost first.
    """
    site = Landing(function, code, tuple(around))
    consts = tuple(site if const == _SITE else const for const in template.co_consts)
    return template.replace(co_consts=consts, co_filename=code.co_filename)


def jump_template(code: CodeType) -> CodeType:
    """Compile code with the signature of a function, which lacks only the place that it jumps to.

    Raises:
        Drift: such a function cannot be wrapped in this way.
    """
    named = code.co_varnames[: code.co_argcount]
    only = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    rest = list(code.co_varnames[len(named) + len(only) :])
    positional = list(named)
    parameters = [*named[: code.co_posonlyargcount]]
    parameters += ["/"] if parameters else []
    parameters += named[code.co_posonlyargcount :]
    if code.co_flags & _POSITIONAL_REST:
        parameters.append(f"*{rest[0]}")
        positional.append(f"*{rest.pop(0)}")
    elif only:
        parameters.append("*")
    parameters += only
    keywords = [f"{name!r}: {name}" for name in only]
    if code.co_flags & _NAMED_REST:
        parameters.append(f"**{rest[0]}")
        keywords.append(f"**{rest[0]}")
    arguments = "".join(f"{name}, " for name in positional)
    call = f"{_SITE!r}.call(({arguments}), {{{', '.join(keywords)}}})"
    # Naming them makes the code close over the same variables as the original.
    closes = f" if 1 else ({', '.join(code.co_freevars)},)" if code.co_freevars else ""
    header = f"def {code.co_name}({', '.join(parameters)}):"
    outer = f"def _({', '.join(code.co_freevars)}):\n  {header} return {call}{closes}\n"
    try:
        module = compile(outer, code.co_filename, "exec", dont_inherit=True)
    except SyntaxError as error:
        raise Drift(f"{code.co_name} cannot be wrapped: {error}") from error
    jump = _inner(_inner(module))
    if jump.co_freevars != code.co_freevars:
        raise Drift(f"{code.co_name} cannot be wrapped: it closes over {code.co_freevars}")
    jump = jump.replace(co_firstlineno=code.co_firstlineno)
    if sys.version_info >= (3, 11):
        jump = jump.replace(co_qualname=code.co_qualname)
    return jump


def _inner(code: CodeType) -> CodeType:
    return next(const for const in code.co_consts if isinstance(const, CodeType))


class Landing:
    """The landing place of a trampoline.

    Args:
        function: the function; held weakly, since its code holds this, and the collector of
            garbage does not look into code.
        code: the code that the innermost call runs.
        around: the wrappers, innermost first.
    """

    def __init__(
        self,
        function: Callable[[], FunctionType | None],
        code: CodeType,
        around: tuple[Around, ...],
    ) -> None:
        self._function = function
        self._code = code
        self._around = around

    def __reduce__(self) -> tuple[Any, ...]:
        # For a function that is pickled by value, with the class that it belongs to.
        return Landing, (_nothing, self._code, self._around)

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the wrappers around the function."""
        inner: Callable[..., Any] = self._inner_function()
        around = self._around
        if not around[0].bound:
            for piece in around:
                inner = _with_wrapper(piece.wrapper, inner, None)
            return inner(*args, **kwargs)
        if not args:
            return inner(**kwargs)
        instance, *others = args
        # A method may be called with None as its instance, which a bound method refuses.
        inner = partial(inner, None) if instance is None else MethodType(inner, instance)
        if len(around) == 1:
            return around[0].wrapper(inner, instance, tuple(others), kwargs)
        for piece in around:
            inner = _with_wrapper(piece.wrapper, inner, instance)
        return inner(*others, **kwargs)

    def _inner_function(self) -> FunctionType:
        function = self._function()
        if function is None:
            return self._from_frame(sys._getframe(2))
        return with_code(function, self._code)

    def _from_frame(self, frame: Any) -> FunctionType:
        """Make the inner function where it was unpickled, from the frame of its trampoline."""
        values = frame.f_locals
        cells = tuple(CellType(values[name]) for name in self._code.co_freevars)
        return FunctionType(self._code, frame.f_globals, self._code.co_name, None, cells)


def with_code(function: FunctionType, code: CodeType) -> FunctionType:
    """Return a copy of a function with other code."""
    copied = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    copied.__kwdefaults__ = function.__kwdefaults__
    copied.__qualname__ = function.__qualname__
    copied.__doc__ = function.__doc__
    copied.__module__ = function.__module__
    return copied


def _nothing() -> None:
    return None


def _with_wrapper(wrapper: Wrapper, inner: Callable[..., Any], instance: Any) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        return wrapper(inner, instance, args, kwargs)

    return call
