"""Base weights as they were before adapters were merged into them."""

from __future__ import annotations

import math
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from patchkit.authoring import Setting, value
from patchkit.precision.adapters import uses_fsdp
from patchkit.precision.parameters import is_plain_float
from patchkit.precision.quant_state import packs_weight

if TYPE_CHECKING:
    import torch

T = TypeVar("T")

UNMERGE = Setting(
    name="unmerge",
    choices=("exact", "exact-cpu", "upstream"),
    help="exact: a merged layer keeps its base weights, and unmerging puts them back; "
    "exact-cpu: copies of them lie in the memory of the CPU; "
    "upstream: nothing is kept, and adapters are subtracted",
)

_CACHES = ("_caches", "_cached_merge_factor")
"""Attributes of a layer where a merge leaves what the unmerge takes out, such as DoRA's norms."""
_CHANGED_BY_MERGE = {"merged_adapters", *_CACHES}


def keep_base(layer: Any, adapters: Iterable[T]) -> Iterator[T]:
    """Yield what a merge loops over, and keep the former base of the layer.

    If an error ends the loop, Python closes this generator, and the layer becomes what it was
    before the merge began.

    Args:
        layer: the layer that adapters are merged into.
        adapters: what `merge` loops over.
    """
    with _base_kept(layer):
        yield from adapters


def has_to_subtract(layer: Any) -> bool:
    """Tell whether an unmerge has adapters left to subtract.

    If the base of the layer was kept, and the merged weights were not changed, it is put back,
    and nothing is left.

    Args:
        layer: a layer that is being unmerged.
    """
    if not layer.merged_adapters:
        return False
    base = _kept.pop(layer, None)
    if base is None:
        return True
    if not base.is_as_merged():
        _warn_of_change()
        return True
    base.restore()
    return False


def merge_of(layer: Any) -> Callable[..., None]:
    """Return what merges into a layer, and keeps its base as `keep_base` does.

    Args:
        layer: a layer; those of LoRA keep their base on their own.
    """
    if _unmerges(layer):
        return layer.merge  # type: ignore[no-any-return]

    def merge_and_keep(*args: Any, **kwargs: Any) -> None:
        with _base_kept(layer, by_model=True):
            layer.merge(*args, **kwargs)

    return merge_and_keep


def unmerge_of(layer: Any) -> Callable[[], None]:
    """Return what unmerges a layer: its own `unmerge`, if its base was not put back.

    Args:
        layer: a layer; those of LoRA put their base back on their own.
    """
    if _unmerges(layer) or not layer.merged_adapters or has_to_subtract(layer):
        return layer.unmerge  # type: ignore[no-any-return]
    return _do_nothing


def _do_nothing() -> None:
    """Do nothing: the base was put back."""


def for_good(layer: T) -> T:
    """Return a layer, and keep nothing in its next merge, since it will not be unmerged."""
    _merged_for_good.add(layer)
    return layer


class _Weight:
    """A tensor of a base layer, before the merge.

    Args:
        module: the base layer.
        name: the name of the tensor there.
    """

    def __init__(self, module: torch.nn.Module, name: str) -> None:
        self.module = module
        self.name = name

    @property
    def current(self) -> Any:
        return getattr(self.module, self.name, None)

    def note_merged(self) -> None:
        """Remember how the merged tensor can be recognized."""
        current = self.current
        self.merged = current.dtype, current.shape, _sums(current)

    def is_as_merged(self) -> bool:
        """Tell whether the tensor is still as the merge left it, on whatever device."""
        import torch

        current = self.current
        if current is None or not _has_plain_numbers(current):
            return False
        dtype, shape, sums = self.merged
        if current.dtype != dtype or current.shape != shape:
            return False
        pairs = zip(_sums(current), sums, strict=True)
        return all(torch.equal(now, then.to(now.device)) for now, then in pairs)

    def restore(self) -> None:
        """Put back what was there before."""
        raise NotImplementedError


class _Copied(_Weight):
    """A parameter whose numbers PEFT changes: a copy of them is kept."""

    def __init__(self, module: torch.nn.Module, name: str, *, on_cpu: bool) -> None:
        super().__init__(module, name)
        data = self.current.data
        self.data = data.to("cpu", copy=True) if on_cpu else data.clone()

    def restore(self) -> None:
        data = self.current.data
        if data.dtype == self.data.dtype and data.shape == self.data.shape:
            data.copy_(self.data)
        else:
            self.current.data = self.data.to(data.device)


