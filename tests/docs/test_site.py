"""The site, built as CI builds it: strictly, of docs/ and the catalogue."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from string import ascii_lowercase, digits
from typing import Any

import pytest

import patchkit
from patchkit.catalogue import entries as catalogue
from patchkit.matrix import lookup as matrix
from patchkit.matrix.show.releases import grids_of_releases

PATCHES = [entry.patch for entry in catalogue.load()]
MESSAGES = sorted({message for patch in PATCHES for message in patch.messages})
LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
# As they stand on a screen, with what varies, and where they must lead.
PASTED = {
    "NotImplementedError: \"_amp_foreach_non_finite_check_and_unscale_cuda\" not implemented for 'BFloat16'": "#_amp_foreach",
    "_amp_foreach_non_finite_check_and_unscale_cuda": "#_amp_foreach",
    "BFloat16": "#_amp_foreach",
    "ValueError: Attempting to unscale FP16 gradients.": "#attempting-to-unscale-fp16",
    "RuntimeError: expected m1 and m2 to have the same dtype, but got: float != c10::BFloat16": "#expected-m1-and-m2",
    "RuntimeError: expected mat1 and mat2 to have the same dtype, but got: c10::Half != float": "#",
    "mat1 and mat2 must have the same dtype, but got Float and BFloat16": "#mat1-and-mat2-must",
    '"have the same dtype"': "#",
    "have the same dtype": "#",
    "RuntimeError: shape '[64, 32]' is invalid for input of size 4096": "#is-invalid-for-input",
    "RuntimeError: The size of tensor a (128) must match the size of tensor b (64) at non-singleton dimension 0": "#must-match-the-size",
    "Expected query, key, and value to have the same dtype, but got query.dtype: c10::BFloat16 key.dtype: float": "#expected-query-key",
    "AttributeError: 'NoneType' object has no attribute 'apply'": "#nonetype-object",
    "loss does not fall": "#the-loss-does-not-fall",
    "adapters are bfloat16": "#adapters-are-bfloat16",
}

FAMILIES = ("gemma3n_text", "qwen3_next", "llama")
OLD_SPELLINGS = (
    "TypeError: SFTTrainer.__init__() got an unexpected keyword argument 'tokenizer'",
    "got an unexpected keyword argument 'evaluation_strategy'",
    "ImportError: cannot import name 'ORPOTrainer' from 'trl'",
)
QUESTIONS = {"which versions does a script need": "script-versions/"}


@pytest.fixture(scope="module")
def sections(site: Path) -> list[dict[str, Any]]:
    """What the search knows."""
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    return list(index["docs"])


def text_of(sections: list[dict[str, Any]], page: str) -> str:
    """All text of one page, as a person reads it."""
    found = (it for it in sections if it["location"].partition("#")[0] == page)
    plain = (re.sub(r"<[^>]+>", "", f"{it['title']} {it['text']}") for it in found)
    return html.unescape(" ".join(" ".join(plain).split()))


@pytest.mark.parametrize("patch", PATCHES, ids=lambda it: it.id)
def test_a_patch_has_a_page(patch: patchkit.Patch, sections: list[dict[str, Any]]) -> None:
    page = text_of(sections, f"patches/{patch.id}/")
    for part in (*patch.messages, patch.title, f'exclude="{patch.id}"', *patch.affects.values()):
        assert " ".join(part.split()) in page or patch.opt_in, part
    for change in patch.changes:
        assert change.target in page
    for setting in patch.settings:
        assert setting.variable in page
    assert patch.id in text_of(sections, "patches/")


def test_the_page_of_a_patch_has_its_reasons(sections: list[dict[str, Any]]) -> None:
    page = text_of(sections, "patches/peft-exact-unmerge/")
    assert "Why it does that TRL merges whole models" in page
    assert "Why:" not in page
    assert "Why it does that" not in text_of(sections, "patches/trl-bema-half-precision/")


def test_every_patch_is_in_the_navigation(site: Path) -> None:
    home = (site / "index.html").read_text(encoding="utf-8")
    assert not [one.id for one in PATCHES if f'href="patches/{one.id}/"' not in home]


def test_the_error_page_has_every_message_and_every_patch(sections: list[dict[str, Any]]) -> None:
    page = text_of(sections, "errors/")
    assert not [message for message in MESSAGES if message not in page]
    assert not [patch.id for patch in PATCHES if patch.id not in page]


def test_the_reference_has_every_public_name(site: Path) -> None:
    page = (site / "api" / "index.html").read_text(encoding="utf-8")
    assert not [name for name in patchkit.__all__ if f'id="patchkit.{name}"' not in page]


class Loads(HTMLParser):
    """What a browser fetches for a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        # A canonical address, or the next page, is named and not fetched.
        if tag != "link" or (found.get("rel") or "") not in ("canonical", "next", "prev"):
            self.found.append(found.get(LOADS.get(tag, "")) or "")


