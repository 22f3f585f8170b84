"""Write the files of a new patch, both or none, and say what is left to do."""

from __future__ import annotations

import contextlib
import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UsageError
from .drafting import Draft, draft
from .layout import Layout, check_id_is_free, check_nothing_is_there, layout
from .patch_file import patch_file
from .subject import find as find_subject
from .test_file import test_file


@dataclass(frozen=True)
class Begun:
    """What was written, and about what.

    Args:
        draft: the patch.
        layout: its files.
    """

    draft: Draft
    layout: Layout

    @property
    def next_steps(self) -> list[str]:
        """The commands that say how far the patch is."""
        folder = self.layout.folder
        told = "" if folder is None else f" --patches {shlex.quote(_shown(folder))}"
        return [
            f"patchkit diff {self.draft.id}{told}",
            f"patchkit verify {self.draft.id}{told}",
            f"pytest {shlex.quote(_shown(self.layout.test))}",
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
            },
            "next": self.next_steps,
        }

    def __str__(self) -> str:
        site = self.draft.site
        yours = "mended()" if site else "around()"
        lines = [f"wrote {_shown(file)}" for file in self.layout.files]
        if site:
            times = "" if site.sites == 1 else f", which stands {site.sites} times: all are edited"
            lines += ["", f"The site, {self.draft.where}{times}:", f"  {site.pattern}"]
        steps = [
            f"write {yours} and reproduce() in {_shown(self.layout.patch)}",
            *self.next_steps,
        ]
        lines += ["", "Next:", *(f"  {number}. {one}" for number, one in enumerate(steps, 1))]
        return "\n".join(lines)


def begin(
    patch_id: str,
    target: str,
    *,
    line: int | None = None,
    find: str | None = None,
    wrap: bool = False,
    folder: Path,
) -> Begun:
    """Begin a patch.

    Args:
        patch_id: its id.
        target: the function that has the bug, `package.module:Class.method`.
        line: the line of its file that is wrong.
        find: the code in it that is wrong.
        wrap: whether to wrap the function.
        folder: where the patch goes; made where it is not there.

    Raises:
        NoSiteChosen: neither line nor code is given, and nothing is wrapped.
        UsageError: an argument makes no sense, the id is taken, or a file is there already.
    """
    from ..session import SESSION

    subject = find_subject(target)
    places = layout(patch_id, subject.library, folder)
    check_id_is_free(patch_id, SESSION.catalogue, folder)
    check_nothing_is_there(places)
    begun = Begun(
        draft(patch_id, subject, line=line, find=find, wrap=wrap),
        places,
    )
    texts = {
        places.patch: patch_file(begun.draft),
        places.test: test_file(begun.draft, in_checkout=places.folder is None),
    }
    if places.package:
        texts = {places.package: f'"""Bugs of {subject.library}."""\n', **texts}
    _write(texts)
    return begun


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


def _shown(path: Path) -> str:
    """A path as one would type it here."""
    with contextlib.suppress(ValueError):
        return str(path.resolve().relative_to(Path.cwd().resolve()))
    return os.fspath(path)
