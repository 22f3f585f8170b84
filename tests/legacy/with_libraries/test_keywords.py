"""Each keyword of the table on the installed libraries: an error without the layer, none with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).with_name("each_keyword.py")


def tried(side: str, folder: Path) -> list[dict[str, Any]]:
    result = subprocess.run(
        [sys.executable, str(SCRIPT), side],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
        timeout=900,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    return json.loads(result.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def off(tmp_path_factory) -> list[dict[str, Any]]:
    return tried("off", tmp_path_factory.mktemp("off"))


@pytest.fixture(scope="module")
def on(tmp_path_factory) -> list[dict[str, Any]]:
    return tried("on", tmp_path_factory.mktemp("on"))


def test_each_old_keyword_is_an_error_without_the_layer(off):
    wrong = [it for it in off if f"unexpected keyword argument '{it['name']}'" not in it["became"]]
    assert not wrong
    assert off


def test_each_old_keyword_works_with_the_layer_or_is_refused(on):
    wrong = [it for it in on if not it["became"].startswith(it["expected"])]
    assert not wrong
    assert {it["expected"] for it in on} == {"works", "refused"}
