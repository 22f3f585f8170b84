"""Bugs of Unsloth."""
