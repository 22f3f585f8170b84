"""What versions a script wants: for which it was written, and which set of them runs it."""

from .script import ScriptVerdict, ScriptWants, wanted

__all__ = ["ScriptVerdict", "ScriptWants", "wanted"]
