"""Module paths of 0.1 that somebody may import."""

from __future__ import annotations

import pytest

SAID = {
    "patchkit.doctor": ("patchkit.cli.doctor", "diagnose"),
    "patchkit.session": ("patchkit.engine.session", "Session"),
    "patchkit.running.interpreter": ("patchkit.cli.run.interpreter", "start"),
}


@pytest.mark.parametrize("old", SAID)
def test_an_old_path_works_and_says_so(fresh, old: str) -> None:
    new, name = SAID[old]
    said = fresh(
        f"""
        import warnings
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            from {old} import {name} as old
        from {new} import {name} as new
        assert old is new
        result = [str(warning.message) for warning in caught]
        """
    )
    if old.startswith("patchkit.running"):  # only `patchkit run` of another release comes by
        assert said == []
    else:
        (message,) = said
        assert message.startswith(f"{old} is {new} now")
