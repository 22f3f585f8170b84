"""The switch that Datasets had for its cache."""

from __future__ import annotations


def set_caching_enabled(boolean: bool) -> None:
    """Let results of `map` and the like be read from the cache, or not."""
    from datasets import disable_caching, enable_caching

    (enable_caching if boolean else disable_caching)()
