"""A wrapper goes around a live callable and comes off again without a trace."""

from __future__ import annotations

import functools
import inspect
from types import ModuleType
from typing import Any

import pytest

from patchkit.patch import Wrap
from patchkit.rewrite import Drift
from patchkit.wrapping import WrappedCallable, wrap

SOURCE = """\
LIMIT = 5

def function(a, b=2, *rest, c, **more):
    '''Adds.'''
    return a, b, rest, c, more

class C:
    def method(self, a, b=2, *rest, c, **more):
        return a, b, rest, c, more

    @staticmethod
    def static(a, b=2, *rest, c, **more):
        return a, b, rest, c, more

    @classmethod
    def of_class(cls, a, b=2, *rest, c, **more):
        return a, b, rest, c, more

    class Inner:
        def method(self, a, b=2, *rest, c, **more):
            return a, b, rest, c, more

class Earlier(C):
    pass
"""
# How each is called, and what `instance` its wrapper is given.
SHAPES = {
    "function": (lambda m: m.function, lambda m: None),
    "C.method": (lambda m: m.Earlier.one.method, lambda m: m.Earlier.one),
    "C.static": (lambda m: m.Earlier.static, lambda m: None),
    "C.of_class": (lambda m: m.Earlier.of_class, lambda m: m.Earlier),
    "C.Inner.method": (lambda m: m.C.Inner.one.method, lambda m: m.C.Inner.one),
}
every_shape = pytest.mark.parametrize("shape", SHAPES)


@pytest.fixture
def module(library) -> ModuleType:
    library.write("work", SOURCE)
    module = library.load("work")
    module.Earlier.one, module.C.Inner.one = module.Earlier(), module.C.Inner()
    return module


