"""The old path of `patchkit.cli.run.interpreter`, which another installation's `run` imports."""

from patchkit.cli.run.interpreter import start

__all__ = ["start"]
