"""What the pages and the rows promise: every wording is found, and what a row names is there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from patchkit.catalogue import entries
from patchkit.known.answering import answered, entries_with_symptom
from patchkit.known.reading import read
from patchkit.known.rows import FOLDER, Row, all_rows
from patchkit.known.wordings import wording
from patchkit.legacy.converting.generation import _OF_EACH_CONFIGURATION

WORDINGS = (
    "expected mat1 and mat2 to have the same dtype, but got: float != c10::BFloat16",
    "Input type (float) and bias type (c10::BFloat16) should be the same",
    "Input type (torch.FloatTensor) and weight type (CPUBFloat16Type) should be the same or input should be a MKLDNN tensor and weight is a dense tensor",
    "expected scalar type Float but found Half",
    "expected scalar type Half but found Float",
    "self and mat2 must have the same dtype",
    "RuntimeError: \"_amp_foreach_non_finite_check_and_unscale_cuda\" not implemented for 'BFloat16'",
    "Attempting to unscale FP16 gradients.",
)
"""As they were seen without the patches, on a CPU with PyTorch 2.13, and in bug reports."""
DOCS = Path(__file__).resolve().parents[2] / "docs"
ROWS = all_rows()
CATALOGUE = entries.load()


def findings() -> set[str]:
    page = (DOCS / "preflight.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    return set(re.findall(r"`([a-z0-9-]+)`", " ".join(rows)))


@pytest.mark.parametrize("message", WORDINGS)
def test_each_wording_that_was_seen(message: str) -> None:
    assert answered(read(message), lambda _: None).answers


@pytest.mark.parametrize(
    "message",
    sorted({message for entry in CATALOGUE for message in entry.patch.messages}),
)
def test_each_message_of_a_patch(message: str) -> None:
    found = answered(read(f"RuntimeError: {message}"), lambda _: None)
    assert found.answers or entries_with_symptom(read(message), CATALOGUE)


def test_a_row_names_the_settings_that_the_layer_gives_to_a_configuration() -> None:
    (row,) = (row for row in ROWS if row.id == "setting-of-each-configuration")
    assert set(re.findall(r"\w*_\w+|\bprefix", row.never[0])) == _OF_EACH_CONFIGURATION


@pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])
def test_a_row(row: Row) -> None:
    for said in row.says:
        assert wording(said).literals, "a wording of holes alone is found everywhere"
        re.compile(wording(said).pattern())
    for word in (*row.near, *row.never):
        re.compile(word)
    holes = set(re.findall(r"\{\w+:(\w+)\}", "".join(row.says)))
    holes |= set(re.findall(r"\{(\w+)=", "".join(row.says)))
    used = re.findall(r"\{(\w+)(\|[^{}]*)?\}", " ".join((row.cause, row.do, row.whose, *row.write)))
    for name, otherwise in used:
        assert not any(said.endswith(f"{{any:{name}}}") for said in row.says), (
            "takes no letter there"
        )
        if name == "since" and row.since is not None:
            continue
        if name in ("asking", "caller", "message"):
            assert otherwise, "a message alone does not show who asks"
            continue
        assert name in holes
        everywhere = all(re.search(rf":{name}\}}|\{{{name}=", said) for said in row.says)
        assert otherwise or everywhere, f"{{{name}}} needs words for wordings without it"
    assert CATALOGUE.entries.keys() >= set(row.patches)
    assert set(row.preflight) <= findings()
    assert row.cause.endswith(".")
    assert row.do.endswith(".")
    for link in row.links:
        assert link.startswith("https://")
    for versions in row.versions.values():
        from packaging.specifiers import SpecifierSet

        assert SpecifierSet(versions)


def test_each_row_has_its_own_name() -> None:
    names = [row.id for row in ROWS]
    assert len(names) == len(set(names))


def test_rows_are_json_that_javascript_reads() -> None:
    for file in FOLDER.glob("*.json"):
        assert json.loads(file.read_text(encoding="utf-8"))
