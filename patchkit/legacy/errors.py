"""Errors of scripts that ask for something gone."""

from __future__ import annotations

from ..errors import PatchError


class LegacyError(PatchError, TypeError):
    """A call that was right once cannot be carried out by the installed libraries."""


class GoneError(PatchError, ImportError):
    """A name that a script imports is gone for good."""
