"""Names, keywords and methods that few scripts use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from .programs import printed, run_script

transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.skipif(
    Version(transformers.__version__) < Version("5.20.0"), reason="it has some of them"
)
LOW = -3.4028234663852886e38
EXPECTED: dict[str, Any] = {
    "inverted": [[[[0, 0, LOW]]]],
    "of an encoder": [[[[0, 0, LOW]]]],
    "of a decoder": [[[[0, LOW, LOW], [0, 0, LOW], [0, 0, LOW]]]],
    "of heads": [[None, None], [3, 1, 2, 1, 1]],
    "keys": [1, -15, [[[[0, 1]]]]],
    "lengths": [3, 3, None],
    "tuples": [2],
    "both caches": [6, 2, 0],
    "positions": [[1, pytest.approx(0.1)], 1],
    "generates": [True, False],
    "forced": [None, None],
    "parallel": [False, False],
    "names by folder": [True, True, False],
    "no such folder": "KeyError: 'models.lla'",
    "padded": [[1, 0], [1, 2]],
    "mask": [[[[0, LOW], [0, 0]]]],
    "sizes of a layer": [2, 8],
}
REFUSED = {
    "in vain": "LlamaModel._prepare_decoder_attention_mask = has been gone since Transformers 4.35.0.",
    "positions of a layer": "hands them to forward as position_embeddings.",
    "own loss": "Own.compute_liger_loss has been gone since TRL 1.14.0. No trainer calls it.",
    "owner of a repository": 'Write the owner before the name: create_repo("owner/name").',
    "the same of the class": 'Write the owner before the name: create_repo("owner/name").',
    "owner of a model": 'Write the owner before the name: push_to_hub("owner/name").',
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    script = Path(__file__).with_name("lesser.py")
    answer: dict[str, Any] = printed(run_script(script, folder=tmp_path_factory.mktemp("lesser")))
    return answer


@pytest.mark.parametrize("name", EXPECTED)
def test_it_is_as_it_was(name: str, found: dict[str, Any]) -> None:
    assert found[name] == EXPECTED[name]


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_in_a_sentence(name: str, found: dict[str, Any]) -> None:
    assert REFUSED[name] in found[name]


def test_a_keyword_of_the_hub(found: dict[str, Any]) -> None:
    assert found["token"].startswith("LocalEntryNotFoundError")
