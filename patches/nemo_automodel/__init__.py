"""Bugs of NeMo Automodel."""
