"""Patterns of names match as `fnmatch` has them."""

from __future__ import annotations

import fnmatch
import random
import re

from patchkit.rewrite.target import matcher


def test_it_matches_as_fnmatch_does() -> None:
    draw = random.Random(1)
    matched = 0
    for _ in range(20_000):
        pattern = "".join(draw.choice("ab.*") for _ in range(draw.randint(1, 7)))
        name = "".join(draw.choice("ab.") for _ in range(draw.randint(0, 8)))
        expected = bool(re.compile(fnmatch.translate(pattern)).match(name))
        assert bool(matcher(pattern)(name)) == expected, (pattern, name)
        matched += expected
    assert matched > 1000
    assert matcher("a[bc]?")("abd")
    assert not matcher("a[bc]?")("add")
