"""Bugs of Transformers, and the preflight before its trainers."""
