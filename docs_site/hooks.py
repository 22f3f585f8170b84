"""Hooks for MkDocs: they add generated pages to the site, and translate links."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import error_page
import known_page
import legacy_page
import my_error_page
import release_page
import signs
import table_filter
from links import site_links
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url
from patch_index import by_library, index_page
from patch_page import patch_page

from patchkit.catalogue.definitions import shipped_definitions
from patchkit.catalogue.entries import Catalogue
from patchkit.matrix import lookup as matrix

REPOSITORY = Path(__file__).resolve().parent.parent
ELSEWHERE = {"changelog.md": "CHANGELOG.md", "benchmarks.md": "benchmarks/README.md"}
"""Pages whose files are outside of docs/: address on the site to file."""
PATCHES = "Patches"
"""The section of the navigation that lists a page for each patch."""

CATALOGUE = Catalogue({}).with_definitions(shipped_definitions())


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the patches into the navigation; stop if one of them cannot be read."""
    if CATALOGUE.broken:
        raise SystemExit("\n".join(f"{entry.name}: {entry.error}" for entry in CATALOGUE.broken))
    nav: list[dict[str, Any]] = config.nav or []
    (section,) = (section for section in nav if PATCHES in section)
    section[PATCHES] += [
        {library: [{patch.id: f"patches/{patch.id}.md"} for patch in patches]}
        for library, patches in by_library(CATALOGUE).items()
    ]
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add a page for each patch, their index, and the pages outside of docs/."""
    measured = matrix.shipped()
    pages = {f"patches/{entry.patch.id}.md": patch_page(entry, measured) for entry in CATALOGUE}
    pages["patches/index.md"] = index_page(CATALOGUE)
    pages[known_page.PAGE] = known_page.known_page()
    for page, place in ELSEWHERE.items():
        pages[page] = REPOSITORY.joinpath(place).read_text(encoding="utf-8")
    for page, text in pages.items():
        files.append(File.generated(config, page, content=text))
    addresses = {file.src_uri: file.dest_uri for file in files.documentation_pages()}
    answers = my_error_page.data(CATALOGUE, Path(config.docs_dir), addresses, _titles(config.nav))
    files.append(File.generated(config, my_error_page.DATA, content=answers))
    return files


def _titles(nav: Any) -> dict[str, str]:
    """Return the pages of a navigation with their titles there."""
    found: dict[str, str] = {}
    for entry in nav or []:
        for title, below in entry.items() if isinstance(entry, dict) else ():
            found |= {below: title} if isinstance(below, str) else _titles(below)
    return found


def on_page_markdown(text: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Fill in what is generated, and turn links between files into links of the site."""
    place = page.file.src_uri
    if place == "errors.md":
        text = error_page.fill_in(text, CATALOGUE)
    elif place == "families.md":
        text = table_filter.before_first_section(text, "Model type, such as gemma3n")
    elif place == "legacy.md":
        text = legacy_page.fill_in(text)
    elif place == "releases.md":
        text = release_page.fill_in(text, CATALOGUE, matrix.shipped())
    elif place == my_error_page.PAGE:
        text = my_error_page.fill_in(text, f"{get_relative_url('.', page.url)}/")
    return site_links(text, ELSEWHERE.get(place, f"docs/{place}"), ELSEWHERE, REPOSITORY)


def on_page_content(content: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Mark the signs of the tables of families."""
    return signs.marked(content) if page.file.src_uri == "families.md" else content
