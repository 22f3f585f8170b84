"""Check that what is wrapped still looks, compares and pickles as before, on the real libraries.

For each callable that a patch of the catalogue wraps: answers of `pickle`, `cloudpickle`, `copy`,
`deepcopy`, `==`, `hash`, `is`, `inspect` and `functools`, before `apply()` and after it.
"""

from __future__ import annotations

import copy
import functools
import importlib
import inspect
import pickle
import types
from collections.abc import Callable, Iterator
from typing import Any

from .figures import Figures, options

MORE = (
    "transformers.models.llama.modeling_llama:LlamaForCausalLM.from_pretrained",
    "transformers.trainer:Trainer.__init__",
    "trl.trainer.sft_trainer:SFTTrainer.train",
    "trl.trainer.sft_trainer:SFTTrainer.evaluation_loop",
)
"""Targets that users get at by inheritance."""


def wrapped_targets() -> list[str]:
    """List the targets of all wraps of the catalogue that are there in what is installed."""
    from patchkit.engine.session import Session
    from patchkit.patch import Wrap

    targets = [
        change.target
        for entry in Session().catalogue
        for change in entry.patch.changes
        if isinstance(change, Wrap)
    ]
    return [target for target in dict.fromkeys((*targets, *MORE)) if _is_reachable(target)]


def _is_reachable(target: str) -> bool:
    try:
        reach(target)
    except (ImportError, AttributeError):
        return False
    return True


def reach(target: str) -> tuple[Any, str, Any]:
    """Return the class or module, the name, and what attribute access gives there."""
    module, _, qualname = target.partition(":")
    owner: Any = importlib.import_module(module)
    *path, name = qualname.split(".")
    for part in path:
        owner = getattr(owner, part)
    return owner, name, getattr(owner, name)


def _bytes(dump: Callable[[Any], bytes], value: Any) -> str:
    """Return what a value pickles to, or that it does not."""
    try:
        dumped = dump(value)
    except Exception as error:
        return f"raises {type(error).__name__}"
    # Then it holds code, which patches are there to change.
    return "by value" if b"_make_function" in dumped else repr(dumped)


def _round_trip(dump: Callable[[Any], bytes], load: Callable[[bytes], Any], value: Any) -> Any:
    try:
        copied = load(dump(value))
    except Exception as error:
        return f"raises {type(error).__name__}"
    return copied == value, copied is value, type(copied).__name__


