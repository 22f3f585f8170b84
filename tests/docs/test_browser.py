"""The scripts of the site in a browser: from files, without a network."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from pathlib import Path

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
TYPE = """<script>addEventListener("load", () => {{
  const box = document.querySelector({box!r});
  box.value = {text!r};
  box.dispatchEvent(new Event("input"));
  for (const table of document.querySelectorAll("[hidden]")) table.remove();
}});</script>"""


def typed(site: Path, page: str, box: str, text: str) -> str:
    """Return what a reader sees of a page after typing into a box of it."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("needs Chromium")
    folder = site / page
    content = (folder / "index.html").read_text(encoding="utf-8")
    copy = folder / "typed.html"
    copy.write_text(content + TYPE.format(box=box, text=text), encoding="utf-8")
    done = subprocess.run(
        [
            *(browser, "--headless", "--no-sandbox", "--disable-gpu"),
            *("--proxy-server=127.0.0.1:9", f"--user-data-dir={site.parent / 'browser'}"),
            *("--virtual-time-budget=3000", "--dump-dom", copy.as_uri()),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    copy.unlink()
    shown = re.sub(r"(?s)<(script|noscript|nav).*?</\1>", "", done.stdout)
    _, _, article = shown.partition("<article")
    return html.unescape(re.sub(r"<[^>]+>", " ", article))


def test_a_pasted_error_is_answered(site: Path) -> None:
    error = "TypeError: SFTTrainer.__init__() got an unexpected keyword argument 'tokenizer'"
    page = typed(site, "my-error", "#pasted", error)
    assert "Traceback, or its last lines" in page
    assert "Write processing_class=" in page
    assert "Bugs that patchkit fixes" not in page
    page = typed(site, "my-error", "#pasted", "ValueError: Attempting to unscale FP16 gradients.")
    assert "accelerate-gradscaler-guard" in page
    assert "Nothing here knows" in typed(site, "my-error", "#pasted", "KeyError: 'nothing of it'")


@pytest.mark.parametrize(
    ("page", "text", "kept", "hidden"),
    [
        ("families", "gemma3n", "gemma3n_text", "Sequence-to-sequence models"),
        ("releases", "TRL 0.28.0", "trl-adapter-bf16-cast", "peft 0.21.2"),
        ("legacy", "evaluation_strategy", "write eval_strategy=", "Gone since PEFT 0.19.0"),
    ],
)
def test_a_filter(site: Path, page: str, text: str, kept: str, hidden: str) -> None:
    found = typed(site, page, ".filter input", text)
    assert re.search(r"\d+ of \d+ rows", found)
    assert kept in found
    assert hidden not in found
