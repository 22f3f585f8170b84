"""Combinations of arguments, and classes of a script's own, that were taken and raise today."""
