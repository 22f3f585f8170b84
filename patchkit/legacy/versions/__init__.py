"""Releases: those installed, those that a script was written for, and sets that work."""