class _Replaced(_Weight):
    """A parameter that PEFT replaces by another tensor: the parameter itself is kept."""

    def __init__(self, module: torch.nn.Module, name: str) -> None:
        super().__init__(module, name)
        self.parameter = self.current

    def restore(self) -> None:
        device = self.current.device
        if self.parameter.device != device:
            self.parameter.data = self.parameter.data.to(device)
        # A plain tensor may have taken its place.
        vars(self.module).pop(self.name, None)
        self.module._parameters[self.name] = self.parameter


class _Quantized(_Weight):
    """A parameter that PEFT quantizes again: it is kept, with its quant state."""

    def __init__(self, module: torch.nn.Module, name: str) -> None:
        super().__init__(module, name)
        self.parameter = self.current
        # PEFT makes the new parameter from the attributes of this one, and changes them.
        self.attributes = dict(vars(self.parameter))
        self.has_quant_state = "quant_state" in vars(module)
        self.state = dict(vars(module.state)) if hasattr(module, "state") else None

    def note_merged(self) -> None:
        # The numbers change where a CPU packs them to infer, so they tell nothing.
        self.object = weakref.ref(self.current)
        self.version = _version(self.current)

    def is_as_merged(self) -> bool:
        current = self.current
        return current is self.object() and _version(current) == self.version

    def restore(self) -> None:
        device, parameter = self.current.device, self.parameter
        vars(parameter).clear()
        vars(parameter).update(self.attributes)
        if parameter.device != device:
            parameter = parameter.to(device)
        setattr(self.module, self.name, parameter)
        if self.has_quant_state:
            self.module.quant_state = parameter.quant_state
        if self.state is not None:
            state = vars(self.module.state)
            state.clear()
            state.update({name: _moved(part, device) for name, part in self.state.items()})


class _Base:
    """What a merge into a layer changes.

    Args:
        layer: the layer.
        weights: the tensors that are changed.
        inner: a layer inside that is merged along with it.
    """

    def __init__(self, layer: Any, weights: list[_Weight], inner: Any = None) -> None:
        self.layer = weakref.ref(layer)
        self.merged = list(layer.merged_adapters)
        self.cached = {name: set(getattr(layer, name, ())) for name in _CACHES}
        self.weights = weights
        self.inner = _Base(inner, []) if inner is not None else None

    @classmethod
    def of(cls, layer: Any, *, on_cpu: bool) -> _Base | None:
        """Return what a merge into a layer will change; None if that cannot be kept."""
        if uses_fsdp(None) or _is_offloaded(layer):
            return None
        module = layer.get_base_layer()
        inner = module._modules.get("out_proj")
        if "in_proj_weight" in module._parameters and hasattr(inner, "merged_adapters"):
            owners = ((module, "in_proj_weight"), (inner.get_base_layer(), "weight"))
            return cls(layer, [_Replaced(*owner) for owner in owners], inner)
        names = [name for name, parameter in module._parameters.items() if parameter is not None]
        only = getattr(layer, "parameter_name", None)
        if (only or "weight") not in names:
            return None
        weights = [_keep(module, name, on_cpu=on_cpu) for name in ([only] if only else names)]
        kept = [weight for weight in weights if weight is not None]
        return cls(layer, kept) if len(kept) == len(weights) else None

    def note_merged(self) -> None:
        for weight in self.weights:
            weight.note_merged()

    def is_as_merged(self) -> bool:
        return all(weight.is_as_merged() for weight in self.weights)

    def restore(self) -> None:
        """Put everything back, but the list of an inner layer, which is unmerged next."""
        for weight in self.weights:
            weight.restore()
        layer: Any = self.layer()
        for name, before in self.cached.items():
            cache: Any = getattr(layer, name, {})
            for key in [key for key in cache if key not in before]:
                del cache[key]
        layer.merged_adapters[:] = self.merged
        if self.inner is not None:
            _kept[self.inner.layer()] = self.inner


class _Merge:
    """A merge that is under way.

    Args:
        layer: the layer.
        before: its base before this merge.
        unmerged: its base before any merge; None if it was not kept.
        by_model: whether its model puts the base back, and not the layer.
    """

    def __init__(
        self, layer: Any, before: _Base, unmerged: _Base | None, *, by_model: bool
    ) -> None:
        self.layer = layer
        self.before = before
        self.unmerged = unmerged
        self.attributes = _attributes(layer) if by_model else None

    @classmethod
    def begin(cls, layer: Any, *, by_model: bool = False) -> _Merge | None:
        """Keep the base of a layer; return None if it is not wanted or not possible.

        Args:
            layer: the layer.
            by_model: whether its model puts the base back, and not the layer.
        """
        unmerged = _kept.pop(layer, None) if layer.merged_adapters else None
        if unmerged is not None and not unmerged.is_as_merged():
            _warn_of_change()
            unmerged = None
        choice = value(UNMERGE)
        wanted = choice != "upstream" and layer not in _merged_for_good
        wanted = wanted and (by_model or _unmerges(layer))
        _merged_for_good.discard(layer)
        before = _Base.of(layer, on_cpu=choice == "exact-cpu") if wanted else None
        if before is None:
            return None
        unmerged = unmerged if layer.merged_adapters else before
        return cls(layer, before, unmerged, by_model=by_model)

    def finish(self) -> None:
        # A layer that did more than change numbers, as LN tuning does, has to undo it itself.
        if self.attributes is not None and not _are_identical(
            self.attributes, _attributes(self.layer)
        ):
            return
        if self.layer.merged_adapters and self.unmerged is not None:
            self.unmerged.note_merged()
            _kept[self.layer] = self.unmerged

    def roll_back(self) -> None:
        self.before.restore()
        if self.before.inner is not None:
            has_to_subtract(self.before.inner.layer())
        if self.layer.merged_adapters and self.unmerged is not None:
            _kept[self.layer] = self.unmerged


