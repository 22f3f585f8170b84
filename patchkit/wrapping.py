"""Put a wrapper around a live callable, and take it off again."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from .patch import Wrap, Wrapper
from .rewrite import Binding, Collision, Drift, Target, bind


@dataclass
class WrappedCallable:
    """A callable that carries a wrapper of ours."""

    owner: str
    binding: Binding
    qualname: str
    wrapper: Wrapper
    proxy: Any = None
    enabled: bool = field(default=True)

    def install(self) -> None:
        import wrapt

        # The switch silences the wrapper where another tool wrapped on top of it, and it cannot
        # be taken out.
        self.proxy = wrapt.FunctionWrapper(
            self.binding.value, self.wrapper, enabled=lambda: self.enabled
        )
        self.proxy._self_patchkit = self  # wrapt keeps what begins so with the proxy
        setattr(self.binding.owner, self.binding.name, self.proxy)

    def live(self) -> bool:
        return self.enabled and self.proxy in _chain(self._present())

    def undo(self) -> None:
        self.enabled = False
        if self._present() is self.proxy:
            setattr(self.binding.owner, self.binding.name, self.binding.value)

    def redo(self) -> None:
        self.enabled = True
        if self._present() is self.binding.value:
            setattr(self.binding.owner, self.binding.name, self.proxy)

    def diff(self) -> str:
        owner = getattr(self.binding.owner, "__module__", self.binding.owner.__name__)
        return note(f"{owner}:{self.qualname}", self.wrapper)

    def _present(self) -> Any:
        return vars(self.binding.owner).get(self.binding.name)


def note(target: str, wrapper: Wrapper | str) -> str:
    """What stands in a diff for a wrapper."""
    return f"# {target} is wrapped by {wrapper_name(wrapper)}\n"


def wrapper_name(wrapper: Wrapper | str) -> str:
    """The dotted name of a wrapper; nothing is imported."""
    if isinstance(wrapper, str):
        return wrapper.replace(":", ".")
    return f"{wrapper.__module__}.{getattr(wrapper, '__qualname__', '?')}"


def wrap(owner: str, change: Wrap, module: ModuleType) -> WrappedCallable:
    """Wrap the target of a change in its loaded module.

    Args:
        owner: the id of the patch.
        change: what to do.
        module: the module.

    Raises:
        Drift: the target is missing or its signature is not what the wrapper relies on.
        Collision: another patch wraps it; which wrapper is the outer one would be left to chance.
    """
    qualname = Target.parse(change.target).qualname
    binding = bind(module, qualname)
    if not callable(getattr(binding.owner, binding.name)):
        raise Drift(f"{qualname} is {type(binding.value).__name__}, not callable")
    _check_signature(binding, qualname, change.parameters)
    for other in _wrapped_by_us(binding.value):
        if other.enabled and other.owner != owner:
            raise already_wrapped(other.owner, owner, qualname)
    wrapped = WrappedCallable(owner, binding, qualname, _wrapper(change.wrapper))
    wrapped.install()
    return wrapped


def already_wrapped(first: str, second: str, qualname: str) -> Collision:
    """That two patches wrap one callable."""
    return Collision((first, second), qualname, how="wrap")


def _wrapped_by_us(value: Any) -> list[WrappedCallable]:
    found = (getattr(one, "_self_patchkit", None) for one in _chain(value))
    return [one for one in found if isinstance(one, WrappedCallable)]


def _check_signature(binding: Binding, qualname: str, expected: tuple[str, ...]) -> None:
    if not expected:
        return
    present = inspect.signature(getattr(binding.owner, binding.name)).parameters
    missing = [name for name in expected if name not in present]
    if missing:
        raise Drift(f"{qualname} has no parameter {', '.join(missing)} any more")


def _wrapper(wrapper: Wrapper | str) -> Wrapper:
    if not isinstance(wrapper, str):
        return wrapper
    module, _, name = wrapper.partition(":")
    found: Wrapper = getattr(importlib.import_module(module), name)
    return found


def _chain(value: Any) -> list[Any]:
    """A callable and all that it wraps, outermost first; compared by identity, not equality."""
    chain = _Identities()
    while value is not None and value not in chain:
        chain.append(value)
        parent = getattr(value, "_self_parent", None)  # attribute access made a bound wrapper
        value = getattr(value, "__wrapped__", None) if parent is None else parent
    return chain


class _Identities(list[Any]):
    def __contains__(self, item: object) -> bool:
        return any(item is present for present in self)