def loaded_from_elsewhere(site: Path) -> Iterator[str]:
    for page in site.rglob("*.html"):
        reader = Loads()
        reader.feed(page.read_text(encoding="utf-8"))
        yield from (f"{page.name}: {one}" for one in reader.found if re.match(r"(\w+:)?//", one))
    for style in site.rglob("*.css"):
        found = re.findall(r"(?:url\(|@import\s*)[\"']?((?:\w+:)?//[^\"')]+)", style.read_text())
        yield from (f"{style.name}: {one}" for one in found)


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    assert not list(loaded_from_elsewhere(site))


def test_no_link_of_the_repository_is_left(site: Path) -> None:
    pages = {page: page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    assert not [str(page) for page, text in pages.items() if re.search(r'href="[^":]+\.md', text)]


@pytest.fixture(scope="module")
def answers(site: Path) -> dict[str, list[str]]:
    """Where the search of the site leads, by what was asked."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("the search is JavaScript, and node is not installed")
    (worker,) = site.glob("assets/javascripts/workers/search.*.min.js")
    program = Path(__file__).with_name("search.js")
    # What begins with each letter is asked for, too: words that the search confuses stop it.
    asked = [*PASTED, *MESSAGES, *FAMILIES, *OLD_SPELLINGS, *QUESTIONS, *ascii_lowercase, *digits]
    done = subprocess.run(
        [node, str(program), str(worker), str(site / "search" / "search_index.json")],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(zip(asked, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize("pasted", PASTED)
def test_a_pasted_error_leads_to_its_place(pasted: str, answers: dict[str, list[str]]) -> None:
    assert answers[pasted][:1], "nothing was found"
    assert answers[pasted][0].startswith(f"errors/{PASTED[pasted]}")


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_leads_to_the_error_page(message: str, answers: dict[str, list[str]]) -> None:
    assert answers[message][0].startswith("errors/#")


@pytest.mark.parametrize("family", FAMILIES)
def test_a_model_type_leads_to_its_row(family: str, answers: dict[str, list[str]]) -> None:
    assert any(place.startswith("families/#") for place in answers[family])


@pytest.mark.parametrize("error", OLD_SPELLINGS)
def test_an_old_spelling_leads_to_its_row(error: str, answers: dict[str, list[str]]) -> None:
    assert any(place.startswith("legacy/#") for place in answers[error])


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_leads_to_its_page(question: str, answers: dict[str, list[str]]) -> None:
    assert any(place.startswith(QUESTIONS[question]) for place in answers[question])


def test_the_releases_have_the_bugs_that_were_measured(site: Path) -> None:
    page = (site / "releases" / "index.html").read_text(encoding="utf-8")
    rows = dict(re.findall(r"(?s)<tr>\s*<td>(\w+ [\d.]+)</td>(.*?)</tr>", page))
    newest, _ = matrix_cells("trl")[-1]
    assert f"trl {newest}" in rows
    for version, bugs in matrix_cells("trl"):
        assert set(re.findall(r"patches/([\w-]+)/", rows[f"trl {version}"])) == bugs, version


def matrix_cells(library: str) -> list[tuple[str, set[str]]]:
    """Each release in the matrix, and the patches whose bug it has."""
    libraries = {patch.id: patch.library for patch in PATCHES}
    (grid,) = (
        grid
        for grid in grids_of_releases(matrix.shipped(), libraries, libraries)
        if grid.name == library
    )
    kinds = {"bug", "fails", "attention"}
    return [
        (version, {row.patch for row in grid.rows if row.cells[column].state.kind in kinds})
        for column, version in enumerate(grid.columns)
    ]


def test_signs_of_families_are_marked(site: Path) -> None:
    page = (site / "families" / "index.html").read_text(encoding="utf-8")
    style = next(site.glob("stylesheets/extra*.css")).read_text(encoding="utf-8")
    for name, sign in (("same", "="), ("fixed", "+"), ("explained", "~"), ("fails", "x")):
        cells = re.findall(rf'<td[^>]*class="sign {name}"><code>(.*?)</code></td>', page)
        assert len(cells) > 100
        assert set(cells) == {sign}
        assert name == "same" or f"td.{name} {{" in style
    assert re.search(r'<img[^>]*src="[^"]*families\.svg"', page)
