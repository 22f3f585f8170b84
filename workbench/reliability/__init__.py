"""Disturb patchkit in every way that one can think of, and ask whether what it says is so."""
