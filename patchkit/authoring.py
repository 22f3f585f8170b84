"""All that a patch, its reproducer and its test import. What is not here may change unannounced.

    from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, replace

docs/writing-a-patch.md leads from a bug to a patch, and says what each name is for.
"""

from .patch import Patch, Rewrite, Wrap
from .rewrite import Edit, Matcher, Pattern, Rule, bind, find, helper, mentions, replace, require
from .rewrite.edit import drop, insert_after, operand, span
from .rewrite.match import walk
from .settings import Setting, requested_dtype, value

TYPE_CHECKING = False  # the lab is imported when a reproducer asks for it
if TYPE_CHECKING:
    from .lab.cuda_fp16 import cuda_fp16_on_cpu
    from .lab.reproduce import (
        device,
        four_bit_model_with_trained_head,
        import_first,
        train_in_temporary_folder,
    )
    from .lab.tiny import build_causal_lm, dtype_keyword, go_offline
del TYPE_CHECKING

__all__ = [
    "Edit",
    "Matcher",
    "Patch",
    "Pattern",
    "Rewrite",
    "Rule",
    "Setting",
    "Wrap",
    "bind",
    "build_causal_lm",
    "cuda_fp16_on_cpu",
    "device",
    "drop",
    "dtype_keyword",
    "find",
    "four_bit_model_with_trained_head",
    "go_offline",
    "helper",
    "import_first",
    "insert_after",
    "mentions",
    "operand",
    "replace",
    "requested_dtype",
    "require",
    "span",
    "train_in_temporary_folder",
    "value",
    "walk",
]

_LAZY = {
    "build_causal_lm": "tiny",
    "cuda_fp16_on_cpu": "cuda_fp16",
    "device": "reproduce",
    "dtype_keyword": "tiny",
    "four_bit_model_with_trained_head": "reproduce",
    "go_offline": "tiny",
    "import_first": "reproduce",
    "train_in_temporary_folder": "reproduce",
}


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"patchkit.lab.{_LAZY[name]}"), name)
