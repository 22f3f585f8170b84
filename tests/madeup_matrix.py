"""A made-up matrix with something of everything, and how it is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from patchkit.matrix.records import Environment, Matrix, Result, Scan, Unmeasured
from patchkit.matrix.show.view import View, view_of

PATCHES = {"lib-cast": "lib", "lib-norm": "lib", "other-bias": "other", "lib-new": "lib"}
BASE = {"lib": "1.0.0", "torch": "2.0+cpu"}


@pytest.fixture
def patches() -> Mapping[str, str]:
    return PATCHES


@pytest.fixture
def ran() -> Callable[..., Result]:
    """A result of a patch, where these versions were beside or instead of the usual ones."""

    def make(patch: str, outcome: str, note: str = "", device: str = "cpu", **versions: str) -> Any:
        installed = {
            **BASE,
            **{name.replace("_", "-"): version for name, version in versions.items()},
        }
        where = Environment(installed, "3.11.7", "linux-x86_64", device, "2026-01-02")
        return Result(patch, outcome, where, note)

    return make


@pytest.fixture
def read() -> Callable[..., Scan]:
    """A scan of a release of `lib`."""

    def make(version: str, library: str = "lib", **given: Any) -> Scan:
        return Scan(library, version, "2026-01-03", **given)

    return make


@pytest.fixture
def matrix(ran, read) -> Matrix:
    return Matrix(
        (
            ran("lib-cast", "fixed", lib="1.0.0"),
            ran("lib-cast", "not-fixed", "ImportError: no lib.kernels", lib="1.1.0"),
            ran("lib-cast", "not-reproduced", lib="2.0.0"),
            ran("lib-norm", "absent", lib="1.0.0"),
            ran("lib-norm", "error", "OSError: no kernel", lib="2.0.0"),
            ran("other-bias", "needs-cuda", lib="1.0.0", other="0.5"),
            ran("lib-gone", "fixed", lib="1.0.0"),
        ),
        (
            read("1.0.0", states={"lib-cast": "matches", "lib-norm": "absent"}),
            read("1.0.1", states={"lib-cast": "matches", "lib-norm": "absent"}),
            read("1.1.0", states={"lib-cast": "matches", "lib-norm": "absent"}),
            read("1.10.0", states={"lib-cast": "drifted", "lib-norm": "no-anchor"}),
            read("1.2.0", problem="yanked"),
        ),
        (Unmeasured("9", {"lib": "9.0.0"}, "2026-01-04", "no such release"),),
    )


@pytest.fixture
def shown(patches) -> Callable[..., View]:
    """The view of a matrix."""

    def show(matrix: Matrix, *, by: str = "release", libraries: tuple[str, ...] = ()) -> View:
        chosen = dict.fromkeys([*patches, *sorted(result.patch for result in matrix.results)])
        return view_of(matrix, patches, chosen, libraries, by=by)

    return show
