"""Diagnose an installation: list what is wrong, and what to do about it."""

from .diagnosis import Diagnosis, diagnose

__all__ = ["Diagnosis", "diagnose"]
