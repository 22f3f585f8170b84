"""Combinations of arguments, and a script's own classes, that current releases refuse."""
