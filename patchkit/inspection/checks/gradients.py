"""Check that what is trained gets gradients: from the loss through the model to the optimizer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...text import short_list
from .. import repairs
from ..anatomy import AdapterLayer
from ..facts import TrainingFacts
from ..findings import Finding, Severity, found
from ..wording import parameters, plural

_WITHOUT_GRAPH = "`element 0 of tensors does not require grad and does not have a grad_fn`"
_WITHOUT_GRADIENTS = (
    "`No inf checks were recorded prior to update.`, or `… for this optimizer.` if it is not fused"
)
_HEADS = frozenset({"lm_head", "score", "classifier", "qa_outputs", "v_head"})
"""Names of modules after the last block; what is trained there sends no gradient into blocks."""


def nothing_trained(facts: TrainingFacts) -> Finding | None:
    """Find a model of frozen parameters only.

    Without a trainer, an optimizer or adapters it may be on its way to get some. An optimizer of
    tensors that are not the model's trains inputs.
    """
    anatomy = facts.anatomy
    known = facts.trainer_made or facts.optimizer is not None or anatomy.adapters
    if anatomy.trainable or not anatomy.parameters or not known:
        return None
    if not facts.trainer_made and _foreign(facts):
        return None
    off = [layer for layer in anatomy.adapters if layer.off]
    return found(
        "nothing-trained",
        case="switched off" if off else "frozen" if anatomy.adapters else "no adapters",
        parameters=plural(len(anatomy.parameters), "parameter"),
        off=f", and the adapters of {_layers(off)} are switched off" if off else "",
        consequence=_consequence(facts),
        enable=_enable(facts),
    )


def fused_step_under_fsdp(facts: TrainingFacts) -> Finding | None:
    """Find a fused optimizer beside FSDP1's gradient scaler, which knows nothing of its steps."""
    if facts.engine != "fsdp1" or facts.mixed_precision != "float16" or not facts.fused:
        return None
    return found("fused-step-under-fsdp", optimizer=facts.optimizer_kind)


def trained_outside_the_graph(facts: TrainingFacts) -> Finding | None:
    """Find adapters that are trained, but that no forward pass uses."""
    anatomy = facts.anatomy
    unused = {id(tensor) for layer in anatomy.adapters for tensor in layer.unused()}
    if not unused or not anatomy.trainable:
        return None
    if any(id(parameter.tensor) not in unused for parameter in anatomy.trainable):
        return None
    off = [layer for layer in anatomy.adapters if layer.off]
    merged = [layer for layer in anatomy.adapters if layer.merged]
    active = sorted({name for layer in anatomy.adapters for name in layer.active})
    return found(
        "trained-outside-the-graph",
        case="switched off" if off else "merged" if merged else "not active",
        parameters=parameters(anatomy.trainable, "trained parameter"),
        layers=_layers(off or merged),
        active=", ".join(active) or "none",
        consequence=_consequence(facts),
        enable=_enable(facts),
    )


def optimizer_of_other_parameters(facts: TrainingFacts) -> Finding | None:
    """Find an optimizer that holds none of what the model trains."""
    if facts.optimizer is None or facts.engine or not facts.anatomy.trainable:
        return None
    trained = {id(parameter.tensor) for parameter in facts.anatomy.trainable}
    held = _held(facts)
    if not held or any(id(tensor) in trained for tensor in held) or _stands_for(facts, held):
        return None
    foreign = _foreign(facts)
    certain = facts.trainer_made or len(foreign) < len(held)
    kinds = [(len(held) - len(foreign), "frozen"), (len(foreign), "not the model's")]
    return found(
        "optimizer-of-other-parameters",
        severity=None if certain else Severity.WARNING,
        held=plural(len(held), "parameter"),
        what=" and ".join(f"{number} that are {kind}" for number, kind in kinds if number),
        trainable=parameters(facts.anatomy.trainable, "trained parameter"),
        consequence=_none_checked(facts),
    )


def checkpointing_cuts_the_graph(facts: TrainingFacts) -> Finding | None:
    """Find reentrant gradient checkpointing whose blocks get no input that requires a gradient."""
    anatomy = facts.anatomy
    if facts.model is None or not anatomy.trainable:
        return None
    blocks = _blocks(facts)
    model = next((module for module in facts.model.modules() if _is_pretrained(module)), None)
    if not blocks or model is None or not _reentrant(facts, model, blocks) or _fed(facts):
        return None
    inside = {id(tensor) for block in blocks for tensor in block.parameters()}
    before = [
        parameter
        for parameter in anatomy.trainable
        if id(parameter.tensor) not in inside and not _HEADS & set(parameter.name.split("."))
    ]
    in_blocks = [parameter for parameter in anatomy.trainable if id(parameter.tensor) in inside]
    if before or not in_blocks:
        return None
    if len(in_blocks) == len(anatomy.trainable):
        what = f"The first backward pass raises: {_WITHOUT_GRAPH}."
    else:
        what = "Training runs, but only the head learns."
    return found(
        "checkpointing-cuts-the-graph",
        parameters=parameters(in_blocks, "trained parameter"),
        blocks=plural(len(blocks), "block"),
        consequence=what,
        repair=repairs.require_input_gradients(model),
    )


