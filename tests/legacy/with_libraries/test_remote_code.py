"""Model files in the shape of well-known repositories of Transformers 4."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from .programs import answer

transformers = pytest.importorskip("transformers")
SCRIPT = Path(__file__).with_name("each_remote.py")
MODELS = sorted(
    folder.name
    for folder in (Path(__file__).parent.parent / "remote_code").iterdir()
    if (folder / "config.json").is_file()
)
Found = Mapping[str, Any]
pytestmark = pytest.mark.skipif(
    Version(transformers.__version__) < Version("5.14.0"), reason="most of them load without it"
)


@pytest.fixture(scope="module")
def on(tmp_path_factory: pytest.TempPathFactory) -> Found:
    found: Found = answer(SCRIPT, "on", tmp_path_factory.mktemp("on"))
    return found


@pytest.fixture(scope="module")
def off(tmp_path_factory: pytest.TempPathFactory) -> Found:
    found: Found = answer(SCRIPT, "off", tmp_path_factory.mktemp("off"))
    return found


def is_right(found: Any) -> bool:
    return isinstance(found, dict) and all(
        (
            found["learns"],
            found["same_again"],
            found["tied"] == found["should_tie"],
            found["with_cache_as_without"],
            found["new"] == 5,
        )
    )


@pytest.mark.parametrize("model", MODELS)
def test_it_does_not_work_without_the_layer(model: str, off: Found) -> None:
    assert not is_right(off[model])


@pytest.mark.parametrize("model", MODELS)
def test_it_trains_is_saved_and_loaded_and_generates(model: str, on: Found) -> None:
    assert is_right(on[model]), on[model]
