"""Constants with pieces of docstrings, which modules of models had."""

NO_TEXT = ""
"""Stands for each; models say what they take in their own docstrings."""