def inference_tensors(facts: TrainingFacts) -> Finding | None:
    """Find weights made under `torch.inference_mode()` that a backward pass needs."""
    made = [
        parameter
        for parameter in facts.anatomy.parameters
        if (parameter.trainable or parameter.in_base)
        and parameter.tensor.is_inference()
        and facts.anatomy.trainable
    ]
    if not made:
        return None
    return found("inference-tensors", parameters=parameters(made, "parameter"))


def _consequence(facts: TrainingFacts) -> str:
    hooks = [hook for embedding in _embeddings(facts.model) for hook in _hooks(embedding)]
    if not any("require_grad" in getattr(hook, "__name__", "") for hook in hooks):
        return f"The first backward pass raises: {_WITHOUT_GRAPH}."
    return (
        "The loss has a gradient, since the embedding's output is made to require one, but "
        f"no parameter gets any. {_none_checked(facts)}"
    )


def _none_checked(facts: TrainingFacts) -> str:
    if facts.scaler:
        return f"The gradient scaler of fp16 raises in the first step: {_WITHOUT_GRADIENTS}."
    return "Training runs to its end and changes nothing, without a word."


def _layers(layers: list[AdapterLayer]) -> str:
    return f"{plural(len(layers), 'layer')} ({short_list(layer.name for layer in layers)})"


def _enable(facts: TrainingFacts) -> str:
    """Return the method that switches adapters on: PEFT's, or that of Transformers."""
    of_peft = hasattr(facts.model, "enable_adapter_layers")
    return "enable_adapter_layers" if of_peft else "enable_adapters"


def _held(facts: TrainingFacts) -> list[Any]:
    return [tensor for group in facts.optimizer.param_groups for tensor in group["params"]]


def _foreign(facts: TrainingFacts) -> list[Any]:
    """Return the optimizer's parameters that are not the model's."""
    if facts.optimizer is None:
        return []
    own = {id(parameter.tensor) for parameter in facts.anatomy.parameters}
    return [tensor for tensor in _held(facts) if id(tensor) not in own]


def _stands_for(facts: TrainingFacts, held: list[Any]) -> bool:
    """Return whether an optimizer's tensors stand for the parameters, on purpose.

    Optimizers that step in hooks hold a dummy; master weights are copies of another dtype.
    """
    if "Dummy" in type(facts.optimizer).__name__ or facts.hardware.type == "xla":
        return True
    trained = [parameter.tensor for parameter in facts.anatomy.trainable]
    sizes = sum(tensor.numel() for tensor in held), sum(tensor.numel() for tensor in trained)
    apart = {tensor.dtype for tensor in held}.isdisjoint(tensor.dtype for tensor in trained)
    return sizes[0] == sizes[1] and apart


def _is_pretrained(module: Any) -> bool:
    return hasattr(module, "enable_input_require_grads") and "config" in vars(module)


def _fed(facts: TrainingFacts) -> bool:
    """Return whether a hook may make the blocks' input require a gradient."""
    return any(_hooks(embedding) for embedding in _embeddings(facts.model))


def _hooks(module: Any) -> list[Any]:
    return list(module._forward_hooks.values())


def _embeddings(model: Any) -> Iterator[Any]:
    for module in model.modules():
        if hasattr(module, "get_input_embeddings"):
            try:
                embedding = module.get_input_embeddings()
            except (AttributeError, NotImplementedError):
                continue
            if hasattr(embedding, "_forward_hooks"):
                yield embedding


def _blocks(facts: TrainingFacts) -> list[Any]:
    import sys

    layers = sys.modules.get("transformers.modeling_layers")
    cls = getattr(layers, "GradientCheckpointingLayer", None)
    return [] if cls is None else [part for part in facts.model.modules() if isinstance(part, cls)]


def _reentrant(facts: TrainingFacts, model: Any, blocks: list[Any]) -> bool:
    """Return whether all blocks will run under reentrant checkpointing, and no hook is added."""
    args = facts.args
    # Transformers 5.23 calls it by another name, and keeps the older one.
    if not (facts.trainer_made and getattr(args, "gradient_checkpointing", False)):
        functions = [
            getattr(block, "_gradient_checkpointing_func", None)
            if block.gradient_checkpointing
            else None
            for block in blocks
        ]
        options = [getattr(function, "keywords", {}) for function in functions]
        return all(given.get("use_reentrant") is True for given in options)
    import transformers

    cls = type(model)
    enable = getattr(cls, "_activation_checkpointing_enable", cls.gradient_checkpointing_enable)
    hooked = getattr(model, "_hf_peft_config_loaded", False) or (
        "main_input_name" in enable.__code__.co_names and model.main_input_name == "input_ids"
    )
    given = args.gradient_checkpointing_kwargs
    default = int(transformers.__version__.partition(".")[0]) < 5
    every = not given or given.get("every_n_layers", 1) == 1
    return not hooked and every and bool(given.get("use_reentrant") if given else default)
