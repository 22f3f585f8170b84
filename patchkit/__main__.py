"""`python -m patchkit`."""

from .cli import main

main(prog_name="patchkit")
