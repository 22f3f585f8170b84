"""Choose the files of a new patch and its test."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

from ...about import PACKAGE
from ...catalogue.definitions import shipped_package
from ...catalogue.entries import Catalogue
from ...catalogue.folders import definitions_in
from ...errors import UsageError
from ...patch import is_id


@dataclass(frozen=True)
class Layout:
    """The files of a new patch.

    Args:
        patch: the file that defines it.
        test: its test.
        package: the `__init__.py` that the patch's folder still lacks, or None.
        folder: the folder that commands take as an option; None in a checkout of patchkit,
            whose folder is the catalogue.
    """

    patch: Path
    test: Path
    package: Path | None
    folder: Path | None

    @property
    def files(self) -> list[Path]:
        return [*([self.package] if self.package else []), self.patch, self.test]


def layout(patch_id: str, library: str, folder: Path) -> Layout:
    """Return the files: beside each other, or as in a checkout of patchkit.

    Raises:
        UsageError: the id is invalid, or not one for the catalogue.
    """
    if not is_id(patch_id):
        raise UsageError(f"an id is lower-case words joined by hyphens, not {patch_id!r}")
    words = patch_id.replace("-", "_")
    if words.startswith(("test_", "conftest")):
        raise UsageError(f"the file of a patch {patch_id!r} would be taken for a test")
    in_checkout = _checkout_layout(patch_id, library, folder) if _is_catalogue(folder) else None
    test = folder / "tests" / f"test_{words}.py"
    return in_checkout or Layout(folder / f"{words}.py", test, None, folder)


def check_id_is_free(patch_id: str, catalogue: Catalogue, folder: Path) -> None:
    """Raise UsageError if a patch in the catalogue or the folder has the id."""
    if folder.is_dir() and any(folder.glob("**/*.py")):
        with contextlib.suppress(UsageError):  # helpers only
            catalogue = catalogue.with_definitions(definitions_in([folder.resolve()]))
    if entry := catalogue.entries.get(patch_id):
        raise UsageError(f"there is a patch {patch_id!r} already: {entry.place}")


def _is_catalogue(folder: Path) -> bool:
    """Tell whether this is the folder `patches` of the checkout that runs."""
    beside_the_engine = Path(PACKAGE).resolve().parent / "patches"
    return folder.resolve() == beside_the_engine == Path(shipped_package().__path__[0]).resolve()


def _checkout_layout(patch_id: str, library: str, folder: Path) -> Layout:
    if not patch_id.startswith(f"{library}-"):
        raise UsageError(f"in the catalogue an id begins with its library: '{library}-…'")
    package, name = library.replace("-", "_"), patch_id.removeprefix(f"{library}-")
    init = folder / package / "__init__.py"
    words = name.replace("-", "_")
    return Layout(
        folder / package / f"{words}.py",
        folder.parent / "tests" / "patches" / package / f"test_{words}.py",
        None if init.exists() else init,
        None,
    )
