"""Links of the repository as links of the site."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
ELSEWHERE = {"benchmarks.md": "benchmarks/README.md"}


def site_links(text: str, place: str) -> str:
    file = REPOSITORY / "docs_site" / "links.py"
    spec = importlib.util.spec_from_file_location("docs_site_links", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return str(module.site_links(text, place, ELSEWHERE, REPOSITORY))


@pytest.mark.parametrize(
    ("place", "before", "after"),
    [
        ("docs/design.md", "[it](matrix.md)", "[it](matrix.md)"),
        ("docs/design.md", "[it](matrix.md#show-it)", "[it](matrix.md#show-it)"),
        ("docs/design.md", "[it](../benchmarks/README.md)", "[it](benchmarks.md)"),
        ("docs/design.md", "[it](../README.md#limits)", "[it](index.md#limits)"),
        ("docs/design.md", "[it](../tox.ini)", "it"),
        ("docs/design.md", "[`it`](../patches/trl)", "`it`"),
        ("docs/design.md", "[it](../nothing.py)", "[it](../nothing.py)"),
        ("docs/design.md", "[it](https://example.org/a)", "[it](https://example.org/a)"),
        ("docs/design.md", "[it](#decisions)", "[it](#decisions)"),
        ("docs/design.md", "![it](matrix.svg)", "![it](matrix.svg)"),
        ("docs/patches/a.md", "[it](../errors.md)", "[it](../errors.md)"),
        ("benchmarks/README.md", "[it](../docs/matrix.md)", "[it](matrix.md)"),
        ("benchmarks/README.md", "[it](fresh.py)", "it"),
    ],
)
def test_a_link(place: str, before: str, after: str) -> None:
    assert site_links(f"See {before}.", place) == f"See {after}."