def _try(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except Exception as error:
        return f"raises {type(error).__name__}"


def answers(target: str) -> dict[str, Any]:
    """Return what a callable says of itself; answers that can be compared, and hold no address."""
    import cloudpickle

    owner, name, value = reach(target)
    again = getattr(owner, name)
    raw = inspect.getattr_static(owner, name)
    child = type("Child", (owner,), {}) if isinstance(owner, type) else None
    facts: dict[str, Any] = {
        "pickle": _bytes(pickle.dumps, value),
        "pickle and back": _round_trip(pickle.dumps, pickle.loads, value),
        "cloudpickle": _bytes(cloudpickle.dumps, value),
        "cloudpickle and back": _round_trip(cloudpickle.dumps, cloudpickle.loads, value),
        "copy": _try(lambda: copy.copy(value) == value),
        "deepcopy": _try(lambda: copy.deepcopy(value) == value),
        "copy is": _try(lambda: copy.copy(value) is value),
        "== itself": value == again,
        "is itself": value is again,
        "hash": hash(value) == hash(again),
        "type": type(value).__name__,
        "type in the class": type(raw).__name__,
        "signature": _try(lambda: str(inspect.signature(value))),
        "signature, not followed": _try(
            lambda: str(inspect.signature(value, follow_wrapped=False))
        ),
        "getfullargspec": _try(lambda: str(inspect.getfullargspec(value))),
        "getfile": _try(lambda: inspect.getfile(value)),
        "getsource": _try(lambda: inspect.getsource(value)),
        "getmodule": _try(lambda: inspect.getmodule(value).__name__),
        "unwrap": _try(lambda: inspect.unwrap(value) is value),
        "doc": inspect.getdoc(value),
        "annotations": _try(lambda: str(value.__annotations__)),
        "defaults": _try(lambda: str(value.__defaults__)),
        "kwdefaults": _try(lambda: str(value.__kwdefaults__)),
        "names": (value.__name__, value.__qualname__, value.__module__),
        "dict": _try(lambda: sorted(vars(value))),
        "wrapped": hasattr(value, "__wrapped__"),
        "self": type(getattr(value, "__self__", None)).__name__,
        "partial": _try(lambda: str(inspect.signature(functools.partial(value)))),
        "partial pickles": _bytes(pickle.dumps, functools.partial(value)),
        "partialmethod": _try(lambda: functools.partialmethod(raw).func is raw),
        "classified": _try(lambda: _kind(owner, name)),
        "weak reference": _try(lambda: type(__import__("weakref").ref(raw)()).__name__),
    }
    for check in (
        "isfunction",
        "ismethod",
        "isroutine",
        "iscoroutinefunction",
        "isgeneratorfunction",
        "isasyncgenfunction",
        "isbuiltin",
        "ismethoddescriptor",
        "isdatadescriptor",
    ):
        facts[check] = getattr(inspect, check)(value)
        facts[f"{check}, in the class"] = getattr(inspect, check)(raw)
    facts["isinstance of FunctionType"] = isinstance(value, types.FunctionType)
    facts["callable"] = callable(value)
    if child is not None:
        facts["inherited is"] = getattr(child, name) is value
        facts["inherited =="] = getattr(child, name) == value
        facts["super() is"] = inspect.getattr_static(child, name) is raw
        facts["in a set"] = len({value, again})
        facts["bound to an instance"] = _try(lambda: _bound(owner, name))
    return facts


def _kind(owner: Any, name: str) -> str:
    if not isinstance(owner, type):
        return ""
    (kind,) = [
        attribute.kind
        for attribute in inspect.classify_class_attrs(owner)
        if attribute.name == name
    ]
    return kind


def _bound(owner: type, name: str) -> tuple[Any, ...]:
    """Return what a bound method says of itself."""
    instance = owner.__new__(owner)
    bound = getattr(instance, name)
    return (
        type(bound).__name__,
        bound == getattr(instance, name),
        hash(bound) == hash(getattr(instance, name)),
        str(inspect.signature(bound)),
        type(getattr(bound, "__func__", None)).__name__,
        bound.__name__,
    )


def identities() -> dict[str, bool]:
    """Make well-known comparisons of users' code."""
    import transformers
    import trl

    llama, base = transformers.LlamaForCausalLM, transformers.PreTrainedModel
    trainer, sft = transformers.Trainer, trl.SFTTrainer
    return {
        "Sub.train is Trainer.train": type("Sub", (trainer,), {}).train is trainer.train,
        "Sub.evaluation_loop is Trainer.evaluation_loop": type(
            "Sub", (trainer,), {}
        ).evaluation_loop
        is trainer.evaluation_loop,
        "SFTTrainer.evaluation_loop is Trainer.evaluation_loop": sft.evaluation_loop
        is trainer.evaluation_loop,
        "from_pretrained.__func__ is inherited": llama.from_pretrained.__func__
        is base.from_pretrained.__func__,
        "from_pretrained == itself": llama.from_pretrained == llama.from_pretrained,
        "from_pretrained is bound to the class": llama.from_pretrained.__self__ is llama,
    }


def compare(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    """Yield what differs. The source of a function that is rewritten is the text that runs."""
    for check, answer in before.items():
        if after.get(check) != answer and not (
            check in ("getfile", "getsource") and after["getfile"].startswith("<patchkit>/")
        ):
            yield f"{check}: {_short(answer)} before, {_short(after.get(check))} after"


def _short(answer: Any) -> str:
    text = str(answer)
    return text if len(text) < 60 else f"{text[:40]}...{text[-15:]}"


def main() -> int:
    chosen = options(__doc__).parse_args()
    import patchkit

    figures = Figures("pickling", chosen.shown)
    targets = wrapped_targets()
    before = {target: answers(target) for target in targets}
    known = identities()
    report = patchkit.apply(preflight=True)
    after = {target: answers(target) for target in targets}
    known_after = identities()
    patchkit.revert()
    reverted = {target: answers(target) for target in targets}
    for target in targets:
        for check, answer in before[target].items():
            differences = compare({check: answer}, after[target])
            figures.count(check, [f"{difference} ({target})" for difference in differences])
        differences = compare(before[target], reverted[target])
        figures.count("after revert()", [f"{difference} ({target})" for difference in differences])
    for check, answer in known.items():
        figures.count(check, compare({check: answer}, {check: known_after[check]}))
    figures.note(f"patches: {report.summary()}; {len(before[targets[0]])} checks of each callable")
    return figures.show(as_json=chosen.json)
