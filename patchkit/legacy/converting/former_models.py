"""What files of models, a script's or a repository's, had from Transformers 4.

They call methods of caches and models that are gone, and name tied weights in a list.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, MutableSequence
from typing import Any

from ..changes import Adjusted, Behaviour
from ..guarding.classes import belongs_to_a_library, own_classes
from ..uses import called_by_library
from .call import OldCall, Surroundings

_NO_LIMIT = -1
_TIED = "all_tied_weights_keys"
_OUTPUT = "get_output_embeddings"
_PREPARES, _POSITIONS = "prepare_inputs_for_generation", "position_ids"
_TIES, _CONSTRUCTOR, _LATER = "tie_word_embeddings", "__init__", "__post_init__"
_MASK = "attention_mask"
_SHARED = ("shared tensors", "share memory")
"""How Transformers and safetensors refuse weights that modules share."""
_IN_VAIN = (
    "No model calls it. Write from_pretrained(attn_implementation=…) to choose the attention."
)


class LayerStates(MutableSequence[Any]):
    """The keys of all layers of a cache, or their values, by the number of the layer.

    Args:
        cache: the cache.
        name: `keys` or `values`.
    """

    def __init__(self, cache: Any, name: str) -> None:
        self._layers = cache.layers
        self._name = name

    def __len__(self) -> int:
        return len(self._layers)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [getattr(layer, self._name) for layer in self._layers[number]]
        return getattr(self._layers[number], self._name)

    def __setitem__(self, number: Any, states: Any) -> None:
        setattr(self._layers[number], self._name, states)

    def __delitem__(self, number: Any) -> None:
        raise TypeError("a layer of a cache has keys and values, and cannot lose one of them")

    def insert(self, number: int, states: Any) -> None:
        raise TypeError("update(keys, values, layer) of the cache adds a layer")


def cache_of_tuples(cls: Any, past: Iterable[Any] | None = None) -> Any:
    """Make a cache of the keys and values of each layer."""
    cache = cls()
    for number, states in enumerate(past or ()):
        cache.update(states[0], states[1], number)
    return cache


def tuples_of_cache(cache: Any) -> tuple[tuple[Any, ...], ...]:
    """Return the keys and values of each layer, and after them those of the encoder."""
    if not hasattr(cache, "cross_attention_cache"):
        return tuple((layer.keys, layer.values) for layer in cache.layers)
    own, cross = map(tuples_of_cache, (cache.self_attention_cache, cache.cross_attention_cache))
    return tuple(a + b for a, b in zip(own, cross, strict=True)) if cross else own


def item_of_cache(cache: Any, number: Any) -> Any:
    return tuples_of_cache(cache)[number]


def length_of_cache(cache: Any) -> Any:
    return cache.get_seq_length()


def states_of_cache(name: str, cache: Any) -> LayerStates:
    return LayerStates(cache, name)


def pairs_of_cache(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Iterate over pairs: today a third value goes with each layer's keys and values."""
    if called_by_library():
        return proceed()
    call.fix(
        row,
        f"a pair for each layer of a {type(call.instance).__name__}",
        "read keys and values of layers",
    )
    return iter(tuples_of_cache(call.instance))


def caches_of_tuples(cls: Any, past: Iterable[Any] | None = None) -> Any:
    """Make both caches of a decoder of each layer's keys and values, and those of the encoder."""
    from transformers import DynamicCache

    layers = [tuple(states) for states in past or ()]
    own = cache_of_tuples(DynamicCache, [states[:2] for states in layers])
    return cls(own, cache_of_tuples(DynamicCache, [states[2:] for states in layers if states[2:]]))


def usable_length(cache: Any, new: int, layer_idx: int = 0) -> int:
    """Return how many tokens of a cache can be kept beside new ones."""
    limits = [_limit(layer) for layer in cache.layers[layer_idx : layer_idx + 1]]
    length: int = cache.get_seq_length(layer_idx)
    return limits[0] - new if limits and _NO_LIMIT < limits[0] < length + new else length


