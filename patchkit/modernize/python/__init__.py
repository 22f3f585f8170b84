"""Rewrite Python source for other releases."""

from __future__ import annotations

from .rewriting import modernize

__all__ = ["modernize"]