@contextmanager
def _base_kept(layer: Any, *, by_model: bool = False) -> Iterator[None]:
    """Keep the base of a layer that the block merges into; an error puts the base back.

    Args:
        layer: the layer.
        by_model: whether its model puts the base back, and not the layer.
    """
    merge = _Merge.begin(layer, by_model=by_model)
    if merge is None:
        yield
        return
    try:
        yield
        merge.finish()
    except BaseException:
        merge.roll_back()
        raise


_kept: weakref.WeakKeyDictionary[Any, _Base] = weakref.WeakKeyDictionary()
_merged_for_good: weakref.WeakSet[Any] = weakref.WeakSet()


def _keep(module: torch.nn.Module, name: str, *, on_cpu: bool) -> _Weight | None:
    parameter = module._parameters[name]
    if _is_quantized(parameter):
        return _Quantized(module, name)
    if name == "weight" and packs_weight(module):
        return None
    return _Copied(module, name, on_cpu=on_cpu) if _has_plain_numbers(parameter) else None


def _is_quantized(parameter: Any) -> bool:
    cls = type(parameter)
    if not cls.__module__.startswith("bitsandbytes"):
        return False
    if cls.__name__ == "Params4bit":
        return parameter.quant_state is not None
    return cls.__name__ == "Int8Params"


def _has_plain_numbers(tensor: Any) -> bool:
    """Tell whether a tensor is whole, is here, and holds the numbers that its dtype says."""
    import torch

    return (
        type(tensor.data) is torch.Tensor
        and is_plain_float(tensor)
        and not tensor.is_meta
        and not hasattr(tensor, "ds_id")  # ZeRO-3
    )


def _unmerges(layer: Any) -> bool:
    """Tell whether the layer's unmerge, the one in force, puts back what is kept."""
    code = getattr(type(layer).unmerge, "__code__", None)
    return has_to_subtract.__name__ in getattr(code, "co_names", ())


def _is_offloaded(layer: torch.nn.Module) -> bool:
    hooks = (getattr(module, "_hf_hook", None) for module in layer.modules())
    return any(getattr(hook, "offload", False) for hook in hooks)


def _attributes(layer: torch.nn.Module) -> dict[str, Any]:
    """Return what a layer holds, its modules and parameters included, but for adapters' names."""
    held = {name: value for name, value in vars(layer).items() if name not in _CHANGED_BY_MERGE}
    parts = (layer._modules, layer._parameters, layer._buffers)
    return held | {name: part for registered in parts for name, part in registered.items()}


def _are_identical(some: dict[str, Any], others: dict[str, Any]) -> bool:
    return some.keys() == others.keys() and all(
        value is others[name] for name, value in some.items()
    )


def _sums(tensor: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Add up the bits of a tensor along its rows and columns, as integers.

    They are the same on all devices, and another change than one of the numbers hardly leaves
    them so.
    """
    import torch

    integers = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    bits = tensor.detach().view(integers[tensor.element_size()])
    if bits.ndim < 2:
        return (bits.clone(),)
    sizes = [
        (math.prod(bits.shape[:axis]), math.prod(bits.shape[axis:])) for axis in range(1, bits.ndim)
    ]
    table = bits.reshape(min(sizes, key=sum))
    return table.sum(0), table.sum(1)


def _version(tensor: torch.Tensor) -> int | None:
    return None if tensor.is_inference() else tensor._version


def _moved(part: Any, device: torch.device) -> Any:
    import torch

    return part.to(device) if isinstance(part, torch.Tensor) else part


def _warn_of_change() -> None:
    warnings.warn(
        "The base weights were changed while adapters were merged into them. To keep the change, "
        "the adapters are subtracted, which rounds.",
        stacklevel=3,
    )
