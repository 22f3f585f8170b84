"""Note which dtypes the layers of a model return."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def returned_dtypes(model: Any) -> Iterator[dict[str, list[str]]]:
    """Note what adapted layers, and the base layers in them, return inside the block.

    Args:
        model: any model.

    Yields:
        names of dtypes by the kind of layer, filled in while the model runs. A model without
        adapters has none.
    """
    found: dict[str, list[str]] = {}
    handles = [
        layer.register_forward_hook(_note(found, kind))
        for module in model.modules()
        if "base_layer" in module._modules
        for kind, layer in (("base layers", module.base_layer), ("adapted layers", module))
    ]
    try:
        yield found
    finally:
        for handle in handles:
            handle.remove()


def _note(found: dict[str, list[str]], kind: str) -> Callable[[Any, Any, Any], None]:
    def note(layer: Any, inputs: Any, output: Any) -> None:
        dtypes = {str(output.dtype).removeprefix("torch."), *found.get(kind, ())}
        found[kind] = sorted(dtypes)

    return note
