"""The source rewriter: structural edits of functions, in place, checked and reversible.

It works on a live function or on the text of a file, and imports nothing of patchkit outside
this package.
"""

from .edit import Edit, helper, replace, require
from .errors import Collision, Drift
from .install import CodeSwaps, RewrittenFunction
from .locate import FunctionSource, functions_in_file
from .match import Matcher, Pattern, find, mentions
from .rule import Rule, edited_code
from .target import Binding, Target, bind

__all__ = [
    "Binding",
    "CodeSwaps",
    "Collision",
    "Drift",
    "Edit",
    "FunctionSource",
    "Matcher",
    "Pattern",
    "RewrittenFunction",
    "Rule",
    "Target",
    "bind",
    "edited_code",
    "find",
    "functions_in_file",
    "helper",
    "mentions",
    "replace",
    "require",
]
