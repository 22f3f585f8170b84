"""Methods of a script's own trainers and callbacks, called with their former arguments."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any
from weakref import WeakKeyDictionary

from ....rewrite.codes import names_in, nested_codes
from ....whose import Whose, owner_of_function
from ...changes import Adjusted, Behaviour, Uncalled
from ...guarding.classes import belongs_to_a_library, library_method, own_classes, own_methods
from ...uses import Kind, RecordedPlace
from ...wording import since
from ..call import OldCall, Surroundings

_ANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_ADAPTED = "_patchkit_adapted"
"""The attribute of a method that is called without the parameters that came after it."""
_METRICS = "metrics"
_BOTH = "create_optimizer_and_scheduler"
_FIRST, _SECOND = "create_optimizer", "create_scheduler"
_OPTIMIZER = "optimizer"
_OLD, _NEW = "tokenizer", "processing_class"
_CALLED = "on_"
"""How the names of the methods begin that a trainer calls in its callbacks."""
_LOSS = "compute_loss"
_LOOP, _STEP = "_inner_training_loop", "training_step"
_BATCHES = "current_gradient_accumulation_steps"
"""What today's `training_step` divides by, and the loop of training sets."""
_INPUTS = "_prepare_inputs"


def former_parameters(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Call the method that the row names without the parameters that came after it.

    A framework's is told of when the trainer passes more; until then it works as it is.
    """
    _call_without(call, row, surroundings, _lacking)


def former_keywords(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Do the same for parameters that are given by keyword alone."""
    more = getattr(row.in_source, "more", ())
    keywords = [each.partition("=")[0] for each in more]

    def lacking(method: Callable[..., Any], current: Callable[..., Any]) -> list[str]:
        own = inspect.signature(method).parameters
        takes_any = any(known.kind is inspect.Parameter.VAR_KEYWORD for known in own.values())
        return [] if takes_any else [name for name in keywords if name not in own]

    _call_without(call, row, surroundings, lacking)


def _call_without(
    call: OldCall,
    row: Adjusted,
    surroundings: Surroundings,
    lacking: Callable[[Callable[..., Any], Callable[..., Any]], list[str]],
) -> None:
    # Those of frameworks, too: a trainer that calls them with more raises.
    for cls, method in own_methods(type(call.instance), row.name, of_frameworks=True):
        current = library_method(cls, row.name)
        if current is None or hasattr(method, _ADAPTED):
            continue
        names = ", ".join(lacking(method, current))
        if names:
            old = f"{cls.__name__}.{row.name} without {names}"
            advice, place = f"give it {names} as a parameter", RecordedPlace.of_function(method)
            note, message = surroundings.journal.note, f"{old} {since(row)}; {advice}"
            used: Callable[[], Any] = functools.partial(note, row, Kind.FIXED, old, message, place)
            if owner_of_function(method).whose is not Whose.FRAMEWORK:
                call.fix(row, old, advice, place)
                used = str
            surroundings.changed.change(cls, row.name, _adapted(method, current, used))


def without_start(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Do the same for a method whose new parameters have no defaults in the trainer's own.

    The script hands on to that one what it got, so they are lacking there; None will do.
    """
    former_parameters(call, row, surroundings)
    cls = type(call.instance)
    if _order_of_adapted(cls, row.name):
        owner = next(
            base for base in cls.__mro__ if belongs_to_a_library(base) and row.name in vars(base)
        )
        method = vars(owner)[row.name]
        if not hasattr(method, _ADAPTED):
            surroundings.changed.change(owner, row.name, _filled_in(method))


def _order_of_adapted(cls: type, name: str) -> tuple[str, ...]:
    """Return the parameters of an adapted override that calls a library's method, if any."""
    owners = own_classes(cls, of_frameworks=True)
    methods = [vars(owner)[name] for owner in owners if name in vars(owner)]
    if not any(hasattr(method, _ADAPTED) for method in methods):
        return ()
    return tuple(inspect.signature(methods[-1]).parameters)


def _lacking(method: Callable[..., Any], current: Callable[..., Any]) -> list[str]:
    """Return the parameters that a method does not have and may be called with."""
    own = inspect.signature(method).parameters
    if any(known.kind in _ANY for known in own.values()):
        return []
    current_ones = inspect.signature(current).parameters
    new = [name for name, known in current_ones.items() if known.kind not in _ANY]
    missing = [name for name in new if name not in own]
    if own.keys() <= current_ones.keys():
        return missing
    # An argument by position goes by its place, whatever the parameter is named.
    return new[len(own) :] or (missing if len(new) > len(own) else [])


def _filled_in(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method with None for what it is not given; a script's own has the other order."""
    signature = inspect.signature(method)
    orders: WeakKeyDictionary[type, tuple[str, ...]] = WeakKeyDictionary()

    @functools.wraps(method)
    def filled_in(*args: Any, **kwargs: Any) -> Any:
        cls = type(args[0])
        if cls not in orders:
            orders[cls] = _order_of_adapted(cls, method.__name__)
        order = orders[cls]
        if len(args) <= len(order) and signature.parameters.keys() >= set(order):
            args, kwargs = (), {**dict(zip(order, args, strict=False)), **kwargs}
        given = signature.bind_partial(*args, **kwargs).arguments
        missing = {
            name: None
            for name, known in signature.parameters.items()
            if known.default is known.empty and name not in given
        }
        return method(*args, **kwargs, **missing)

    setattr(filled_in, _ADAPTED, True)
    return filled_in


def _adapted(
    method: Callable[..., Any], current: Callable[..., Any], used: Callable[[], Any]
) -> Callable[..., Any]:
    """Return a method without what it does not take; `used` is called where that is given."""
    signature, own = inspect.signature(current), list(inspect.signature(method).parameters)
    has_current_names = set(own) <= set(signature.parameters)

    @functools.wraps(method)
    def adapted(self: Any, *args: Any, **kwargs: Any) -> Any:
        if method.__name__ == _LOSS:
            # It returns the mean of a batch, and the trainer is to divide by the number of batches.
            self.model_accepts_loss_kwargs = self.loss_is_scaled_for_ga = False
        if not has_current_names:
            known = {name: value for name, value in kwargs.items() if name in own}
            if len(args) >= len(own) or len(known) < len(kwargs):
                used()
            return method(self, *args[: len(own) - 1], **known)
        given = signature.bind_partial(self, *args, **kwargs).arguments
        if not set(own).issuperset(given):
            used()
        return method(self, **{name: given[name] for name in own[1:] if name in given})

    setattr(adapted, _ADAPTED, True)
    return adapted


def metrics_of_checkpoints(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Pass the metrics of the last evaluation to a script's own `_save_checkpoint`."""
    for cls, method in own_methods(type(call.instance), row.name):
        if hasattr(method, "__wrapped__"):
            continue
        if _METRICS in inspect.signature(method).parameters:
            surroundings.changed.change(cls, row.name, _with_metrics(method))
            old = f"{cls.__name__}.{row.name}({_METRICS})"
            advice = "read the metrics from self.state.log_history"
            call.fix(row, old, advice, RecordedPlace.of_function(method))


def by_position(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Leave out the metrics that a script hands on to the trainer's `_save_checkpoint`."""
    if call.rest:
        call.rest = ()
        call.fix(row, f"{call.name}(model, trial, {_METRICS})", f"leave {_METRICS} out")


def _with_metrics(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def saved(self: Any, model: Any, trial: Any, metrics: Any = None) -> Any:
        return method(self, model, trial, _latest(self) if metrics is None else metrics)

    return saved


def _latest(trainer: Any) -> dict[str, Any] | None:
    """Return the metrics of this step's evaluation; None if there was none."""
    step = trainer.state.global_step
    metrics: dict[str, Any] = {}
    for entry in trainer.state.log_history:
        if entry.get("step") == step and any(name.startswith("eval_") for name in entry):
            metrics |= {name: value for name, value in entry.items() if name != "step"}
    return metrics or None


def create_both(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Create the optimizer and the schedule by a script's own `create_optimizer_and_scheduler`.

    The call is the one that makes a trainer ready; it knows the number of steps. A
    `create_scheduler` of the script's own is given the optimizer, as it was.
    """
    trainer, steps = call.instance, call.arguments.get("max_steps")
    if steps is None:
        return proceed()
    _, method = next(own_methods(type(trainer), _BOTH), (None, None))
    if method is not None:
        old, advice = f"{type(trainer).__name__}.{_BOTH}", f"override {_FIRST} and {_SECOND}"
        call.fix(row, old, advice, RecordedPlace.of_function(method))

    def create_optimizer(*args: Any, **kwargs: Any) -> Any:
        # The script's method may call the trainer's, which calls this one.
        del trainer.create_optimizer
        trainer.create_optimizer_and_scheduler(num_training_steps=steps)
        if trainer.lr_scheduler is not None:
            trainer.create_scheduler = lambda *args, **kwargs: trainer.lr_scheduler
        return trainer.optimizer

    _, schedule = next(own_methods(type(trainer), _SECOND), (None, None))
    if schedule is not None and _OPTIMIZER in inspect.signature(schedule).parameters:
        trainer.create_scheduler = _with_optimizer(trainer)
    if method is not None:
        trainer.create_optimizer = create_optimizer
    try:
        return proceed()
    finally:
        for name in (_FIRST, _SECOND):
            vars(trainer).pop(name, None)


def _with_optimizer(trainer: Any) -> Callable[..., Any]:
    create = trainer.create_scheduler

    def create_scheduler(num_training_steps: int, optimizer: Any = None) -> Any:
        return create(num_training_steps, optimizer=optimizer or trainer.optimizer)

    return create_scheduler


def tokenizer_for_callbacks(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Pass `tokenizer` to methods of a callback that ask for it."""
    callback = call.arguments.get("callback")
    cls = callback if isinstance(callback, type) else type(callback)
    for owner in own_classes(cls):
        methods = {
            name: method for name, method in vars(owner).items() if inspect.isfunction(method)
        }
        # A method may hand on what it gets to another one, which asks.
        is_handed_on = any(
            _asks(method.__code__)
            for name, method in methods.items()
            if not name.startswith(_CALLED)
        )
        for name, method in methods.items():
            code = method.__code__
            if name.startswith(_CALLED) and (_asks(code) or (is_handed_on and _takes_any(code))):
                surroundings.changed.change(owner, name, _with_tokenizer(method))
                old, advice = f"{owner.__name__}.{name}(tokenizer)", f"write {_NEW} for tokenizer"
                call.fix(row, old, advice, RecordedPlace.of_function(method))


def _asks(code: CodeType) -> bool:
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    asked = {*parameters, *code.co_consts}
    return _OLD in asked and _NEW not in asked


def _takes_any(code: CodeType) -> bool:
    return bool(code.co_flags & inspect.CO_VARKEYWORDS) and _NEW not in code.co_varnames


def _with_tokenizer(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def called(*args: Any, **kwargs: Any) -> Any:
        return method(*args, **{_OLD: kwargs.get(_NEW), **kwargs})

    return called


def metrics_of_pairs(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Give a script's metrics what they got: the shares of both sides of each pair, and zeros.

    Current evaluations have no labels, and the rewards of a batch one below the other.
    """
    metrics = call.arguments.get("compute_metrics")
    sided = call.arguments.get("preprocess_logits_for_metrics") is not None
    predicts = any(own_methods(type(call.instance), "prediction_step"))
    if metrics is None or sided or predicts or not call.is_of_older_script(row):
        return proceed()
    call.fix(row, f"{call.name}(compute_metrics=)", "it gets rewards and no labels today")

    def shares(rewards: Any, labels: Any) -> Any:
        import torch

        first = rewards[0] if isinstance(rewards, tuple) else rewards
        return torch.stack(first.squeeze(-1).chunk(2)).softmax(0).T

    @functools.wraps(metrics)
    def with_labels(prediction: Any, *args: Any, **kwargs: Any) -> Any:
        import numpy as np

        prediction.label_ids = np.zeros(len(prediction.predictions))
        prediction.elements = (prediction.predictions, prediction.label_ids)
        return metrics(prediction, *args, **kwargs)

    call.arguments["preprocess_logits_for_metrics"] = shares
    call.arguments["compute_metrics"] = with_labels
    return proceed()


def never_called(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Refuse a trainer with a method that nothing would call."""
    cls = type(call.instance)
    if library_method(cls, row.name) is not None or row.name in _mentioned(cls):
        return
    assert isinstance(row.in_source, Uncalled)
    for owner in cls.__mro__:
        method = _function(vars(owner).get(row.name))
        if method is not None and owner_of_function(method).whose is Whose.USER:
            old, refusal = f"{owner.__name__}.{row.name}", row.in_source.refusal
            raise call.refuse(row, old, refusal, RecordedPlace.of_function(method))


def copied_loop(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Refuse a script's own loop of training, whose first step would end in an error.

    Raises:
        LegacyError: it is one of an older release.
    """
    cls = type(call.instance)
    owner, loop = next(own_methods(cls, _LOOP), (None, None))
    if owner is None or loop is None:
        return
    if not {"super", _BATCHES} & names_in(loop.__code__) and not any(own_methods(cls, _STEP)):
        old = f"the {_LOOP} that {owner.__name__}.{_LOOP} is a copy of"
        instead = f"Call super().{_LOOP}(…), or set self.{_BATCHES} before each {_STEP}."
        raise call.refuse(row, old, instead, RecordedPlace.of_function(loop))


def loss_that_generates(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Refuse a loss of `GRPOTrainer` that takes rows, and generates their completions itself.

    Raises:
        LegacyError: it does.
    """
    cls = type(call.instance)
    owner, loss = next(own_methods(cls, _LOSS), (None, None))
    if owner is None or loss is None or any(own_methods(cls, _INPUTS)):
        return
    codes = list(nested_codes(inspect.unwrap(loss).__code__))
    if any("generate" in code.co_names for code in codes) and any(
        "prompt" in code.co_consts for code in codes
    ):
        old = f"{owner.__name__}.{_LOSS} that gets rows and generates"
        instead = (
            f"{_LOSS} gets a batch with prompt_ids and completion_ids; override "
            "_generate_and_score_completions to generate."
        )
        raise call.refuse(row, old, instead, RecordedPlace.of_function(loss))


def _mentioned(cls: type) -> set[str]:
    """Return the names that the methods of a script's classes mention, but for their own."""
    return {name for owner in own_classes(cls, of_frameworks=True) for name in _names(owner)}


def _names(owner: type) -> Iterator[str]:
    for own_name, method in vars(owner).items():
        function = _function(method)
        if function is not None:
            for code in nested_codes(function.__code__):
                yield from (name for name in code.co_names if name != own_name)


def _function(method: Any) -> FunctionType | None:
    """Return the function that a method was made of; None if there is no such function."""
    function = inspect.unwrap(getattr(method, "__func__", method))
    return function if isinstance(function, FunctionType) else None
