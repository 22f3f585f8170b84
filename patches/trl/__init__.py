"""Bugs of TRL."""