def _limit(layer: Any) -> int:
    # The method had another name from Transformers 4.46 to 5.12.
    named = "get_max_length" if hasattr(layer, "get_max_length") else "get_max_cache_shape"
    limit: int = getattr(layer, named)()
    return limit


def no_limit_is_none(call: Any, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Return None for a cache without a limit, as releases did whose method had this name."""
    if called_by_library():
        return proceed()
    limit = proceed() if call.instance.layers else _NO_LIMIT
    return None if limit == _NO_LIMIT else limit


def masks_of_heads(
    model: Any, head_mask: Any, num_hidden_layers: int, is_attention_chunked: bool = False
) -> Any:
    """Return a mask of heads for each layer; a list of None if there is none."""
    if head_mask is None:
        return [None] * num_hidden_layers
    if head_mask.dim() == 1:
        head_mask = head_mask[None, None, :, None, None].expand(num_hidden_layers, -1, -1, -1, -1)
    elif head_mask.dim() == 2:
        head_mask = head_mask[:, None, :, None, None]
    head_mask = head_mask.to(dtype=model.dtype)
    return head_mask.unsqueeze(-1) if is_attention_chunked else head_mask


def inverted_mask(model: Any, mask: Any) -> Any:
    """Return what to add to scores: nothing where a mask is 1, the least number where it is 0."""
    import torch

    mask = (mask[:, None] if mask.dim() == 3 else mask[:, None, None]).to(dtype=model.dtype)
    return (1.0 - mask) * torch.finfo(model.dtype).min


def extended_mask(
    model: Any, mask: Any, input_shape: Any, device: Any = None, dtype: Any = None
) -> Any:
    """Return the same for a mask of padding, and for later tokens in a decoder."""
    import torch

    dtype = dtype or model.dtype
    if mask.dim() == 3:
        extended = mask[:, None]
    elif mask.dim() == 2:
        extended = mask[:, None, None]
        if getattr(model.config, "is_decoder", False):
            length, past = input_shape[1], mask.shape[1] - input_shape[1]
            seen = torch.ones(length, length + past, dtype=mask.dtype, device=mask.device)
            extended = extended * seen.tril(past)
    else:
        raise ValueError(f"Wrong shape for attention_mask (shape {tuple(mask.shape)})")
    return (1.0 - extended.to(dtype=dtype)) * torch.finfo(dtype).min


def mapped_tied_weights(call: Any, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Say of each tied weight which one it is tied to, where a list names only the first."""
    for module in call.instance.modules():
        listed = getattr(module, "_tied_weights_keys", None)
        if isinstance(listed, list | tuple | set):
            module._tied_weights_keys = dict(_tied_to(module, tuple(listed)))
    _tie_own_output(call, row)
    return proceed()


def _tie_own_output(call: Any, row: Behaviour) -> None:
    """Tie the output layer that a script's model names to its embeddings."""
    model = call.instance
    if not (_is_own(type(model), _OUTPUT) and getattr(model.config, "tie_word_embeddings", True)):
        return
    try:
        inputs, output = model.get_input_embeddings(), getattr(model, _OUTPUT)()
    except AttributeError:
        return  # the constructor has not come to that layer
    names = {id(each): name for name, each in model.named_parameters(remove_duplicate=False)}
    weights: list[Any] = [getattr(layer, "weight", None) for layer in (inputs, output)]
    source, tied = (names.get(id(each)) for each in weights)
    if not source or not tied or source == tied or weights[0].shape != weights[1].shape:
        return
    known = model._tied_weights_keys or {}
    if tied not in known:
        # Those of the class that it derives from may name layers that it has replaced.
        kept = {name: to for name, to in known.items() if name in names.values()}
        model._tied_weights_keys = {**kept, tied: source}
        old = f"{type(model).__name__}.{_OUTPUT} of tied embeddings"
        call.fix(row, old, f"write _tied_weights_keys = {{{tied!r}: {source!r}}}, too")


def _tied_to(model: Any, listed: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if not getattr(model.config, "tie_word_embeddings", False):
        return
    inputs = model.get_input_embeddings()
    names = dict(model.named_parameters(remove_duplicate=False))
    source = next((name for name, weight in names.items() if weight is inputs.weight), "")
    for name, weight in names.items():
        if name != source and weight.shape == inputs.weight.shape and name.endswith(listed):
            yield name, source


def finish(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Call `post_init` of a model that is loaded and whose constructor does not."""
    model = call.instance
    if _TIED not in vars(model):
        from transformers.initialization import no_init_weights

        with no_init_weights():
            model.post_init()
    return proceed()


def save_copies(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Save a copy for each module of weights that several share, where the library saves none."""
    try:
        return proceed()
    except RuntimeError as error:
        if not any(words in str(error) for words in _SHARED):
            raise
    saver = call.instance
    weights = call.arguments.get("state_dict")
    if weights is None:
        weights = (saver.model if hasattr(saver, "args") else saver).state_dict()
    call.arguments["state_dict"] = {name: weight.clone() for name, weight in weights.items()}
    call.fix(row, f"{call.name} of modules that share weights", "save a copy of each: state_dict=…")
    return proceed()


def share_again(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Let a model that is no library's share the weights that its constructor has shared.

    Each module has gotten weights of its own since models are made on the meta device, or new ones
    where the checkpoint has a single copy.
    """
    model = call.instance
    if not belongs_to_a_library(type(model)):
        tied = vars(model)[_TIED]
        missing = {}
        for names in _shared(model):
            source = next((tied[name] for name in names if name in tied), names[0])
            missing.update({name: source for name in names if name not in {source, *tied}})
        if missing:
            tied.update(missing)
            old = f"{type(model).__name__}.from_pretrained of modules that share weights"
            advice = f"write _tied_weights_keys = {missing}, and tie_word_embeddings=True in its"
            call.fix(row, old, f"{advice} configuration")
    return proceed()


def _shared(model: Any) -> Iterator[list[str]]:
    """Yield the names of each parameter that several modules have.

    A module makes those on the meta device again when it gets them, with the same storage.
    """
    names: dict[tuple[Any, ...], list[str]] = {}
    for prefix, module in model.named_modules():
        weight, bias = (getattr(module, name, None) for name in ("weight", "bias"))
        # Transformers cuts the bias of a tied module to the first dimension of its weight.
        if weight is not None and bias is not None and _length(weight) != _length(bias):
            continue
        for name, shared in module.named_parameters(prefix, recurse=False):
            layout = (shared.storage_offset(), shared.shape, shared.stride())
            names.setdefault((shared.untyped_storage()._cdata, *layout), []).append(name)
    return (each for each in names.values() if len(each) > 1)


def _length(weight: Any) -> int | None:
    return weight.shape[0] if getattr(weight, "shape", ()) else None


def no_positions(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Make no positions for a model whose own method makes them where none are given."""
    return None if _is_own(type(call.instance), _PREPARES) else proceed()


def own_positions(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Leave the positions of the next tokens to a model whose own method counts them."""
    given = call.arguments["model_kwargs"].get(_POSITIONS)
    updated = proceed()
    if given is not None and _is_own(type(call.instance), call.method.name):
        updated[_POSITIONS] = given
    return updated


def no_cache(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Make no cache for a model whose states are tuples, and leave no word of positions.

    A mask that hides nothing, which is left out today, is given to its own method all the same.
    """
    given = call.arguments["model_kwargs"]
    if not _is_own(type(call.instance), _PREPARES):
        return proceed()
    if _POSITIONS in given and given[_POSITIONS] is None:
        del given[_POSITIONS]
    settings = call.arguments["generation_config"]
    length = getattr(settings, "_mask_length", None)
    if length is not None and given.get(_MASK, length) is None:
        import torch

        rows = call.arguments["batch_size"] * max(settings.num_beams, settings.num_return_sequences)
        given[_MASK] = torch.ones(rows, length, dtype=torch.long, device=call.instance.device)
    return proceed() if getattr(call.instance, "_supports_cache_class", False) else None


def _is_own(cls: type, name: str) -> bool:
    method = getattr(cls, name)
    return any(vars(owner).get(name) is method for owner in own_classes(cls, of_frameworks=True))


def configured_as_before(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Let a class of configurations with a constructor of its own have what it inherited.

    Its models' embeddings are tied unless it says otherwise, and a method of it that has the name
    of one of dataclasses is called by nobody else.
    """
    cls: Any = call.instance
    if not belongs_to_a_library(cls) and _CONSTRUCTOR in vars(cls):
        if not hasattr(cls, _TIES):
            setattr(cls, _TIES, True)
        own, inherited = vars(cls).get(_LATER), getattr(super(cls, cls), _LATER)
        if own is not None and not _takes_any(own):

            def later(config: Any, **given: Any) -> None:
                inherited(config, **given) if given or called_by_library() else own(config)

            setattr(cls, _LATER, later)
    return proceed()


def _takes_any(method: Callable[..., Any]) -> bool:
    parameters = inspect.signature(method).parameters.values()
    return any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters)


def let_generate(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Let a script's model generate that says how, as all models could until Transformers 4.50.

    The class stays able to when the layer is off again.
    """
    from transformers import GenerationMixin

    cls = type(call.instance)
    if issubclass(cls, GenerationMixin):
        return
    for owner in own_classes(cls, of_frameworks=True):
        if _PREPARES in vars(owner):
            owner.__bases__ = (*owner.__bases__, GenerationMixin)
            break


def put_in_vain(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Refuse a model in whose class a script has put a method that nothing calls.

    Raises:
        LegacyError: it has.
    """
    method = vars(type(call.instance)).get(row.name)
    if method is not None:
        old = f"{type(call.instance).__name__}.{row.name} ="
        raise call.refuse(row, old, _IN_VAIN)


def know_default_positions(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Let models that are no library's look up how positions without a scaling are made."""
    if not belongs_to_a_library(type(call.instance)):
        from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

        ROPE_INIT_FUNCTIONS.setdefault("default", default_positions)


def default_positions(
    config: Any, device: Any = None, seq_len: Any = None, **ignored: Any
) -> tuple[Any, float]:
    """Return the frequencies of rotary positions, and the factor for attention, which is 1."""
    import torch

    settings = getattr(config, "rope_parameters", None) or {}
    base = settings.get("rope_theta") or getattr(config, "rope_theta", 10000.0)
    share = getattr(config, "partial_rotary_factor", settings.get("partial_rotary_factor", 1.0))
    size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    turned = int(size * share)
    steps = torch.arange(0, turned, 2, dtype=torch.int64).to(device=device, dtype=torch.float)
    return 1.0 / base ** (steps / turned), 1.0


def make_buffers(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Make the buffers of a model that is no library's with their values, not on the meta device.

    Those that are not in the checkpoint, such as frequencies of positions, have them from the
    constructor alone, and today only the library's own models get them later. Nothing is
    initialized yet: parameters that are not in the checkpoint would count as done.
    """
    contexts = proceed()
    if belongs_to_a_library(call.instance) or not any(_is_meta(context) for context in contexts):
        return contexts
    from accelerate import init_empty_weights
    from transformers.initialization import no_init_weights

    others = [context for context in contexts if not _is_meta(context)]
    return [*others, init_empty_weights(include_buffers=False), no_init_weights()]


def _is_meta(context: Any) -> bool:
    return str(context) == "meta"


def keep_buffers(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Put the values of those buffers back, where the library makes empty ones for all."""
    model = call.instance
    if belongs_to_a_library(type(model)):
        return proceed()
    made = {
        name: buffer for name, buffer in model.named_non_persistent_buffers() if not buffer.is_meta
    }
    result = proceed()
    for name, buffer in made.items():
        model.get_buffer(name).copy_(buffer)
    return result
