"""Bugs of bitsandbytes."""
