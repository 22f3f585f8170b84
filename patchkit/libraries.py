"""The libraries that patchkit knows, and what each is to it: the one list that others come from.

The interpreters that `patchkit run` watches over cannot import this when they start; a test holds
the list there to this one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Role = Literal["patched", "measured", "needed", "interfaces"]
"""What a library is to patchkit:

- `patched`: most patches change one of these; without any of them, none is due.
- `measured`: each measurement records its version.
- `needed`: a training of the kind that patchkit fixes cannot do without it.
- `interfaces`: the history of its public interfaces is known, and what requires it is a framework.
"""

_TRAINING: frozenset[Role] = frozenset({"patched", "measured", "needed", "interfaces"})
LIBRARIES: Mapping[str, tuple[str, frozenset[Role]]] = {
    "trl": ("TRL", _TRAINING),
    "transformers": ("Transformers", _TRAINING),
    "peft": ("PEFT", _TRAINING),
    "accelerate": ("Accelerate", _TRAINING),
    "bitsandbytes": ("bitsandbytes", frozenset({"patched", "measured"})),
    "datasets": ("Datasets", frozenset({"measured", "interfaces"})),
    "torch": ("PyTorch", frozenset({"measured", "needed"})),
    "huggingface_hub": ("huggingface_hub", frozenset()),
    "unsloth": ("Unsloth", frozenset()),
    "unsloth_zoo": ("unsloth_zoo", frozenset()),
}
"""The name that scripts import, which pip takes for that of the distribution, to the name in a
sentence and the roles."""


def with_role(role: Role) -> tuple[str, ...]:
    """Return the names of the libraries with a role, in the order of the table."""
    return tuple(name for name, (_, roles) in LIBRARIES.items() if role in roles)


def title(name: str) -> str:
    """Return the name of a library as in a sentence; unknown ones keep the name that they have."""
    return LIBRARIES[name][0] if name in LIBRARIES else name
