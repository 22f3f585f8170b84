"""A wrapper goes around a live callable and comes off again without a trace."""

from __future__ import annotations

import copy
import functools
import inspect
import os
import pickle
import sys
from types import ModuleType
from typing import Any

import pytest

from patchkit.engine.fixing import fix
from patchkit.engine.wrapping import ChangedPlaces
from patchkit.patch import Wrap
from patchkit.rewrite import Drift

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
    def inherits(self):
        return [*super().method(1, c=2)[:2]]
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


class Wrapped:
    """A wrapper around a callable, which can be taken off and put there again."""

    def __init__(self, places: ChangedPlaces, module: ModuleType, change: Wrap, owner: str) -> None:
        self.is_valid, self.is_over, self.places = True, False, places
        (self.fixed,) = fix(owner, change, module, places, self)

    def is_live(self) -> bool:
        return self.fixed.is_live()

    def undo(self) -> None:
        self.is_valid = False
        self.places.settle()

    def redo(self) -> None:
        self.is_valid = True
        self.places.settle(complete=True)

    def diff(self) -> str:
        return str(self.fixed.shown)


def put_around(
    module: ModuleType,
    shape: str,
    wrapper: Any = None,
    places: ChangedPlaces | None = None,
    **options: Any,
) -> Wrapped:
    change = Wrap(f"madeup.work:{shape}", wrapper or Recorder(), **options)
    return Wrapped(places or ChangedPlaces(), module, change, "a-patch")


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
        (instance(module), (1, 2), {"c": 5}),
    ]
    with pytest.raises(TypeError, match="c"):
        call(module)(1)


def code_of(value: Any) -> Any:
    return getattr(value, "__func__", value).__code__


@every_shape
def test_undo_is_the_identity(module, shape: str) -> None:
    owner, name, before = hanging(module, shape)
    namespace, code = dict(vars(owner)), code_of(before)
    wrapped = put_around(module, shape)
    assert vars(owner)[name] is before
    assert code_of(before) is not code
    assert wrapped.is_live()
    wrapped.undo()
    assert code_of(before) is code
    assert dict(vars(owner)) == namespace
    assert not wrapped.is_live()
    assert SHAPES[shape][0](module)(1, c=2) == (1, 2, (), 2, {})
    wrapped.undo()
    assert code_of(before) is code


@every_shape
def test_a_reference_taken_while_wrapped_is_silenced_by_undo(module, shape: str) -> None:
    recorder = Recorder()
    wrapped = put_around(module, shape, recorder)
    taken = SHAPES[shape][0](module)
    wrapped.undo()
    assert taken(1, c=2) == (1, 2, (), 2, {})
    assert recorder.calls == []


@every_shape
def test_off_and_on(module, shape: str) -> None:
    wrapped, call = put_around(module, shape), SHAPES[shape][0]
    wrapped.undo()
    assert call(module)(1, c=2) == (1, 2, (), 2, {})
    assert not wrapped.is_live()
    wrapped.redo()
    assert call(module)(1, c=2)[0] == "wrapped"
    assert wrapped.is_live()


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
    assert not wrapped.is_live()
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
    assert wrapped.is_live()
    wrapped.undo()
    assert not wrapped.is_live()
    assert SHAPES[shape][0](module)(1, c=2) == ("theirs", (1, 2, (), 2, {}))


def test_two_wrappers_come_off_in_any_order(module) -> None:
    places = ChangedPlaces()
    first = put_around(module, "C.method", places=places)
    second = put_around(module, "C.method", places=places)
    assert module.Earlier.one.method(1, c=2) == ("wrapped", ("wrapped", (1, 2, (), 2, {})))
    assert first.is_live()
    assert second.is_live()
    first.undo()
    assert module.Earlier.one.method(1, c=2) == ("wrapped", (1, 2, (), 2, {}))
    assert second.is_live()
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
    _, _, value = hanging(module, shape)
    before = code_of(value)
    if not missing:
        assert put_around(module, shape, parameters=parameters).is_live()
        return
    with pytest.raises(Drift) as caught:
        put_around(module, shape, parameters=parameters)
    assert str(caught.value) == f"{shape} has no parameter {missing} any more"
    assert code_of(value) is before


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


@every_shape
def test_all_that_functions_can_do(module, shape: str) -> None:
    """The function is the one that it was: it is pickled, copied and compared as before."""
    call = SHAPES[shape][0]
    before = call(module)
    put_around(module, shape)
    after = call(module)
    assert after == before
    assert hash(after) == hash(before)
    if shape in ("function", "C.static"):
        assert after is before
    for twin in (pickle.loads(pickle.dumps(after)), copy.copy(after), copy.deepcopy(after)):
        assert twin(1, c=2)[0] == "wrapped"
    assert inspect.getfullargspec(after) == inspect.getfullargspec(before)
    assert module.Earlier.method is module.C.method


def test_it_closes_over_what_it_did(library) -> None:
    library.write(
        "closures",
        """\
        class Base:
            def count(self):
                return 1

        def make():
            total = 0

            class C(Base):
                def count(self):
                    nonlocal total
                    total += super().count()
                    return total

            return C

        C = make()
        """,
    )
    module = library.load("closures")
    wrapped = Wrapped(ChangedPlaces(), module, Wrap("madeup.closures:C.count", passing), "a-patch")
    one = module.C()
    assert [one.count(), one.count()] == [1, 2]
    wrapped.undo()
    assert one.count() == 3


def test_a_callable_that_is_no_function_gets_a_proxy(module) -> None:
    module.measure, before = len, len
    wrapped = put_around(module, "measure", lambda wrapped, _, args, kwargs: -wrapped(*args))
    assert module.measure("abc") == -3
    assert wrapped.is_live()
    for twin in (copy.copy(module.measure), copy.deepcopy(module.measure)):
        assert twin("abc") == -3
    assert pickle.loads(pickle.dumps(module.measure)) is module.measure
    wrapped.undo()
    assert module.measure is before


def test_a_proxy_that_somebody_kept_is_silent_and_goes(module) -> None:
    """As a mock keeps it, and puts it back when it ends."""
    module.measure = len
    wrapped = put_around(module, "measure", lambda wrapped, _, args, kwargs: -wrapped(*args))
    kept, module.measure = module.measure, "mock"
    wrapped.undo()
    module.measure = kept
    assert module.measure("abc") == 3
    wrapped.places.settle()
    assert module.measure is len


async def one() -> int:
    return 1


def test_a_coroutine_function_stays_one(module) -> None:
    module.one = one
    calls = Recorder()
    wrapped = put_around(module, "one", calls)
    assert inspect.iscoroutinefunction(module.one)
    module.one()[1].close()
    assert len(calls.calls) == 1
    wrapped.undo()
    assert module.one is one


def test_a_class_pickled_with_its_code(module, library, fresh) -> None:
    """It runs where nothing was applied: `register_pickle_by_value` is what Ray's users write."""
    cloudpickle = pytest.importorskip("cloudpickle")
    library.write(
        "helpers",
        "def twice(wrapped, instance, args, kwargs):\n    return 2 * wrapped(*args, **kwargs)\n",
    )
    put_around(module, "Earlier.inherits", "madeup.helpers:twice")
    cloudpickle.register_pickle_by_value(module)
    try:
        data = cloudpickle.dumps(module.Earlier)
    finally:
        cloudpickle.unregister_pickle_by_value(module)
    found = fresh(
        f"""
        import pickle
        result = pickle.loads({data!r})().inherits()
        """,
        env={"PYTHONPATH": os.pathsep.join([str(library.folder), *sys.path])},
    )
    assert found == 2 * [1, 2]
