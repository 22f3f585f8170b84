"""What the wheel holds beside the package, and what its metadata say of the repository."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

MATRIX = "compat_matrix.yaml"
REPOSITORY = "PATCHKIT_REPOSITORY"
"""Variable with the address of the repository, which the release workflow knows."""
_RELATIVE_LINK = re.compile(r"(?P<picture>!?)(?P<text>\[[^\]]*\]\()(?!https?:|#)(?P<path>[^)\s]+)")


class MatrixHook(BuildHookInterface[Any]):
    """Puts the compatibility matrix into the wheel, where there is one.

    It is measured with a built wheel: without it there must be one, too.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        matrix = Path(self.root, MATRIX)
        if version == "standard" and matrix.exists():
            build_data["force_include"][str(matrix)] = f"patchkit/{MATRIX}"


class RepositoryHook(MetadataHookInterface):
    """Names the repository in the metadata, and links from the README into it.

    Without the variable the README stays as it is, and there are no links.
    """

    def update(self, metadata: dict[str, Any]) -> None:
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        address = os.environ.get(REPOSITORY, "").rstrip("/")
        metadata["urls"] = {}
        if address:
            metadata["urls"] = {
                "Source": address,
                "Documentation": f"{address}/tree/HEAD/docs",
                "Changelog": f"{address}/blob/HEAD/CHANGELOG.md",
                "Issues": f"{address}/issues",
            }
            text = _RELATIVE_LINK.sub(lambda link: _absolute(link, address), text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def _absolute(link: re.Match[str], address: str) -> str:
    view = "raw" if link["picture"] else "blob"
    return f"{link['picture']}{link['text']}{address}/{view}/HEAD/{link['path']}"
