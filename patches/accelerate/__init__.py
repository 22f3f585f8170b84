"""Bugs of Accelerate."""
