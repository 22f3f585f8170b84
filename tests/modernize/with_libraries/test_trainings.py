"""Old scripts fail; written anew they train without the layer, with the losses that it gives."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
LAYER = ("-m", "patchkit", "run", "--legacy", "--")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of what stands in for the Hub, which is built by the first training."""
    return tmp_path_factory.mktemp("stand-ins")


@pytest.fixture
def part(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return lambda name: importlib.import_module(f"legacy_parts.{name}")


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("0.7/own_compute_loss.py", "unexpected keyword argument 'evaluation_strategy'"),
        ("0.9/kto_script.sh", "argument --bf16: expected one argument"),
        ("0.11/llama3_chat.ipynb", "unexpected keyword argument 'use_auth_token'"),
    ],
)
def test_a_script_written_anew_trains(name: str, error: str, part: Any, cache: Path) -> None:
    eras, running, modernizing = part("eras"), part("running"), part("modernizing")
    script = next(it for it in eras.scripts() if it.name == name)
    python = Path(sys.executable)
    before = running.run(script, python, cache)
    assert before["state"] == running.FAILED
    assert error in before["error"]
    layer = running.run(script, python, cache, LAYER)
    after = running.run(script, python, cache, prepare=modernizing.modernize)
    assert after["stable"]
    assert after["refused"] == ""
    assert (after["state"], layer["state"]) == (running.TRAINED, running.TRAINED)
    assert after["losses"] == layer["losses"]
    assert after["logged"] == layer["logged"]
