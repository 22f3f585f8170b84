"""A measured set of versions as a file of constraints, with the patches due in float16."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from ...catalogue.entries import Entry
from ...catalogue.explanation import explain
from ...environment import in_range
from ...errors import UsageError
from ...patch import Patch
from ...text import short_list
from .measured import MeasuredSet

_SHOWN = 6
"""Scripts that are named."""
_HALF = re.compile(r"\bfp16\b|\bfloat16\b|GradScaler|half precision")
"""Found in the description of a patch whose bug shows where training is in float16."""


def due_in_float16(catalogue: Iterable[Entry], versions: Mapping[str, str]) -> Iterator[Patch]:
    """Yield the patches that a training in float16 needs with a set of versions."""
    for patch, entry in ((entry.patch, entry) for entry in catalogue):
        affected = (
            library in versions and in_range(versions[library], releases)
            for library, releases in patch.affects.items()
        )
        if not patch.opt_in and all(affected):
            known = explain(entry)
            words = (known.headline, known.bug, known.title, *known.messages)
            if any(map(_HALF.search, words)):
                yield patch


def check_is_new(file: Path) -> None:
    """Raise UsageError if there is such a file."""
    if file.is_file():
        raise UsageError(f"--constraints {file} exists; name another file, or delete it first")


def content(chosen: MeasuredSet, scripts: Sequence[str], patches: Iterable[Patch] | None) -> str:
    """Return the text of a file.

    Args:
        chosen: the set.
        scripts: what it was chosen for.
        patches: without bfloat16, the patches that are due with these versions; None if there is
            bfloat16, or nobody knows.
    """
    named = short_list(scripts, shown=_SHOWN)
    lines = [f"# Versions that were run together, and have all that is named in {named}."]
    if chosen.torch:
        lines.append(
            f"# Measured with torch=={chosen.torch}; which build of torch fits is for you to say."
        )
    if patches is not None:
        lines.append(
            "# Without bfloat16: train with fp16=True, bf16=False, and load quantized models with"
        )
        lines.append("# bnb_4bit_compute_dtype=torch.float16. Patches that are then due:")
        lines += [f"#   {patch.id}: {patch.title}" for patch in patches] or ["#   none"]
    lines += [f"{name}=={version}" for name, version in chosen.versions.items()]
    return "\n".join(lines) + "\n"


def write(file: Path, text: str) -> None:
    """Write a new file, whole or not at all.

    Raises:
        UsageError: the file exists, or cannot be written.
    """
    check_is_new(file)
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except OSError as error:
        if not isinstance(error, FileExistsError):
            file.unlink(missing_ok=True)
        raise UsageError(f"--constraints {file} cannot be written: {error.strerror}") from error
