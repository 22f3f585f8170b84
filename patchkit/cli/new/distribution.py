"""Find the distribution that a package belongs to."""

from __future__ import annotations

from ...environment import installed_version
from ...errors import UsageError


def distribution_of(package: str) -> tuple[str, str]:
    """Return the distribution that a top-level package belongs to, and its version.

    Raises:
        UsageError: it belongs to none, so that a patch cannot name releases.
    """
    from importlib.metadata import packages_distributions

    # A package without a record of its distribution usually has its name.
    for name in [*packages_distributions().get(package, ()), package, package.replace("_", "-")]:
        version = installed_version(name)
        if version is not None:
            return name, version
    raise UsageError(
        f"--target: the package {package} belongs to no installed distribution, and a patch says "
        "which releases of one it is for"
    )
