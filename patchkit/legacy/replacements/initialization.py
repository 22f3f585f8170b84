"""The old way to make a model without values for its weights."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext


def no_init_weights(_enable: bool = True) -> AbstractContextManager[None]:
    """Return a context in which no weights get their first values, unless that is switched off."""
    from transformers.initialization import no_init_weights as today

    context: AbstractContextManager[None] = today() if _enable else nullcontext()
    return context
