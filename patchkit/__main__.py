"""`python -m patchkit`."""

from .children import leave_working_directory_out

leave_working_directory_out()

from .cli import main  # noqa: E402

main(prog_name="patchkit")
