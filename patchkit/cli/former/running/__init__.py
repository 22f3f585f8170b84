"""The old path of `patchkit.cli.run`."""
