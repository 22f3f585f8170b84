"""What versions a script wants: for which it was written, and which set of them runs it."""

from .script import Verdict, Wanted, wanted

__all__ = ["Verdict", "Wanted", "wanted"]