class Recorder:
    """A wrapper that tells what it was given."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def __call__(self, wrapped: Any, instance: Any, args: Any, kwargs: Any) -> Any:
        self.calls.append((instance, args, kwargs))
        return "wrapped", wrapped(*args, **kwargs)


def put_around(
    module: ModuleType, shape: str, wrapper: Any = None, **options: Any
) -> WrappedCallable:
    return wrap("a-patch", Wrap(f"madeup.work:{shape}", wrapper or Recorder(), **options), module)


def hanging(module: ModuleType, shape: str) -> tuple[Any, str, Any]:
    *path, name = shape.split(".")
    owner = functools.reduce(getattr, path, module)
    return owner, name, vars(owner)[name]


@every_shape
def test_arguments_pass_through(module, shape: str) -> None:
    call, instance = SHAPES[shape]
    recorder = Recorder()
    put_around(module, shape, recorder)
    assert call(module)(1, 3, 4, c=5, d=6) == ("wrapped", (1, 3, (4,), 5, {"d": 6}))
    assert call(module)(a=1, c=5) == ("wrapped", (1, 2, (), 5, {}))
    assert recorder.calls == [
        (instance(module), (1, 3, 4), {"c": 5, "d": 6}),
        (instance(module), (), {"a": 1, "c": 5}),
    ]
    with pytest.raises(TypeError, match="c"):
        call(module)(1)


@every_shape
def test_undo_is_the_identity(module, shape: str) -> None:
    owner, name, before = hanging(module, shape)
    namespace = dict(vars(owner))
    wrapped = put_around(module, shape)
    assert vars(owner)[name] is not before
    assert wrapped.live()
    wrapped.undo()
    assert vars(owner)[name] is before
    assert dict(vars(owner)) == namespace
    assert not wrapped.live()
    assert SHAPES[shape][0](module)(1, c=2) == (1, 2, (), 2, {})
    wrapped.undo()
    assert vars(owner)[name] is before


@every_shape
def test_a_reference_taken_while_wrapped_is_silenced_by_undo(module, shape: str) -> None:
    recorder = Recorder()
    wrapped = put_around(module, shape, recorder)
    taken = SHAPES[shape][0](module)
    wrapped.undo()
    assert taken(1, c=2) == (1, 2, (), 2, {})
    assert recorder.calls == []


@every_shape
def test_the_switch(module, shape: str) -> None:
    wrapped, call = put_around(module, shape), SHAPES[shape][0]
    wrapped.enabled = False
    assert call(module)(1, c=2) == (1, 2, (), 2, {})
    assert not wrapped.live()
    wrapped.enabled = True
    assert call(module)(1, c=2)[0] == "wrapped"
    assert wrapped.live()


@every_shape
def test_it_looks_like_the_original(module, shape: str) -> None:
    call = SHAPES[shape][0]
    before = call(module)
    signature, name, doc = inspect.signature(before), before.__qualname__, before.__doc__
    put_around(module, shape)
    after = call(module)
    assert (inspect.signature(after), after.__qualname__, after.__doc__) == (signature, name, doc)
    assert after.__module__ == "madeup.work"


@every_shape
def test_undo_leaves_what_someone_put_there_since(module, shape: str) -> None:
    owner, name, _ = hanging(module, shape)
    wrapped = put_around(module, shape)
    foreign = staticmethod(lambda *args, **kwargs: "foreign")
    setattr(owner, name, foreign)
    assert not wrapped.live()
    wrapped.undo()
    assert vars(owner)[name] is foreign


@every_shape
def test_live_below_the_wrapper_of_another_tool(module, shape: str) -> None:
    """Most tools wrap what attribute access gives them, and not what hangs in the class."""
    owner, name, _ = hanging(module, shape)
    recorder = Recorder()
    wrapped = put_around(module, shape, recorder)
    ours = getattr(owner, name)

    @functools.wraps(ours)
    def theirs(*args: Any, **kwargs: Any) -> Any:
        if shape == "C.of_class":
            args = args[1:]
        return "theirs", ours(*args, **kwargs)

    kind = {"C.static": staticmethod, "C.of_class": classmethod}.get(shape, lambda f: f)
    setattr(owner, name, kind(theirs))
    assert SHAPES[shape][0](module)(1, c=2) == ("theirs", ("wrapped", (1, 2, (), 2, {})))
    assert wrapped.live()
    wrapped.undo()
    assert not wrapped.live()
    assert SHAPES[shape][0](module)(1, c=2) == ("theirs", (1, 2, (), 2, {}))


def test_two_wrappers_come_off_in_any_order(module) -> None:
    first, second = put_around(module, "C.method"), put_around(module, "C.method")
    assert first.live()
    assert second.live()
    first.undo()
    assert module.Earlier.one.method(1, c=2) == ("wrapped", (1, 2, (), 2, {}))
    assert second.live()
    second.undo()
    assert module.Earlier.one.method(1, c=2) == (1, 2, (), 2, {})


def test_an_error_comes_through_as_it_is(module) -> None:
    def refuse(wrapped: Any, instance: Any, args: Any, kwargs: Any) -> Any:
        raise ZeroDivisionError("oops")

    put_around(module, "function", refuse)
    with pytest.raises(ZeroDivisionError, match="oops"):
        module.function(1, c=2)


MISSING = {
    "gone": "madeup.work has no gone: gone is missing",
    "C.gone": "madeup.work has no C.gone: gone is missing",
    "D.method": "madeup.work has no D.method: D is missing",
    "Earlier.method": "madeup.work has no Earlier.method: Earlier inherits method",
    "function.method": "madeup.work:function is not a class",
    "LIMIT": "LIMIT",
}


@pytest.mark.parametrize("target", MISSING)
def test_drift(module, target: str) -> None:
    before = {**vars(module)}, {**vars(module.C)}, {**vars(module.Earlier)}
    with pytest.raises(Drift) as caught:
        put_around(module, target)
    assert MISSING[target] in str(caught.value)
    assert ({**vars(module)}, {**vars(module.C)}, {**vars(module.Earlier)}) == before


@every_shape
@pytest.mark.parametrize(
    ("parameters", "missing"),
    [((), ""), (("a", "c"), ""), (("rest", "more"), ""), (("a", "d"), "d"), (("x", "y"), "x, y")],
)
def test_parameters(module, shape: str, parameters: tuple[str, ...], missing: str) -> None:
    owner, name, before = hanging(module, shape)
    if not missing:
        assert put_around(module, shape, parameters=parameters).live()
        return
    with pytest.raises(Drift) as caught:
        put_around(module, shape, parameters=parameters)
    assert str(caught.value) == f"{shape} has no parameter {missing} any more"
    assert vars(owner)[name] is before


def test_a_wrapper_by_name_is_imported_when_it_is_needed(module, library) -> None:
    library.write(
        "helpers",
        "def twice(wrapped, instance, args, kwargs):\n    return 2 * wrapped(*args, **kwargs)\n",
    )
    wrapped = put_around(module, "function", "madeup.helpers:twice")
    assert module.function(1, c=2) == (1, 2, (), 2, {}) * 2
    assert wrapped.diff() == "# madeup.work:function is wrapped by madeup.helpers.twice\n"


@pytest.mark.parametrize(
    ("name", "error"),
    [("madeup.nowhere:twice", ModuleNotFoundError), ("madeup.work:nothing", AttributeError)],
)
def test_a_wrapper_that_is_not_there(module, name: str, error: type[Exception]) -> None:
    before = module.function
    with pytest.raises(error):
        put_around(module, "function", name)
    assert module.function is before


@every_shape
def test_diff_names_both(module, shape: str) -> None:
    text = put_around(module, shape, passing).diff()
    assert text == f"# madeup.work:{shape} is wrapped by {__name__}.passing\n"


def passing(wrapped: Any, instance: Any, args: Any, kwargs: Any) -> Any:
    return wrapped(*args, **kwargs)
