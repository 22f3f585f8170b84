"""The source rewriter: structural edits of functions, in place, checked and reversible.

It works on a live function or on the text of a file, and imports nothing of patchkit outside
this package.
"""

TYPE_CHECKING = False  # what is known from earlier processes needs few of these
if TYPE_CHECKING:
    from .edit import Edit, helper, replace, require
    from .edited import edited_code
    from .errors import Collision, Drift
    from .install import Claimant, CodeSwaps, Edits, Piece, SwappedFunction
    from .locate import FunctionSource, functions_in_file
    from .match import Matcher, Pattern, find, mentions
    from .rule import Rule
    from .target import Binding, Target, bind, chain
    from .trampoline import Around, Wrapper

__all__ = [
    "Around",
    "Binding",
    "Claimant",
    "CodeSwaps",
    "Collision",
    "Drift",
    "Edit",
    "Edits",
    "FunctionSource",
    "Matcher",
    "Pattern",
    "Piece",
    "Rule",
    "SwappedFunction",
    "Target",
    "Wrapper",
    "bind",
    "chain",
    "edited_code",
    "find",
    "functions_in_file",
    "helper",
    "mentions",
    "replace",
    "require",
]

_NAMES = {
    "edit": ("Edit", "helper", "replace", "require"),
    "edited": ("edited_code",),
    "errors": ("Collision", "Drift"),
    "install": ("Claimant", "CodeSwaps", "Edits", "Piece", "SwappedFunction"),
    "locate": ("FunctionSource", "functions_in_file"),
    "match": ("Matcher", "Pattern", "find", "mentions"),
    "rule": ("Rule",),
    "target": ("Binding", "Target", "bind", "chain"),
    "trampoline": ("Around", "Wrapper"),
}
_PLACES = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'patchkit.rewrite' has no attribute {name!r}")
    from importlib import import_module

    return globals().setdefault(name, getattr(import_module(f".{_PLACES[name]}", __name__), name))
