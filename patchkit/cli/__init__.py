"""The command line; each command is a module, and imports what it needs when it is called."""

from __future__ import annotations

import click

from .. import __version__
from .group import LazyGroup

COMMANDS = {"demo": "demo", "report": "report", "verify": "verify", "matrix": "matrix"}


@click.group(
    cls=LazyGroup, commands_in=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, prog_name="patchkit")
def main() -> None:
    """Mend the precision bugs of TRL, PEFT, Transformers, Accelerate and bitsandbytes."""
