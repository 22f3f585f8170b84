"""Bugs of PEFT."""
