"""Each name of the table on the installed libraries: gone without the layer; found or told with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import answer

pytest.importorskip("trl")
WITH_OTHER_KEYS = {"transformers._import_structure"}
"""Names that are there, of mappings that had other keys."""
SCRIPT = Path(__file__).with_name("each_name.py")


def tried(side: str, folder: Path) -> dict[str, tuple[str, str, str]]:
    became: dict[str, tuple[str, str, str]] = answer(SCRIPT, side, folder)
    return became


def test_each_name(tmp_path) -> None:
    off, on = tried("off", tmp_path), tried("on", tmp_path)
    errors = ("ImportError: ", "ModuleNotFoundError: ")
    there = [name for name, (_, became, _) in off.items() if not became.startswith(errors)]
    assert set(there) <= WITH_OTHER_KEYS
    assert on.keys() == off.keys()
    assert {"trl.ORPOTrainer", "transformers.deepspeed"} <= on.keys()
    for name, (kind, became, _) in on.items():
        if kind == "Moved":
            assert became == "there", name
        else:
            assert f"{name} has been gone since " in became, name
