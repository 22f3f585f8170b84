"""Write the files of a new patch, both or none, and list what is left to do."""

from __future__ import annotations

import contextlib
import os
import shlex
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...errors import UsageError
from ...text import short_list
from .drafting import Draft, draft
from .layout import Layout, check_id_is_free, layout
from .subject import find as find_subject
from .texts import patch_file, test_file


@dataclass(frozen=True)
class NewPatch:
    """The new patch and its files."""

    draft: Draft
    layout: Layout

    @property
    def next_steps(self) -> list[str]:
        """The commands that check the patch."""
        folder = self.layout.folder
        option = "" if folder is None else f" --patches {shlex.quote(_typed_path(folder))}"
        needed = [] if find_spec("pytest") else ["pip install pytest"]
        return [
            f"patchkit diff {self.draft.id}{option}",
            f"patchkit verify {self.draft.id}{option}",
            *needed,
            f"pytest {shlex.quote(_typed_path(self.layout.test))}",
        ]

    def to_dict(self) -> dict[str, Any]:
        site = self.draft.site
        return {
            "schema": 1,
            "id": self.draft.id,
            "target": str(self.draft.target),
            "affects": {self.draft.library: f">={self.draft.since}"},
            "files": [str(file) for file in self.layout.files],
            "site": site
            and {
                "line": site.line,
                "pattern": site.pattern,
                "sites": site.sites,
                "names": list(site.names),
                "literal": list(site.literal),
            },
            "next": self.next_steps,
        }

    def __str__(self) -> str:
        site = self.draft.site
        function = "fixed()" if site else "around()"
        lines = [f"wrote {_typed_path(file)}" for file in self.layout.files]
        if site:
            times = "" if site.sites == 1 else f", which occurs {site.sites} times: all are edited"
            lines += ["", f"The site, {self.draft.where}{times}:", f"  {site.pattern}"]
        if site and site.literal:
            letters = short_list(site.literal, len(site.literal))
            lines.append(
                f"{letters} stands for itself there: a capital letter that is not in literal= is a "
                "hole, and matches any expression."
            )
        steps = [
            f"write {function} and reproduce() in {_typed_path(self.layout.patch)}",
            *self.next_steps,
        ]
        lines += ["", "Next:", *(f"  {number}. {step}" for number, step in enumerate(steps, 1))]
        return "\n".join(lines)


def begin(
    patch_id: str,
    target: str,
    *,
    line: int | None = None,
    find: str | None = None,
    wrap: bool = False,
    folder: Path,
) -> NewPatch:
    """Write the files of a new patch.

    Raises:
        NoSiteChosen: neither line nor code is given, and `wrap` is false.
        UsageError: an argument is invalid, the id is taken, or a file is there already.
    """
    from ...engine.session import SESSION

    subject = find_subject(target)
    places = layout(patch_id, subject.library, folder)
    check_id_is_free(patch_id, SESSION.catalogue, folder)
    for file in places.files:
        if file.exists():
            raise UsageError(f"{file} is there already; nothing was written")
    new = NewPatch(draft(patch_id, subject, line=line, find=find, wrap=wrap), places)
    texts = {
        places.patch: patch_file(new.draft),
        places.test: test_file(new.draft, in_checkout=places.folder is None),
    }
    if places.package:
        texts = {places.package: f'"""Bugs of {subject.library}."""\n', **texts}
    _write(texts)
    return new


def _write(texts: dict[Path, str]) -> None:
    written: list[Path] = []
    try:
        for file, text in texts.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("x", encoding="utf-8") as stream:
                written.append(file)
                stream.write(text)
    except OSError as error:
        for file in written:
            with contextlib.suppress(OSError):
                file.unlink()
        raise UsageError(f"cannot write {error.filename}: {error.strerror}") from error


def _typed_path(path: Path) -> str:
    """Return a path as a user would type it here."""
    with contextlib.suppress(ValueError):
        return str(path.resolve().relative_to(Path.cwd().resolve()))
    return os.fspath(path)
