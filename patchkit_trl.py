"""Start patchkit's command line, or say that another project has taken the package's place.

The project `patchkit` of the package index has a package `patchkit`, too. Installed over this one
it overwrites `patchkit/__init__.py`, and elsewhere on `sys.path` it may come first. This module has
a name of its own, so that it can tell.
"""

from __future__ import annotations

import sys

DISTRIBUTION = "patchkit-trl"


def intruder() -> str:
    """Return the file that is imported as `patchkit` and is not ours; empty if ours is."""
    try:
        import patchkit
    except ImportError as error:
        return str(error)
    about = getattr(patchkit, "about", None)  # ours imports it
    if getattr(about, "DISTRIBUTION", "") == DISTRIBUTION:
        return ""
    return str(getattr(patchkit, "__file__", None) or patchkit)


def main() -> None:
    if file := intruder():
        sys.exit(
            f"Error: {file} is not a file of {DISTRIBUTION}: the project `patchkit` of the package "
            f"index is installed over it, or before it. Do `pip uninstall -y patchkit`, then "
            f"install {DISTRIBUTION} again with --force-reinstall"
        )
    from patchkit.cli import main as command_line

    command_line(prog_name="patchkit")


if __name__ == "__main__":
    main()
