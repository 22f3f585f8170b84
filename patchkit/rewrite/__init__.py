"""The source rewriter: structural edits of functions, in place, checked and reversible.

It works on a live function or on the text of a file, and imports nothing of patchkit outside
this package.
"""

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
