"""The commands of maintainers; each is a module, which imports what it needs when called."""

from __future__ import annotations

import click

from patchkit.cli.group import LazyGroup

COMMANDS = {
    "families": "families.command",
    "ranks": "ranks.command",
    "frameworks": "frameworks.command",
    "record": "record.record_command",
    "check": "record.check_command",
    "draw": "record.draw_command",
    "releases": "releases.command",
    "names": "releases.names",
    "parents": "releases.parents",
    "sets": "releases.sets",
    "anchors": "anchors.command",
    "messages": "messages.command:count",
    "behaviour": "behaviour.command",
    "upstream": "upstream.command",
}


@click.group(cls=LazyGroup, modules=COMMANDS, package=__package__)
def workbench() -> None:
    """Measure the patches, record the measurements, and check patchkit against them.

    There are also `eras`, `film`, `gpu`, `new-releases` and `reliability TOOL`; each has a --help.
    """
