"""All commands; each is a module, which imports what it needs when called."""

from __future__ import annotations

import click

from ..about import __version__
from .group import LazyGroup

COMMANDS = {
    "doctor": "doctor.command:doctor",
    "list": "list_patches:list_patches",
    "report": "report",
    "explain": "explain",
    "diff": "diff",
    "run": "run.command:run",
    "modernize": "modernize",
    "demo": "demo.command:demo",
    "verify": "verify",
    "matrix": "matrix",
    "legacy": "legacy",
    "new": "new.command:new",
    "cache": "cache",
    "completion": "completion",
}
SECTIONS = {
    "What is wrong here": ("doctor", "list", "report", "explain"),
    "What is done about it": ("diff", "run", "modernize", "demo"),
    "Does it hold": ("verify", "matrix", "legacy"),
    "More": ("new", "cache", "completion"),
}
_EPILOG = """\
\b
Exit statuses:
  0    all is well
  1    the command found trouble; its own help says which
  2    of verify: a bug expected on these versions does not show
  3    of matrix scan: something could not be scanned
  64   the command line makes no sense
  69   of diff and verify: the libraries are not installed
  74   the disk is full
  130  interrupted by Ctrl-C
  141  nobody reads the output any more
`run` passes on the exit status of its command, and has 78, 126 and 127 too."""


@click.group(
    cls=LazyGroup,
    modules=COMMANDS,
    sections=SECTIONS,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="patchkit")
def main() -> None:
    """Fix the precision bugs of TRL, PEFT, Transformers, Accelerate and bitsandbytes.

    \b
    Examples:
      patchkit doctor                              what is wrong here
      patchkit list --due                          what would be fixed
      patchkit diff                                and how
      patchkit run -- accelerate launch train.py   fix it, in that training only
      patchkit explain "Attempting to unscale FP16 gradients."
    """
